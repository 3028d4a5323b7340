// Do adapters train on a GPU as on the CPU, and the same to the bit wherever the frozen weights
// are?
#include <cstdio>
#include <functional>

#include "tests/engine/cuda_steps/cuda_steps.h"

using namespace sluice;

namespace {

std::vector<double> adapted_losses(const TrainingSpec& training, const TinyStart& start,
                                   std::string* state = nullptr) {
    constexpr int kSteps = 8;
    constexpr double kClipped = 0.5;
    TinyTraining tiny(model_of_steps(), training, DType::bf16, 12, 1, start);
    std::vector<double> out;
    for (int i = 0; i < kSteps; ++i) {
        const StepOutcome outcome = tiny.run(kClipped, 1e-3F);
        CHECK(outcome.finite);
        out.push_back(outcome.loss);
    }
    tiny.finish();
    if (state != nullptr) {
        const ParameterBlock& block = tiny.store().block(tiny.store().adapters());
        state->resize(static_cast<std::size_t>(kBf16 * block.count));
        tiny.store().read(tiny.store().adapters(), reinterpret_cast<const std::byte*>(block.high),
                          std::as_writable_bytes(std::span(*state)));
    }
    return out;
}

TrainingSpec adapted_steps() {
    TrainingSpec t = training_of_steps();
    t.compute = Compute::bf16;
    t.weight_code_layers = 0;
    t.adapter_rank = 16;
    return t;
}

/// The form of products, and of frozen weights where it is another one.
constexpr std::pair<Compute, Form> kForms[] = {{Compute::bf16, Form::bf16},
                                               {Compute::fp8, Form::bf16},
                                               {Compute::bf16, Form::nf4},
                                               {Compute::fp8, Form::nf4}};

}  // namespace

TEST_CASE("steps: adapters learn on a GPU what they learn on the CPU", "[cuda_steps]") {
    if (!has_gpu()) return;
    // Differences of the first steps grow with each: up to 0.5% in bf16 and 1.3% in FP8 on an H200.
    constexpr double kTolerance = 0.02;
    for (const auto& [compute, form] : kForms) {
        TrainingSpec training = adapted_steps();
        training.compute = compute;
        training.frozen_weights = form;
        const std::vector<double> gpu = adapted_losses(training, start_on_gpu()),
                                  cpu = adapted_losses(training, {});
        for (std::size_t i = 0; i < gpu.size(); ++i) {
            std::printf("steps: adapters, %s%s, step %zu: loss %.6f on the GPU, %.6f on the CPU\n",
                        compute == Compute::fp8 ? "FP8" : "bf16", form == Form::nf4 ? ", NF4" : "",
                        i, gpu[i], cpu[i]);
            CHECK_THAT(gpu[i], Catch::Matchers::WithinRel(cpu[i], kTolerance));
        }
        CHECK(gpu.back() < gpu.front());
    }
}

TEST_CASE("steps: dropout leaves out on a GPU what it does on the CPU", "[cuda_steps]") {
    if (!has_gpu()) return;
    TrainingSpec training = adapted_steps();
    training.adapter_dropout_percent = 25;
    const std::vector<double> gpu = adapted_losses(training, start_on_gpu()),
                              cpu = adapted_losses(training, {});
    for (std::size_t i = 0; i < gpu.size(); ++i) {
        std::printf("steps: dropout, step %zu: loss %.6f on the GPU, %.6f on the CPU\n", i, gpu[i],
                    cpu[i]);
        CHECK_THAT(gpu[i], Catch::Matchers::WithinRel(cpu[i], 0.02));
    }
}

TEST_CASE("steps: homes of frozen weights change no bit of adapters", "[cuda_steps]") {
    if (!has_gpu()) return;
    for (const auto& [compute, form] : kForms) {
        std::string plain_state;
        TrainingSpec plain = adapted_steps();
        plain.compute = compute;
        plain.frozen_weights = form;
        const std::vector<double> expected = adapted_losses(plain, start_on_gpu(), &plain_state);
        const auto check = [&](const char* name, const std::function<void(TrainingSpec&)>& change) {
            TrainingSpec training = plain;
            change(training);
            std::string state;
            CAPTURE(name);
            CHECK(adapted_losses(training, start_on_gpu(), &state) == expected);
            CHECK(state == plain_state);
        };
        check("two resident layers", [](TrainingSpec& t) { t.resident_layers = 2; });
        check("all resident", [](TrainingSpec& t) {
            t.resident_layers = model_of_steps().layer_count();
            t.resident_tables = ResidentTables::both;
        });
        check("nothing computed again", [](TrainingSpec& t) { t.recompute = Recompute::none; });
        check("one slot", [](TrainingSpec& t) { t.buffer_depth = 1; });
        check("inputs on the host",
              [](TrainingSpec& t) { t.checkpoints = CheckpointPlacement::host; });
        check("half of the inputs saved",
              [](TrainingSpec& t) { t.saved_inputs = SavedInputs::half; });
    }
}
