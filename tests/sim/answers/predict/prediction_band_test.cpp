#include "sim/answers/predict/prediction_band.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "sim/answers/predict/predict.h"
#include "sim/plan/schedules/schedules.h"
#include "sim/report/report.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"
#include "tests/sim/simulate/hand_made.h"

using namespace sluice;

namespace {

const ModelSpec& small_model() {
    static const ModelSpec model = read_model("qwen2.5-0.5b");
    return model;
}

/// round_machine() with all that a whole model needs.
MachineSpec whole_machine() {
    MachineSpec machine = test::round_machine();
    machine.gpu.fused_attention = {Interpolated({{1, 500e12}}), Interpolated({{1, 500e12}})};
    machine.host.adam_8_byte_bytes_per_s = machine.host.adam_6_byte_bytes_per_s =
        machine.host.adam_bytes_per_s;
    return machine;
}

TrainingSpec training_of(std::int64_t batch) {
    TrainingSpec training;
    training.batch = batch;
    return training;
}

Prediction with_band(const MachineSpec& machine, std::int64_t batch,
                     const ModelSpec& model = small_model()) {
    return predict(model, machine, training_of(batch), {.band = Wanted::Band::always});
}

/// The share by which the step may be longer, or shorter.
double longer(const Prediction& report) { return report.band->high / report.step.seconds - 1; }
double shorter(const Prediction& report) { return 1 - report.band->low / report.step.seconds; }

/// A rate this far from the one taken makes a step longer, or shorter, by `more` of it.
RateRange range_of_times(double more) { return {1 / (1 + more), 1 / (1 - more)}; }

/// Every shape takes 1 ms; its rate is off by `half` either way.
MachineSpec machine_with_tables(double half) {
    MachineSpec machine = test::round_machine();
    for (int i = 0; i < kKernelTables; ++i) {
        const auto id = static_cast<KernelTableId>(i);
        KernelTable& table = machine.gpu.tables[static_cast<std::size_t>(i)];
        table.trend.assign(kernel_feature_names(id).size(), 0);
        table.trend.front() = 1000;
        machine.ranges.tables[static_cast<std::size_t>(i)] = {1 - half, 1 + half};
    }
    machine.ranges.tables_measured = true;
    return machine;
}

void check_range(const RateRange& range, double low, double high) {
    CHECK(range.low == Approx(low));
    CHECK(range.high == Approx(high));
}

}  // namespace

TEST_CASE("prediction band: deviations are combined as the root of the sum of squares",
          "[simulate]") {
    CHECK(combined(std::vector<double>{}) == 0);
    CHECK(combined(std::vector<double>{3, -4}) == Approx(5));
    CHECK(combined(std::vector<double>{1, 2, 2}) == Approx(3));
}

TEST_CASE("prediction band: errors of different kernels average out, of alike ones they do not",
          "[simulate]") {
    const MachineSpec machine = machine_with_tables(0.04);
    test::HandMadePlan alike, different;
    for (int i = 0; i < 4; ++i) {
        alike.product(512, 512, 512);
        different.product(512, 512, 512 << i);
    }
    check_range(kernels_range(alike.plan.program, machine), 0.96, 1.04);
    check_range(kernels_range(different.plan.program, machine), 0.98, 1.02);

    MachineSpec scaled = machine;  // another machine's tables: off together
    scaled.ranges.tables_measured = false;
    check_range(kernels_range(different.plan.program, scaled), 0.96, 1.04);
}

TEST_CASE("prediction band: a kernel counts by its share of the time", "[simulate]") {
    MachineSpec machine = machine_with_tables(0);
    machine.ranges.tables[static_cast<std::size_t>(KernelTableId::gemm_forward)] = {1.00, 1.08};
    machine.ranges.formulas = {0.5, 1.5};
    test::HandMadePlan plan;
    plan.product(512, 512, 512);  // 1 ms
    plan.compute(3e-3);           // by the formula
    // Middle 0.04 / 4; halves 0.04 / 4 and 3 x 0.5 / 4.
    const double half = std::hypot(0.01, 0.375);
    check_range(kernels_range(plan.plan.program, machine), 1.01 - half, 1.01 + half);

    machine.ranges.clock = {0.9, 1.1};
    const double with_clock = std::hypot(half, 0.1);
    check_range(kernels_range(plan.plan.program, machine), 1.01 - with_clock, 1.01 + with_clock);
}

