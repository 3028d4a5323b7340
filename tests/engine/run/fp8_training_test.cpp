#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tests/engine/run/tiny_training.h"

using namespace sluice;

namespace {

TrainingSpec in_fp8(TrainingSpec training = tiny_training()) {
    training.compute = Compute::fp8;
    return training;
}

}  // namespace

TEST_CASE("fp8: a training's loss stays beside bf16's", "[run]") {
    const ModelSpec model = tiny_model();
    constexpr int kSteps = 30, kCycle = 2;
    TinyTraining bf16(model, tiny_training(), DType::fp32, 12, kCycle);
    TinyTraining fp8(model, in_fp8(), DType::fp32, 12, kCycle);
    double first = 0, last = 0, difference = 0;
    for (int i = 0; i < kSteps; ++i) {
        const StepOutcome a = bf16.run(), b = fp8.run();
        REQUIRE((a.finite && b.finite));
        difference = std::abs(a.loss - b.loss);
        // Weights and what they multiply move by 2^-4 of themselves at most, as if weights moved by
        // twice that; see tolerance_of_rounded_weights().
        if (i == 0) {
            CHECK(difference > 0);
            CHECK(difference < 0x2p-4 * double{TinyTraining::kDeviation} * a.gradient_norm);
            first = a.loss;
        }
        last = a.loss;
    }
    std::printf("fp8: loss from %.4f to %.4f, off by %.4f\n", first, last, difference);
    // A gradient passes up to 8 products, each off by 14% at most in a random direction (see
    // linear_test.cpp): 40% in all, of which 8% are lost along the gradient.
    CHECK(last < 0.8 * first);
    CHECK(difference < 0.08 * (first - last));
}

TEST_CASE("fp8: gradients of the output projection, with or without the layers' products",
          "[run]") {
    TrainingSpec head = tiny_training();
    head.head_gradients = Compute::fp8;
    const TinyResult plain = train(tiny_model(), tiny_training()),
                     coded = train(tiny_model(), head), all = train(tiny_model(), in_fp8(head));
    CHECK(coded.state != plain.state);
    CHECK(coded.losses.front() == plain.losses.front());
    CHECK(all.state != coded.state);
    CHECK(all.state != train(tiny_model(), in_fp8()).state);
    for (const TinyResult* const one : {&coded, &all})
        CHECK(std::abs(one->losses.back() - plain.losses.back()) < 0.02 * plain.losses.back());
    TrainingSpec homes = head;
    homes.resident_layers = 2;
    homes.resident_tables = ResidentTables::both;
    homes.buffer_depth = 1;
    CHECK(train(tiny_model(), homes).state == coded.state);
}

TEST_CASE("fp8: micro-batches and homes change the order of sums at most", "[run]") {
    const TinyResult one = train(tiny_model(), in_fp8());
    TrainingSpec homes = tiny_training();
    homes.resident_layers = 5;
    homes.checkpoints = CheckpointPlacement::host;
    homes.recompute = Recompute::none;
    CHECK(train(tiny_model(), in_fp8(homes)).state == one.state);
    TrainingSpec halves = tiny_training();
    halves.micro_batch = 2;
    const TinyResult two = train(tiny_model(), in_fp8(halves));
    // Each half has scales of its own, which move no code but those too small for it.
    CHECK(std::abs(two.losses.front() - one.losses.front()) < 1e-3 * one.losses.front());
}

TEST_CASE("fp8: weights that are cast once a step change no bit", "[run]") {
    for (const std::int64_t passes : {1, 2}) {
        for (const Recompute recompute : {Recompute::full, Recompute::none}) {
            TrainingSpec training = in_fp8();
            if (passes == 1) training.feed_forward_chunk_tokens = 5;
            training.micro_batch = 2;
            training.passes = passes;
            training.recompute = recompute;
            training.resident_layers = 2;
            const TinyResult each = train(tiny_model(), training);
            for (const int layers : {1, tiny_model().layer_count()}) {
                training.weight_code_layers = layers;
                CHECK(train(tiny_model(), training).state == each.state);
            }
        }
    }
}

