// `llmq` against measured steps (validation/llmq-h200.json), and what its options change.
#include "sim/answers/predict/predict.h"
#include "sim/answers/validate/validation.h"
#include "sim/plan/schedules/llmq_memory.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

MachineSpec h200() { return resolve_machine(read_machine_profile("h200-pcie5-16vcpu-128gib")); }

TrainingSpec training_of(Recompute recompute) {
    TrainingSpec training;
    training.schedule = Schedule("llmq");
    training.batch = 16;
    training.micro_batch = 8;
    training.recompute = recompute;
    return training;
}

Prediction small(const TrainingSpec& training) {
    return predict(
        parse_generic_model("layers=8,hidden=1024,heads=8,intermediate=4096,vocabulary=8000"),
        h200(), training);
}

double device_peak(const Prediction& report) {
    return static_cast<double>(report.plan.fit.device().peak.bytes);
}

}  // namespace

TEST_CASE("llmq: three measured steps within 5%", "[simulate]") {
    const Validation v =
        validate(read_measured_runs({SLUICE_SOURCE_DIR "/validation/llmq-h200.json"}, {}), h200());
    REQUIRE(v.runs.size() == 3);
    for (const auto& one : v.runs) {
        CAPTURE(one.run.name);
        CHECK(one.predicted.step.seconds == Approx(one.run.step).epsilon(0.05));
    }
}

TEST_CASE("llmq: device memory of three measured steps within 2%", "[simulate]") {
    const auto used = [](const char* name, std::int64_t batch, TrainingSpec training) {
        ModelSpec model = read_model(name);
        model.tied_embeddings = false;
        training.batch = batch;
        const Prediction report = predict(model, h200(), training);
        return device_peak(report) + static_cast<double>(report.plan.device_context);
    };
    TrainingSpec training = training_of(Recompute::none);
    training.micro_batch = 16;
    CHECK(used("qwen2.5-7b", 32, training) == Approx(138.4e9).epsilon(0.02));
    training.compute = Compute::fp8;
    CHECK(used("qwen2.5-7b", 32, training) == Approx(134.0e9).epsilon(0.02));
    training = training_of(Recompute::none);
    training.own.of<LlmqOptions>().moments = MomentPlacement::host;
    CHECK(used("qwen2.5-14b", 64, training) == Approx(121.6e9).epsilon(0.02));
}

TEST_CASE("llmq: what is recomputed or on the host costs time and spares device memory",
          "[simulate]") {
    const Prediction none = small(training_of(Recompute::none)),
                     part = small(training_of(Recompute::keep_attention)),
                     full = small(training_of(Recompute::full));
    CHECK(none.step.seconds < part.step.seconds);
    CHECK(part.step.seconds < full.step.seconds);
    CHECK(device_peak(none) > device_peak(part));
    CHECK(device_peak(part) > device_peak(full));

    TrainingSpec training = training_of(Recompute::full);
    training.checkpoints = CheckpointPlacement::host;
    const Prediction inputs_away = small(training);
    CHECK(device_peak(inputs_away) < device_peak(full));
    CHECK(inputs_away.step.seconds >= full.step.seconds);
    training.own.of<LlmqOptions>().moments = MomentPlacement::host;
    const Prediction moments_away = small(training);
    CHECK(device_peak(moments_away) < device_peak(inputs_away));
    CHECK(moments_away.step.seconds > inputs_away.step.seconds);
}