TEST_CASE("prediction band: without ranges it is what the model leaves out", "[simulate]") {
    const Prediction report = with_band(whole_machine(), 8);
    CHECK(longer(report) == Approx(kStructuralError));
    CHECK(shorter(report) == Approx(kStructuralError));
}

TEST_CASE("prediction band: other systems' schedules are less sure, and their work on the host",
          "[simulate]") {
    MachineSpec machine = resolve_machine(read_machine_profile("h200-sxm-pcie5-1.5tb"));
    machine.ranges = {};
    machine.gpu.eager_launch = 0;
    const auto band_of = [&](Schedule schedule) {
        TrainingSpec training = training_of(8);
        training.schedule = schedule;
        return predict(small_model(), machine, training, {.band = Wanted::Band::always});
    };
    const Prediction on_device = band_of(Schedule("resident"));
    CHECK(longer(on_device) == Approx(kErrorOnDevice));
    CHECK(shorter(on_device) == Approx(kErrorOnDevice));
    // Host work, which nothing runs beside, may take twice as long but no shorter.
    const Prediction offloading = band_of(Schedule("fsdp-offload"));
    const double host =
        offloading.step.lanes[Work::optimizer].busy + offloading.step.lanes[Work::host].busy;
    CHECK(shorter(offloading) == Approx(kErrorOffloading));
    CHECK(longer(offloading) ==
          Approx(std::hypot(kErrorOffloading, host / offloading.step.seconds)).epsilon(0.1));
}

TEST_CASE("prediction band: a step that only computes reacts to kernels alone", "[simulate]") {
    MachineSpec machine = whole_machine();
    for (double* rate : {&machine.link.host_to_device, &machine.link.device_to_host,
                         &machine.link.both_ways_total, &machine.host.dram_bandwidth})
        *rate *= 1e6;
    machine.host.adam_bytes_per_s = Interpolated({{1, 1e17}});
    machine.host.memory_copy = 1e17;
    for (RateRange* range : {&machine.ranges.optimizer, &machine.ranges.host_memory,
                             &machine.ranges.link, &machine.ranges.host_work})
        *range = {0.5, 2};
    CHECK(longer(with_band(machine, 8)) == Approx(kStructuralError).epsilon(1e-3));

    machine.ranges.clock = range_of_times(0.04);
    const Prediction report = with_band(machine, 8);
    CHECK(longer(report) == Approx(0.05).epsilon(0.02));  // 3, 4, 5
    CHECK(shorter(report) == Approx(0.05).epsilon(0.02));
}

TEST_CASE("prediction band: it contains the step and is wider with every wider range",
          "[simulate]") {
    // A batch of 1: the optimizer, the link and host memory all matter.
    MachineSpec machine = whole_machine();
    Prediction before = with_band(machine, 1);
    for (RateRange RateRanges::*range :
         {&RateRanges::optimizer, &RateRanges::link, &RateRanges::host_memory}) {
        machine.ranges.*range = {0.7, 1.3};
        const Prediction after = with_band(machine, 1);
        CHECK(after.step.seconds == Approx(before.step.seconds));
        CHECK(after.band->high - after.band->low > before.band->high - before.band->low);
        CHECK(after.band->low > 0);
        CHECK(after.band->low < after.step.seconds);
        CHECK(after.step.seconds < after.band->high);
        before = after;
    }
}

TEST_CASE("prediction band: an optimizer that was not measured is as uncertain as host memory",
          "[simulate]") {
    MachineSpec machine = whole_machine();
    machine.ranges.host_memory = {0.7, 1.3};
    const Prediction apart = with_band(machine, 1);
    machine.ranges.optimizer_by_memory = true;
    const Prediction together = with_band(machine, 1);
    CHECK(longer(together) > 1.1 * longer(apart));
    CHECK(shorter(together) > 1.1 * shorter(apart));
}

TEST_CASE("prediction band: a range that leaves the rate out only moves the band one way",
          "[simulate]") {
    MachineSpec machine = whole_machine();
    machine.ranges.clock = {1.05, 1.10};  // kernels are known to be faster than taken
    const Prediction report = with_band(machine, 64);
    CHECK(longer(report) == Approx(kStructuralError));
    CHECK(shorter(report) > 2 * kStructuralError);
}

