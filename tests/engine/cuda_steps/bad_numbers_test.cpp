// Do steps in FP8 on a GPU leave parameters alone where a number overflows or is not finite, and
// are zeros as in bf16?
#include <algorithm>

#include "tests/engine/cuda_steps/cuda_steps.h"

using namespace sluice;

TEST_CASE("steps in FP8: a number that is not finite, or overflows, changes no parameter",
          "[cuda_steps]") {
    if (!has_gpu()) return;
    constexpr std::uint16_t kNan = 0x7FC0, kInfinity = 0x7F80, kLargest = 0x7F7F;
    for (const std::uint16_t bad : {kNan, kInfinity, kLargest}) {
        for (const Compute form : {Compute::bf16, Compute::fp8}) {
            for (const int layer : {0, 3}) {
                CAPTURE(bad, static_cast<int>(form), layer);
                TrainingSpec training = training_of_steps();
                training.stream_weights = form;
                TinyTraining tiny(model_of_steps(), training, DType::bf16, 12, 1000,
                                  start_on_gpu());
                const ParameterBlock& block = tiny.store().block(layer);
                const bool overflows = bad == kLargest;  // one such weight need not
                std::fill_n(block.high + (overflows ? 0 : block.count - 5),
                            overflows ? block.count : 1, bad);
                const std::string before = tiny.state();
                CHECK_FALSE(tiny.run().finite);
                tiny.finish();
                CHECK((tiny.state() == before));
            }
        }
    }
}

TEST_CASE("steps in FP8: a NaN in one token's row changes no parameter", "[cuda_steps]") {
    if (!has_gpu()) return;
    constexpr std::uint16_t kNan = 0x7FC0;
    TinyTraining tiny(model_of_steps(), training_of_steps(), DType::bf16, 12, 1000, start_on_gpu());
    tiny.store().block(tiny.store().embedding()).high[3] = kNan;  // token 0 is in the batch
    const std::string before = tiny.state();
    CHECK_FALSE(tiny.run().finite);
    tiny.finish();
    CHECK((tiny.state() == before));
}

TEST_CASE("steps in FP8: layers of zeros do nothing, as in bf16", "[cuda_steps]") {
    if (!has_gpu()) return;
    const auto outcome_of = [](Compute compute, Compute form) {
        TrainingSpec training = training_of_steps();
        training.compute = compute;
        training.stream_weights = form;
        TinyTraining tiny(model_of_steps(), training, DType::bf16, 12, 1000, start_on_gpu());
        for (int layer = 0; layer < model_of_steps().layer_count(); ++layer) {
            const ParameterBlock& block = tiny.store().block(layer);
            std::fill_n(block.high, block.count, std::uint16_t{0});
        }
        const StepOutcome outcome = tiny.run();
        tiny.finish();
        return outcome;
    };
    const StepOutcome plain = outcome_of(Compute::bf16, Compute::bf16);
    for (const Compute form : {Compute::bf16, Compute::fp8}) {
        const StepOutcome fp8 = outcome_of(Compute::fp8, form);
        CHECK(fp8.finite);
        CHECK(fp8.loss == plain.loss);
        CHECK(fp8.gradient_norm == plain.gradient_norm);
    }
}
