#include "calibrate/cases/bench.h"

#include <cmath>
#include <string>
#include <vector>

#include "calibrate/cases/kernel_rows.h"
#include "sim/base/input_error.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

/// A machine of 8 GB: an arena of 800 MB.
HostFacts small_host(Bytes memory = 8'000'000'000) {
    HostFacts host;
    host.memory_total = memory;
    return host;
}

std::unique_ptr<BenchMachine> small_bench() {
    return make_bench(make_cpu_device(1), small_host(), {.quick = true});
}

/// A device whose calls take the time they are told and whose clock is theirs: no real time.
class ClockworkDevice final : public Device {
  public:
    void work(Seconds seconds) { now_ += seconds; }
    int aligned() const { return aligned_; }

    DeviceFacts facts() const override { return {}; }
    Bytes memory_in_use() const override { return 0; }
    void attach_thread() override {}
    char* allocate_arena(Bytes, Bytes, Bytes) override { return nullptr; }
    Kernels& kernels() override { throw InternalError("no kernels"); }
    void register_host(void*, Bytes) override {}
    void release_host(void*) override {}
    void copy(Work, void*, const void*, Bytes) override {}
    void finish_all() override {}
    void create_events(int count) override { times_.resize(static_cast<std::size_t>(count)); }
    void record(Work, EventId event) override { times_.at(static_cast<std::size_t>(event)) = now_; }
    void wait(Work, EventId) override {}
    void synchronize(EventId) override {}
    Seconds time_of(EventId event) override { return times_.at(static_cast<std::size_t>(event)); }
    void align_clocks() override { ++aligned_; }

  private:
    Seconds now_ = 1;
    std::vector<Seconds> times_;
    int aligned_ = 0;
};

}  // namespace

TEST_CASE("fp8: a GPU that refuses it gives a warning, not the end of the calibration") {
    ClockworkDevice device;
    const std::vector<std::uint16_t> random(1 << 20, 0x3F80);
    Bench bench{.device = device, .device_facts = {}, .host = {}};
    bench.device_facts.is_gpu = true;
    bench.arena_bytes = Bytes{1} << 30;
    bench.large_product = 1e-3;
    bench.random = &random;
    CaseRecord record;
    measure_fp8(bench, record);  // the GPU has none
    CHECK(record.warnings.empty());
    bench.device_facts.has_fp8 = true;
    measure_fp8(bench, record);
    CHECK(record.tables.empty());
    REQUIRE(record.warnings.size() == 2);
    CHECK(record.warnings[0] == "large products in FP8 were not measured: no kernels");
    CHECK(record.warnings[1] == "casts to FP8 were not measured: no kernels");
    bench.arena_bytes = Bytes{512} << 20;
    record = {};
    measure_fp8(bench, record);
    CHECK(record.warnings.at(0) ==
          "large products in FP8 were not measured: 512 MiB of memory do not hold them");
}

TEST_CASE("fp8: casts are timed in each order, with the search and without") {
    const auto machine = small_bench();
    Bench& bench = *machine->bench;
    bench.device_facts.has_fp8 = true;
    CaseRecord record;
    measure_fp8(bench, record);  // no GPU: no large product
    CHECK_THAT(record.warnings.at(0), ContainsSubstring("large products in FP8 were not"));
    REQUIRE(record.tables.size() == 1);
    const CaseTable& casts = record.tables[0];
    REQUIRE(casts.rows.size() == 6);
    for (std::size_t row = 0; row < 6; ++row) {
        CHECK(casts.at(row, "us") > 0);
        CHECK(casts.at(row, "by_rows") + casts.at(row, "by_columns") >= 1);
    }
}

TEST_CASE("timing: short calls share a group, long ones have one each") {
    const Timing timing{.warm_up = 0.03, .group = 0.008, .groups = 7};
    const CallGroups short_calls = group_calls(timing, 1e-4);
    CHECK(short_calls.calls == 80);
    CHECK(short_calls.groups == 7);
    CHECK(short_calls.warm_up_calls == 298);
    const CallGroups long_calls = group_calls(timing, 0.04);
    CHECK(long_calls.calls == 1);
    CHECK(long_calls.groups == 4);  // 160 ms in all
    CHECK(long_calls.warm_up_calls == 0);
    CHECK(group_calls(timing, 10).groups == 3);
}

TEST_CASE("timing: the host gets ahead of calls shorter than its own, few enough for the queue") {
    Timing timing;
    CHECK(group_calls(timing, 5e-6).calls == 1600);  // nothing goes before a group
    timing.before_group = [] {};
    const CallGroups groups = group_calls(timing, 5e-6);
    CHECK(groups.calls * groups.groups <= 700);
    CHECK(groups.calls * groups.groups >= 600);
    CHECK(group_calls(timing, 1e-3).calls == 8);
}