TEST_CASE("prediction band: a calibrated machine has a narrower one than a datasheet",
          "[simulate]") {
    const ModelSpec model = read_model("qwen2.5-7b");
    for (const std::int64_t batch : {8, 32}) {
        const Prediction calibrated = with_band(
            resolve_machine(read_machine_profile("h200-pcie5-16vcpu-128gib")), batch, model);
        const Prediction datasheet =
            with_band(resolve_machine(read_machine_profile("h200-sxm-pcie5")), batch, model);
        INFO("batch " << batch);
        CHECK(longer(calibrated) < 0.6 * longer(datasheet));
        CHECK(shorter(calibrated) < shorter(datasheet));
    }
}

TEST_CASE("prediction band: text and JSON say it where it is known", "[simulate]") {
    Prediction report = predict(small_model(), whole_machine(), training_of(8));
    CHECK(!report.band);
    CHECK_THAT(report_text(report), !ContainsSubstring("5 to 95%"));
    CHECK(!nlohmann::json::parse(report_json(report)).contains("step_5_percent_s"));

    report.step.seconds = 2;
    report.band = {1.6, 4};
    CHECK_THAT(report_text(report),
               ContainsSubstring("2.00 s a step, 4,096 tokens/s (5 to 95%: 2,048 to 5,120);"));
    const auto json = nlohmann::json::parse(report_json(report));
    CHECK(json["step_5_percent_s"].get<double>() == Approx(1.6));
    CHECK(json["step_95_percent_s"].get<double>() == Approx(4));
    CHECK(json["tokens_per_s_5_percent"].get<double>() == Approx(2048));
    CHECK(json["tokens_per_s_95_percent"].get<double>() == Approx(5120));

    TimedPlan measured = report;
    measured.step.measured.emplace();
    measured.step.measured->low = 1.6;
    measured.step.measured->high = 4;
    CHECK_THAT(report_text(measured), ContainsSubstring("nine in ten steps took 1.60 s to 4.00 s"));
}

TEST_CASE("band: links between GPUs that were not measured make it wider", "[predict]") {
    MachineProfile profile = read_machine_profile("h100-sxm-pcie5");
    const auto band_of = [&](std::int64_t gpus) {
        TrainingSpec training;
        training.schedule = Schedule("cluster");
        training.gpus = training.batch = gpus;
        return *predict(read_model("qwen2.5-7b"), resolve_machine(profile), training,
                        {.band = Wanted::Band::always})
                    .band;
    };
    const auto moves = [](const Band& band, RateGroup group) {
        Seconds out = 0;
        for (const BandError& one : band.errors)
            if (one.source.group == group) out += one.at_low - one.at_high;
        return out;
    };
    CHECK(moves(band_of(1), RateGroup::interconnect) == 0);
    CHECK(moves(band_of(8), RateGroup::interconnect) > 0);
    CHECK(moves(band_of(8), RateGroup::network) == 0);
    CHECK(moves(band_of(16), RateGroup::network) > 0);
    const RateRanges ranges = resolve_machine(profile).ranges;
    CHECK(ranges.network.low == Approx(0.5));
    CHECK(ranges.interconnect_of_others.low < ranges.interconnect.low);
}

TEST_CASE("band: rows of its fit lie in it, three steps of FSDP2 on two H200", "[predict]") {
    MachineProfile profile = read_machine_profile("h200-pcie5-16vcpu-128gib");
    profile.set("gpu_interconnect.gpus_per_node", 2);
    profile.set("gpu_interconnect.per_direction_gb_per_s", 450);
    const MachineSpec machine = resolve_machine(profile);
    struct Measured {
        std::int64_t batch;
        Recompute recompute;
        double tokens_per_s;
    };
    for (const Measured& one :
         {Measured{8, Recompute::none, 17'182}, Measured{16, Recompute::full, 16'744},
          Measured{32, Recompute::full, 17'964}}) {
        INFO("batch " << one.batch);
        TrainingSpec training;
        training.schedule = Schedule("cluster");
        training.gpus = 2;
        training.batch = one.batch;
        training.sequence = 1024;
        training.recompute = one.recompute;
        const Banded speed =
            predict(read_model("qwen2.5-7b"), machine, training, {.band = Wanted::Band::always})
                .speed();
        CHECK(speed.low < one.tokens_per_s);
        CHECK(one.tokens_per_s < speed.high);
    }
}
