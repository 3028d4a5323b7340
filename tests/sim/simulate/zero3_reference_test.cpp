// ZeRO-3's schedule against two measured steps and one that ran out of memory
// (validation/peers-h200.json says how they were taken). Nothing in the model is fitted to them.
#include "sim/answers/predict/predict.h"
#include "sim/answers/validate/compare_run.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

struct MeasuredZero3 {
    const char* model;
    std::int64_t layers, batch, sequence;
    Seconds step;
    double device_peak, host;
    Seconds forward, backward, optimizer_step;
};

constexpr MeasuredZero3 kZero3Runs[] = {
    {"qwen2.5-7b", 8, 32, 1024, 2.124, 64.635e9, 78.74e9, 0.328, 0.962, 0.841},
    {"qwen2.5-1.5b", 28, 16, 2048, 1.471, 65.239e9, 44.82e9, 0.276, 0.707, 0.488},
};

Prediction predict_zero3(const MeasuredZero3& row) {
    ModelSpec model = read_model(row.model);
    model.tied_embeddings = false;
    truncate_layers(model, row.layers);
    TrainingSpec training;
    training.schedule = Schedule("zero3-offload");
    training.batch = row.batch;
    training.sequence = row.sequence;
    return predict(model, resolve_machine(read_machine_profile("h200-pcie5-16vcpu-128gib")),
                   training);
}

}  // namespace

TEST_CASE("zero3: measured steps within 5%, phases 15%, device memory 3%, host memory 5%",
          "[simulate]") {
    for (const MeasuredZero3& row : kZero3Runs) {
        INFO(row.model << ", " << row.layers << " layers");
        const Prediction report = predict_zero3(row);
        CHECK(report.step.seconds == Approx(row.step).epsilon(0.05));
        CHECK(static_cast<double>(report.plan.fit.device().peak.bytes) ==
              Approx(row.device_peak).epsilon(0.03));
        CHECK(static_cast<double>(report.plan.memory.host_between_steps) ==
              Approx(row.host).epsilon(0.05));
        const std::vector<Seconds> phases = step_phases(report);
        REQUIRE(phases.size() == 3);
        CHECK(phases[0] == Approx(row.forward).epsilon(0.15));
        CHECK(phases[1] == Approx(row.backward).epsilon(0.15));
        CHECK(phases[2] == Approx(row.optimizer_step).epsilon(0.15));
    }
}

TEST_CASE("zero3: 16 layers of the 7B shape do not fit into 128 GiB, as measured", "[simulate]") {
    const Prediction report = predict_zero3({"qwen2.5-7b", 16, 32, 1024, 0, 0, 0, 0, 0, 0});
    CHECK(report.plan.fit.device().shortfall() == 0);
    CHECK(report.plan.fit.host().shortfall() > 0);
}
