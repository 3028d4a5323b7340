#include "sim/report/timeline.h"

#include <QStringList>

#include "planner-gui/pictures/byte_units.h"
#include "sim/report/operation_facts.h"
#include "sim/report/picture.h"
#include "sim/report/timeline_picture.h"
#include "tests/catch.h"
#include "tests/planner-gui/predicted.h"
#include "tests/sim/report/one_layer_report.h"

namespace sluice {
namespace {

std::shared_ptr<const TimedPlan> one_layer() {
    return std::make_shared<const TimedPlan>(one_layer_report());
}

/// The same step, `factor` times slower.
std::shared_ptr<const TimedPlan> slower(double factor) {
    TimedPlan report = one_layer_report();
    report.step.measured.emplace();
    report.step.seconds *= factor;
    for (OperationInterval& interval : report.step.intervals) {
        interval.start *= factor;
        interval.end *= factor;
    }
    report.step.lanes = lane_times(report.plan.program, report.step.intervals, report.step.seconds);
    return std::make_shared<const TimedPlan>(std::move(report));
}

std::string value(const Facts& facts, const std::string& name) {
    for (const Fact& fact : facts.facts)
        if (fact.name == name) return fact.value;
    return {};
}

}  // namespace

TEST_CASE("a row a lane, with what reaches in from the steps before and after", "[pictures]") {
    const Timeline timeline(one_layer());
    REQUIRE(timeline.rows().size() == 3);
    CHECK(timeline.length() == 1);
    CHECK(timeline.rows()[0].lane.work == Work::host_to_device);
    // The copy starts 0.2 s before the step: the next step's shows at the end.
    REQUIRE(timeline.rows()[0].blocks.size() == 1);
    CHECK(timeline.rows()[0].blocks[0].start == Approx(0.8));
    CHECK(timeline.rows()[0].blocks[0].end == Approx(1));
    // The update ends 0.3 s after it: at both ends.
    REQUIRE(timeline.rows()[2].blocks.size() == 2);
    CHECK(timeline.rows()[2].blocks[0].end == Approx(0.3));
    CHECK(timeline.rows()[2].blocks[1].start == Approx(0.8));
}

TEST_CASE("waits lie on the lane compute, and on the lane that is waited for", "[pictures]") {
    const Timeline timeline(one_layer());
    const TimelineRow& compute = timeline.rows()[1];
    REQUIRE(compute.waits.size() == 2);
    CHECK(compute.waits[0].start == Approx(0.25));
    CHECK(compute.waits[0].end == Approx(0.3));
    CHECK(compute.waits[0].cause == 3);
    CHECK(compute.waits[0].waiting == 2);
    CHECK(compute.waits[1].cause == 0);
    for (const TimelineRow& row : timeline.rows()) {
        if (row.lane.work == Work::compute) continue;
        Seconds sum = 0;
        for (const WaitBlock& wait : row.waits) sum += wait.end - wait.start;
        CHECK(sum == Approx(row.time().exposed));
    }
    CHECK(timeline.wait_at(1, 0.27)->cause == 3);
    CHECK_FALSE(timeline.wait_at(1, 0.1));
}

TEST_CASE("a point hits the operation there, or one that is near", "[pictures]") {
    const Timeline timeline(one_layer());
    CHECK(timeline.operation(*timeline.hit(1, 0.1, 0)) == 1);
    CHECK(timeline.operation(*timeline.hit(1, 0.5, 0)) == 2);
    CHECK_FALSE(timeline.hit(1, 0.27, 0.01));
    CHECK(timeline.operation(*timeline.hit(1, 0.26, 0.02)) == 1);
    CHECK(timeline.operation(*timeline.hit(1, 0.29, 0.02)) == 2);
    CHECK_FALSE(timeline.hit(0, 0.4, 0.1));
    CHECK_FALSE(timeline.hit(7, 0.4, 0.1));
}

TEST_CASE("operations before, after and on other lanes", "[pictures]") {
    const Timeline timeline(one_layer());
    const TimelinePlace forward{1, 0}, backward{1, 1};
    CHECK(timeline.beside(forward, 1) == backward);
    CHECK(timeline.beside(backward, 1) == backward);
    CHECK(timeline.beside(backward, -5) == forward);
    CHECK(timeline.below(forward, 1) == TimelinePlace{2, 0});
    CHECK(timeline.below(forward, -1) == TimelinePlace{0, 0});
    CHECK(timeline.below(TimelinePlace{2, 1}, 1) == TimelinePlace{2, 1});
}

TEST_CASE("a measured step lies under the predicted one, lane by lane", "[pictures]") {
    const Timeline timeline(one_layer(), slower(1.5));
    REQUIRE(timeline.rows().size() == 6);
    CHECK(timeline.length() == Approx(1.5));
    for (std::size_t i = 0; i < 6; ++i) CHECK(timeline.rows()[i].measured_below == (i % 2 == 1));
    CHECK(timeline.rows()[2].lane.work == Work::compute);
    CHECK(timeline.rows()[3].lane.work == Work::compute);
    // Both from the first compute operation on.
    CHECK(timeline.rows()[2].blocks[0].start == 0);
    CHECK(timeline.rows()[3].blocks[0].start == 0);
    CHECK(timeline.rows()[3].blocks[0].end == Approx(0.375));
}

TEST_CASE("a report without times gives no rows", "[pictures]") {
    CHECK(Timeline().empty());
    CHECK(Timeline(nullptr, nullptr).empty());
    CHECK(Timeline(std::make_shared<const TimedPlan>()).empty());
}

TEST_CASE("steps of different plans are told apart", "[pictures]") {
    const TimedPlan one = one_layer_report();
    TimedPlan other = one;
    CHECK(plan_difference(one, other).empty());
    other.asked.training.batch = 5;
    CHECK(plan_difference(one, other).find("batch 5 x 1000") != std::string::npos);
    other = one;
    other.plan.program.operations[1].layer = 7;
    CHECK(plan_difference(one, other).find("Operation 2") != std::string::npos);
    other.plan.program.operations.pop_back();
    CHECK(plan_difference(one, other).find("has 3 operations, the predicted one 4") !=
          std::string::npos);
}

TEST_CASE("what is too short for a pixel is drawn together, however many", "[pictures]") {
    TrainingSpec training = test::batch_of(64);
    training.micro_batch = 4;
    const auto report =
        test::predicted("dense:layers=120,hidden=1024", "h200-sxm-pcie5-1.5tb", training);
    const Timeline timeline(report);
    for (std::size_t row = 0; row < timeline.rows().size(); ++row) {
        const std::vector<Block>& all = timeline.rows()[row].blocks;
        constexpr int kPixels = 100;
        const Seconds pixel = report->step.seconds / kPixels;
        const std::vector<Block> shown = timeline.visible(row, 0, report->step.seconds, pixel);
        CHECK(shown.size() <= 3 * kPixels);
        Seconds busy = 0, busy_shown = 0;
        std::int64_t count = 0;
        for (const Block& block : all) busy += block.busy;
        for (const Block& block : shown) {
            busy_shown += block.busy;
            count += block.count;
        }
        CHECK(busy_shown == Approx(busy));
        CHECK(count == static_cast<std::int64_t>(all.size()));
        // Near enough, each is drawn by itself.
        const Block& middle = all[all.size() / 2];
        const std::vector<Block> near = timeline.visible(row, middle.start, middle.end, 0);
        REQUIRE(near.size() >= 1);
        CHECK(near.size() <= 3);
    }
}

TEST_CASE("facts of an operation", "[pictures]") {
    const Timeline timeline(one_layer());
    const Facts copy = operation_facts(timeline.rows()[0], 0);
    CHECK(value(copy, "lane") == "copies to the GPU, predicted");
    CHECK(value(copy, "start") == "-200.0 ms");
    CHECK(value(copy, "duration") == "200.0 ms");
    CHECK(value(copy, "bytes") == "10.0 GB");
    CHECK(value(copy, "rate") == "50.0 GB/s");
    CHECK(value(copy, "exposed").starts_with("compute waits 200.0 ms"));
    CHECK_THAT(value(copy, "waits for"), ContainsSubstring("of the step before"));
    const Facts binary = operation_facts(timeline.rows()[0], 0, bytes_text(ByteUnits::binary));
    CHECK(value(binary, "bytes") == "9.3 GiB");
    CHECK_THAT(facts_lines(copy), ContainsSubstring(copy.title));
    CHECK_THAT(facts_line(copy), ContainsSubstring("rate 50.0 GB/s"));
    const Facts wait = wait_facts(timeline.rows()[1], timeline.rows()[1].waits[0]);
    CHECK(wait.title == "compute waits 50.0 ms");
    CHECK_THAT(value(wait, "for"), ContainsSubstring("optimizer"));
}

TEST_CASE("the table of operations has a row each", "[pictures]") {
    const Table table = timeline_table(Timeline(one_layer(), slower(2)));
    CHECK(table.rows.size() == 2 * 4);
    const std::string csv = to_csv(table);
    CHECK_THAT(csv, ContainsSubstring("\npredicted,host_to_device") &&
                        ContainsSubstring("-0.2,0,10000000000,50,"));
}

TEST_CASE("rows of a picture", "[pictures]") {
    const Timeline one(one_layer()), pair(one_layer(), slower(2));
    const TimelineLayout layout = timeline_layout(one, {1000, 400});
    REQUIRE(layout.row_tops.size() == 3);
    CHECK(layout.plot_left > text_width("100% busy, 100% waits", 11));
    CHECK(layout.height <= 400);
    CHECK(layout.row_at(layout.row_tops[1] + 1) == std::optional<std::size_t>(1));
    CHECK_FALSE(layout.row_at(layout.axis_y + 1));
    CHECK_FALSE(layout.row_at(layout.row_tops[1] - 1));
    // Two lines of text fit, even if the picture grows beyond the height.
    const TimelineLayout low = timeline_layout(pair, {1000, 10});
    CHECK(low.row_height >= 32);
    CHECK(low.height > 10);
    // The rows of a pair are nearer than those of two lanes.
    CHECK(low.row_tops[1] - low.row_tops[0] < low.row_tops[2] - low.row_tops[1]);
}

TEST_CASE("ticks are round and within what is shown", "[pictures]") {
    const TimeTicks whole = time_ticks(0, 5.63, 12);
    CHECK(std::string(whole.unit) == "s");
    CHECK(whole.ticks.front().label == "0");
    CHECK(whole.ticks[1].label == "0.5");
    CHECK(whole.ticks.back().label == "5.5");
    const TimeTicks near = time_ticks(1.2341, 1.2352, 6);
    CHECK(std::string(near.unit) == "us");
    for (const TimeTick& tick : near.ticks) {
        CHECK(tick.time >= 1.2341 - 1e-9);
        CHECK(tick.time <= 1.2352 + 1e-9);
    }
    CHECK(near.ticks.front().label == "1234200");
    CHECK(near.ticks.size() <= 7);
}

}  // namespace sluice
