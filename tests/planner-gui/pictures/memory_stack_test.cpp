#include "planner-gui/pictures/memory_stack.h"

#include <QStringList>

#include "tests/catch.h"
#include "tests/planner-gui/predicted.h"

namespace sluice {

TEST_CASE("stacks add up to the peaks of the report", "[pictures]") {
    const auto report = test::predicted("qwen2.5-14b", "h200-sxm-pcie5-1.5tb", test::batch_of(32));
    const std::vector<MemoryStack> stacks = memory_stacks(*report);
    REQUIRE(stacks.size() == 2);
    CHECK(stacks[0].name == "device");
    CHECK(stacks[0].used == report->plan.fit.device().peak.bytes);
    CHECK(stacks[1].used == report->plan.fit.host().peak.bytes);
    for (const MemoryStack& stack : stacks) {
        Bytes at = 0;
        for (const MemorySegment& segment : stack.segments) {
            CHECK(segment.from == at);
            CHECK(segment.bytes > 0);
            at += segment.bytes;
        }
        CHECK(at == stack.used);
        CHECK(stack.shortage() == 0);
    }
    // The fullest moment of the host is loading.
    CHECK(stacks[1].segments.back().name == "more at loading");
    CHECK(stacks[0].words(ByteUnits::decimal) == "24.8 GB of 149.9 GB");
}

TEST_CASE("what does not fit is short by what the report says", "[pictures]") {
    const auto report =
        test::predicted("qwen2.5-72b", "h200-pcie5-16vcpu-128gib", test::batch_of(256, 2048));
    REQUIRE_FALSE(report->plan.fit.fits());
    const std::vector<MemoryStack> stacks = memory_stacks(*report);
    CHECK(stacks[0].shortage() == report->plan.fit.device().shortfall());
    CHECK(stacks[1].shortage() == report->plan.fit.host().shortfall());
    CHECK_THAT(stacks[0].words(ByteUnits::decimal), ContainsSubstring(", short "));
}

TEST_CASE("unified memory is one stack, storage one of its own", "[pictures]") {
    TimedPlan report;
    report.plan.unified_memory = true;
    report.plan.device_context = 5;
    report.plan.fit.device().peak.bytes = 30;
    report.plan.fit.host().peak = {100, 0, {}};
    report.plan.fit.host().peak.by_kind[0] = 95;
    report.plan.fit.host().usable = 200;
    report.plan.fit.storage().peak.bytes = 7;
    report.plan.fit.storage().peak.by_kind[6] = 7;
    report.plan.fit.storage().usable = 7;
    const std::vector<MemoryStack> stacks = memory_stacks(report);
    REQUIRE(stacks.size() == 2);
    CHECK(stacks[0].name == "device and host");
    CHECK(stacks[0].segments.back().name == "CUDA context");
    CHECK(stacks[0].segments.back().bytes == 5);
    CHECK(stacks[1].name == "storage");
}

TEST_CASE("host bars are the report's moments", "[pictures]") {
    const auto report = test::predicted("qwen2.5-7b", "h200-sxm-pcie5-1.5tb", test::batch_of(8));
    const std::vector<HostMoment> bars = host_bars(*report);
    REQUIRE(bars.size() == report->plan.memory.host_moments.size() + 1);
    CHECK(bars[0].name == "loading");
    CHECK(bars[0].bytes == report->plan.memory.host_moments[0].bytes);
    CHECK(bars.back().bytes == report->plan.memory.host_between_steps);
}

TEST_CASE("columns of a curve lose no peak", "[pictures]") {
    std::vector<MemoryMoment> moments;
    for (int i = 0; i < 1000; ++i) moments.push_back({i * 0.01, i == 537 ? 5000 : 100 + i % 7, {}});
    const std::vector<MemoryMoment> few = curve_columns(moments, 10, 8);
    REQUIRE(few.size() == 8);
    CHECK(most_memory(few).bytes == 5000);
    CHECK(few[4].bytes == 5000);  // 5 to 6.25 s
    CHECK(few[3].bytes == 106);
    const std::vector<MemoryMoment> many = curve_columns(moments, 10, 4000);
    CHECK(most_memory(many).bytes == 5000);
    CHECK(moment_at(moments, 5.375).bytes == 5000);
    CHECK(moment_at(moments, 5.385).bytes != 5000);
    CHECK(moment_at(moments, 0).bytes == 100);
}

TEST_CASE("the table of memory says what the picture shows", "[pictures]") {
    const auto report = test::predicted("qwen2.5-7b", "h200-sxm-pcie5-1.5tb", test::batch_of(8));
    const QString csv = QString::fromStdString(to_csv(memory_table(*report)));
    CHECK(csv.startsWith(QStringLiteral("memory,when,kind,bytes\n")));
    CHECK(csv.contains(
        QStringLiteral("device,peak,all,%1\n").arg(report->plan.fit.device().peak.bytes)));
    CHECK(
        csv.contains(QStringLiteral("device,,usable,%1\n").arg(report->plan.fit.device().usable)));
    CHECK(csv.contains(
        QStringLiteral("host,between steps,all,%1\n").arg(report->plan.memory.host_between_steps)));
    for (const QString& line : csv.trimmed().split(QLatin1Char('\n')))
        CHECK(line.count(QLatin1Char(',')) == 3);
}

}  // namespace sluice
