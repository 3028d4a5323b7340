// Are steps on a GPU the same to the bit, whether weights arrive in bf16 or as FP8 codes?
#include <cstdio>
#include <functional>

#include "tests/engine/cuda_steps/cuda_steps.h"

using namespace sluice;

namespace {

struct Steps {
    std::vector<double> numbers;  ///< loss and norm of each step
    std::string state;            ///< at the end, of the sections on the host
};

Steps steps_of(const TrainingSpec& training, double max_norm) {
    constexpr int kSteps = 6;
    TinyTraining tiny(model_of_steps(), training, DType::bf16, 12, 1000, start_on_gpu());
    Steps out;
    for (int i = 0; i < kSteps; ++i) {
        const StepOutcome outcome = tiny.run(max_norm, 1e-3F);
        CHECK(outcome.finite);
        out.numbers.insert(out.numbers.end(), {outcome.loss, outcome.gradient_norm});
    }
    tiny.finish();
    for (int section = 0; section < tiny.store().sections(); ++section)
        if (!tiny.store().on_device(section)) out.state += tiny.state(section);
    return out;
}

}  // namespace

TEST_CASE("steps: weights that arrive as codes change no bit", "[cuda_steps]") {
    if (!has_gpu()) return;
    constexpr double kClipped = 0.5, kFree = 1e9;
    const auto check = [](const char* name, double max_norm,
                          const std::function<void(TrainingSpec&)>& change) {
        TrainingSpec training = training_of_steps();
        change(training);
        const Steps cast = steps_of(training, max_norm);
        TrainingSpec coded = training;
        coded.stream_weights = Compute::fp8;
        const Steps arrived = steps_of(coded, max_norm);
        std::printf("steps: %s, norm %g: loss %.9f to %.9f\n", name, max_norm,
                    arrived.numbers.front(), arrived.numbers[arrived.numbers.size() - 2]);
        const bool repeats =
            arrived.numbers == cast.numbers || steps_of(training, max_norm).numbers == cast.numbers;
        CAPTURE(name, max_norm, repeats);
        CHECK(arrived.numbers == cast.numbers);
        CHECK((arrived.state == cast.state));
    };
    check("all streamed", kFree, [](TrainingSpec&) {});
    check("clipped", kClipped, [](TrainingSpec&) {});
    check("exact clipping", kClipped, [](TrainingSpec& t) { t.clipping = Clipping::exact; });
    check("one slot", kFree, [](TrainingSpec& t) { t.buffer_depth = 1; });
    check("four slots, nothing computed again", kFree,
          [](TrainingSpec& t) { t.buffer_depth = 4, t.recompute = Recompute::none; });
    check("half of the inputs saved", kFree,
          [](TrainingSpec& t) { t.saved_inputs = SavedInputs::half; });
    check("two passes", kFree, [](TrainingSpec& t) { t.micro_batch = 1, t.passes = 2; });
    check("feed-forward in chunks", kFree,
          [](TrainingSpec& t) { t.feed_forward_chunk_tokens = 256; });
    check("deferred updates", kFree, [](TrainingSpec& t) { t.deferred_layers = 3; });
    check("two resident layers", kClipped, [](TrainingSpec& t) {
        t.resident_layers = 2, t.resident_tables = ResidentTables::both, t.weight_code_layers = 1;
        t.head_gradients = Compute::fp8, t.recompute = Recompute::none, t.kept_bits = 8;
    });
}
