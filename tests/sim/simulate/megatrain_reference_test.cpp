// MegaTrain's schedule against three measured steps (examples/megatrain-measured-and-predicted says
// how they were taken). Nothing in the model is fitted to them.
#include "sim/answers/predict/predict.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

struct MeasuredMegaTrain {
    const char* model;
    std::int64_t layers;
    Seconds step;
    double device_peak, host_after_step, host_peak;  ///< host_peak 0: not measured
    Seconds forward_backward, clip, adam, copy_to_pinned, zero_grad;
};

constexpr MeasuredMegaTrain kMegaTrainRuns[] = {
    {"qwen2.5-7b", 28, 8.279, 21.386e9, 106.33e9, 119.85e9, 4.416, 1.933, 0.986, 0.441, 0.502},
    {"qwen2.5-3b", 36, 4.073, 17.883e9, 51.8e9, 0, 2.226, 0.882, 0.508, 0.228, 0.228},
    {"qwen2.5-7b", 8, 3.091, 20.211e9, 47.75e9, 53.26e9, 1.458, 0.743, 0.377, 0.271, 0.196},
};

Prediction predict_megatrain(const MeasuredMegaTrain& row) {
    ModelSpec model = read_model(row.model);
    model.tied_embeddings = false;
    truncate_layers(model, row.layers);
    TrainingSpec training;
    training.schedule = Schedule("megatrain");
    training.batch = 32;
    return predict(model, resolve_machine(read_machine_profile("h200-pcie5-16vcpu-128gib")),
                   training);
}

/// From the start of compute to the end of the first operation of a kind on the optimizer's lane,
/// or the duration of that operation.
OperationInterval when(const Prediction& report, OperationKind kind) {
    for (std::size_t i = 0; i < report.plan.program.operations.size(); ++i) {
        if (report.plan.program.operations[i].kind == kind) return report.step.intervals[i];
    }
    return {};
}
Seconds lasts(const Prediction& report, OperationKind kind) {
    const OperationInterval interval = when(report, kind);
    return interval.end - interval.start;
}

}  // namespace

TEST_CASE("megatrain: three measured steps are predicted within 10%, their memory within 3%",
          "[simulate]") {
    for (const MeasuredMegaTrain& row : kMegaTrainRuns) {
        INFO(row.model << ", " << row.layers << " layers");
        const Prediction report = predict_megatrain(row);
        CHECK(report.step.seconds == Approx(row.step).epsilon(0.10));
        CHECK(static_cast<double>(report.plan.fit.device().peak.bytes) ==
              Approx(row.device_peak).epsilon(0.03));
        CHECK(static_cast<double>(report.plan.memory.host_between_steps) ==
              Approx(row.host_after_step).epsilon(0.03));
        if (row.host_peak > 0) {
            CHECK(static_cast<double>(report.plan.fit.host().peak.bytes) ==
                  Approx(row.host_peak).epsilon(0.03));
        }
    }
}

TEST_CASE("megatrain: phases of the measured steps are predicted within 25%, one of them 40%",
          "[simulate]") {
    for (const MeasuredMegaTrain& row : kMegaTrainRuns) {
        INFO(row.model << ", " << row.layers << " layers");
        const Prediction report = predict_megatrain(row);
        const Seconds compute_ends = when(report, OperationKind::clip_gradients).start;
        CHECK(compute_ends == Approx(row.forward_backward).epsilon(0.10));
        CHECK(lasts(report, OperationKind::clip_gradients) == Approx(row.clip).epsilon(0.25));
        CHECK(lasts(report, OperationKind::update) == Approx(row.adam).epsilon(0.25));
        CHECK(lasts(report, OperationKind::zero_gradients) == Approx(row.zero_grad).epsilon(0.25));
        const Seconds copied = when(report, OperationKind::zero_gradients).start -
                               when(report, OperationKind::copy_to_pinned).start;
        // Half of it or more is a copy from pageable memory, by one thread: 7.5 GB/s on the machine
        // of the profile. The first and the third row say 10.7 on the one measured here: 20 layers,
        // 9.32 GB, are 0.170 s apart, which leaves 0.203 s for the 2.18 GB of embedding and head.
        CHECK(copied == Approx(row.copy_to_pinned).epsilon(0.40));
    }
}