TEST_CASE("fp8: weights that arrive as codes change no bit", "[run]") {
    constexpr double kClipped = 0.5;
    for (const std::int64_t passes : {1, 2}) {
        for (const auto& [recompute, half] : {std::pair{Recompute::full, false},
                                              {Recompute::none, false},
                                              {Recompute::full, true}}) {
            for (const double max_norm : {1e9, kClipped}) {
                if (half && passes > 1) continue;
                CAPTURE(passes, static_cast<int>(recompute), half, max_norm);
                TrainingSpec training = in_fp8();
                if (half) training.saved_inputs = SavedInputs::half;
                if (passes == 1) training.feed_forward_chunk_tokens = 16;
                training.passes = passes;
                training.recompute = recompute;
                training.deferred_layers = 1;
                training.resident_layers = 2;
                training.weight_code_layers = 1;
                const TinyResult plain = train(tiny_model(), training, 4, max_norm);
                training.stream_weights = Compute::fp8;
                for (const std::int64_t resident : {1, 2, 4}) {
                    training.resident_layers = resident;
                    const TinyResult coded = train(tiny_model(), training, 4, max_norm);
                    CHECK(coded.losses == plain.losses);
                    CHECK(coded.norms == plain.norms);
                    CHECK((coded.state == plain.state));
                }
            }
        }
    }
}

TEST_CASE("fp8: codes follow weights that are written between steps", "[run]") {
    TrainingSpec training = in_fp8();
    const auto losses = [&](Compute form) {
        training.stream_weights = form;
        TinyTraining tiny(tiny_model(), training);
        std::vector<double> out = {tiny.run().loss};
        tiny.finish();
        tiny.store().initialise(5, TinyTraining::kDeviation);
        out.push_back(tiny.run().loss);
        return out;
    };
    CHECK(losses(Compute::fp8) == losses(Compute::bf16));
}

TEST_CASE("fp8: a number that is not finite, or overflows, changes no parameter", "[run]") {
    constexpr std::uint16_t kNan = 0x7FC0, kInfinity = 0x7F80, kLargest = 0x7F7F;
    for (const std::uint16_t bad : {kNan, kInfinity, kLargest}) {
        for (const auto& [code_layers, form] :
             {std::pair{0, Compute::bf16}, {5, Compute::bf16}, {0, Compute::fp8}}) {
            for (int section = 0; section < tiny_model().layer_count() + 2; ++section) {
                CAPTURE(bad, code_layers, section);
                TrainingSpec training = tiny_training();
                training.head_gradients = Compute::fp8;
                training.weight_code_layers = code_layers;
                training.stream_weights = form;
                TinyTraining tiny(tiny_model(), in_fp8(training));
                const bool embedding = section == tiny.store().embedding();
                if (embedding && bad == kLargest) continue;  // a norm makes zeros of that row
                const ParameterBlock& block = tiny.store().block(section);
                // Token 0 is in the batch.
                block.high[embedding ? 3 : block.count - 5] = bad;
                const std::string before = tiny.state();
                const StepOutcome outcome = tiny.run();
                tiny.finish();
                CHECK_FALSE(outcome.finite);
                CHECK((tiny.state() == before));
            }
        }
    }
}

TEST_CASE("fp8: a layer of zeros is one that does nothing, as in bf16", "[run]") {
    const auto outcome_of = [](const TrainingSpec& training) {
        TinyTraining tiny(tiny_model(), training, DType::fp32, 12, 2);
        for (int layer = 0; layer < tiny_model().layer_count(); ++layer) {
            const ParameterBlock& block = tiny.store().block(layer);
            std::fill_n(block.high, block.count, std::uint16_t{0});
        }
        const StepOutcome outcome = tiny.run();
        tiny.finish();
        return outcome;
    };
    // The residual stream passes zeros unchanged, so nothing is rounded before the head.
    const StepOutcome fp8 = outcome_of(in_fp8()), plain = outcome_of(tiny_training());
    CHECK(fp8.finite);
    CHECK(fp8.loss == plain.loss);
    CHECK(fp8.gradient_norm == plain.gradient_norm);
}
