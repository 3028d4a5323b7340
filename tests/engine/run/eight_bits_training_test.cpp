#include <cmath>
#include <cstdio>

#include "tests/engine/run/tiny_training.h"

using namespace sluice;

namespace {

/// All layers keep everything, gate and up with `bits` a number.
TrainingSpec keeping(std::int64_t bits) {
    TrainingSpec training = tiny_training();
    training.recompute = Recompute::none;
    training.kept_bits = bits;
    return training;
}

}  // namespace

TEST_CASE("eight bits: forward is the same to the bit, and gradients are near", "[run]") {
    TinyTraining exact(tiny_model(), keeping(16)), coded(tiny_model(), keeping(8));
    const StepOutcome a = exact.run(), b = coded.run();
    CHECK(a.loss == b.loss);
    CHECK(a.gradient_norm != b.gradient_norm);
    // Each number is off by 1/254 of its group's largest at most. A group has 52 numbers, whose
    // largest is about 2.5 of their deviations: 0.6% of a deviation on average, in gate and in up.
    CHECK(std::abs(a.gradient_norm - b.gradient_norm) < 0.01 * a.gradient_norm);
}

TEST_CASE("eight bits: a training's loss stays beside that of bf16", "[run]") {
    constexpr int kSteps = 30, kCycle = 2;
    TinyTraining exact(tiny_model(), keeping(16), DType::fp32, 12, kCycle);
    TinyTraining coded(tiny_model(), keeping(8), DType::fp32, 12, kCycle);
    double first = 0, last = 0, difference = 0;
    for (int i = 0; i < kSteps; ++i) {
        const StepOutcome a = exact.run(), b = coded.run();
        REQUIRE((a.finite && b.finite));
        difference = std::abs(a.loss - b.loss);
        if (i == 0) first = a.loss;
        last = a.loss;
    }
    std::printf("eight bits: loss from %.4f to %.4f, off by %.5f\n", first, last, difference);
    CHECK(last < 0.8 * first);
    CHECK(difference < 0.01 * (first - last));
}

TEST_CASE("eight bits: homes, slots and checkpoints change nothing", "[run]") {
    const TinyResult one = train(tiny_model(), keeping(8));
    TrainingSpec homes = keeping(8);
    homes.resident_layers = 3;
    homes.resident_tables = ResidentTables::both;
    homes.checkpoints = CheckpointPlacement::host;
    homes.buffer_depth = 1;
    CHECK(train(tiny_model(), homes).state == one.state);
    // Layers that keep nothing compute gate and up again, in bf16.
    TrainingSpec some = tiny_training();
    some.keep_last_layers = 2;
    some.kept_bits = 8;
    CHECK(train(tiny_model(), some).state != one.state);
    some.keep_last_layers = 0;
    CHECK(train(tiny_model(), some).state == train(tiny_model(), tiny_training()).state);
}

TEST_CASE("eight bits: micro-batches and chunks have the same codes", "[run]") {
    const TinyResult one = train(tiny_model(), keeping(8));
    TrainingSpec parts = keeping(8);
    parts.micro_batch = 2;
    parts.feed_forward_chunk_tokens = 7;
    const TinyResult other = train(tiny_model(), parts);
    CHECK(other.losses.front() == Approx(one.losses.front()).epsilon(1e-5));
    CHECK(other.losses.back() == Approx(one.losses.back()).epsilon(1e-4));
}