TEST_CASE("timing: a call's time is the median over groups, and calls are numbered on") {
    ClockworkDevice device;
    std::vector<std::int64_t> numbers;
    // The first call takes a second, as one that compiles does; the others 1 ms.
    const Sample sample = time_on_compute_lane(device, {}, [&](std::int64_t call) {
        numbers.push_back(call);
        device.work(call == 0 ? 1.0 : 1e-3);
    });
    CHECK(sample.median == Approx(1e-3));
    CHECK(sample.high == Approx(1e-3));
    CHECK(sample.count == 7);
    CHECK(device.aligned() > 0);
    REQUIRE(numbers.size() > 50);
    for (std::size_t i = 0; i < numbers.size(); ++i)
        REQUIRE(numbers[i] == static_cast<std::int64_t>(i));
}

TEST_CASE("timing: groups that differ show in the range") {
    ClockworkDevice device;
    const Sample sample = time_on_compute_lane(
        device, {.warm_up = 0, .group = 0.1, .groups = 5},
        [&](std::int64_t call) { device.work(call < 2 ? 0.1 : 0.1 + 0.01 * double(call - 2)); });
    CHECK(sample.median == Approx(0.12));
    CHECK(sample.low == Approx(0.102));
    CHECK(sample.high == Approx(0.138));
}

TEST_CASE("bench: the arena is a tenth of a CPU machine's memory, full of normal numbers") {
    const auto machine = small_bench();
    const Bench& bench = *machine->bench;
    CHECK(bench.activations == DType::fp32);
    CHECK(bench.arena_bytes == Approx(800e6 - 32 * 1048576).epsilon(1e-4));
    for (const Bytes offset : {Bytes{0}, Bytes{100'000'000}, bench.arena_bytes - 4'000'000}) {
        const auto* values =
            reinterpret_cast<const float*>(bench.at(offset / 4096 * 4096, 4'000'000));
        double sum = 0, squares = 0;
        for (int i = 0; i < 1'000'000; ++i) {
            REQUIRE(std::isfinite(values[i]));
            sum += values[i];
            squares += values[i] * values[i];
        }
        CHECK(std::abs(sum / 1e6) < 0.01);
        CHECK(squares / 1e6 == Approx(1).epsilon(0.02));
    }
}

TEST_CASE("bench: memory outside the arena, and too little memory, are refused") {
    const auto machine = small_bench();
    const Bench& bench = *machine->bench;
    CHECK_THROWS_AS(bench.at(bench.arena_bytes - 10, 11), InternalError);
    CHECK_THROWS_AS(bench.at(-1, 1), InternalError);
    CHECK_THROWS_WITH(make_bench(make_cpu_device(1), small_host(1'000'000'000), {}),
                      ContainsSubstring("CPU has 0.9 GiB of memory left") &&
                          ContainsSubstring("expected 256 or more"));
}

TEST_CASE("bench: an output that is not finite is our bug") {
    const auto machine = small_bench();
    Bench& bench = *machine->bench;
    auto* const values = reinterpret_cast<float*>(bench.at(0, 400));
    require_finite(bench, "test", values, DType::fp32, 100);
    values[42] = std::nanf("");
    CHECK_THROWS_WITH(require_finite(bench, "gemm", values, DType::fp32, 100),
                      ContainsSubstring("gemm: element 42 of the output is nan"));
    CHECK_NOTHROW(require_finite(bench, "test", values, DType::fp32, 42));
    fill_arena(bench);
    CHECK(std::isfinite(values[42]));
}

TEST_CASE("operand sets: calls take turns among sets larger than the caches") {
    const auto machine = small_bench();
    const Bench& bench = *machine->bench;
    const OperandSets sets(bench, input_zone(bench), {1'000'000, 5});
    REQUIRE(sets.fit());
    CHECK(sets.sets() * 1'000'000 > rotated_bytes(bench) * 0.98);
    CHECK(sets.at(0, 1) >= sets.at(0, 0) + 1'000'000);
    CHECK(sets.at(1, 0) >= sets.at(0, 1) + 5);
    CHECK(sets.at(sets.sets(), 0) == sets.at(0, 0));
    const OperandSets outputs(bench, output_zone(bench), {1'000'000, 5});
    CHECK(sets.at(sets.sets() - 1, 1) < outputs.at(0, 0));
    CHECK_FALSE(OperandSets(bench, input_zone(bench), {600'000'000}).fit());
    CHECK(OperandSets(bench, input_zone(bench), {300'000'000}).sets() == 1);
    CHECK(OperandSets(bench, input_zone(bench), {}).fit());
}

TEST_CASE("memory-bound calls: heads make up the columns, sequences are at most 8192") {
    for (const auto& [rows, columns] : std::vector<std::pair<std::int64_t, std::int64_t>>{
             {32768, 6144}, {5000, 256}, {20480, 1792}}) {
        const AttentionShape heads = heads_of(rows, columns, 128);
        CHECK(heads.query_width() + heads.key_width() == columns);
        CHECK(heads.heads % heads.kv_heads == 0);
        CHECK(heads.tokens() == rows);
        CHECK(heads.sequence <= 8192);
    }
    CHECK(heads_of(2048, 6144, 128).kv_heads == 12);
}
