// A training of any schedule, for tests of what holds for all of them. It may break rules.
#pragma once

#include <random>
#include <vector>

#include "sim/specs/scenario/training_spec.h"

namespace sluice::test {

template <typename T>
T any_of(std::mt19937& random, const std::vector<T>& values) {
    return values[random() % values.size()];
}

inline TrainingSpec any_training(std::mt19937& random) {
    TrainingSpec t;
    t.batch = any_of<std::int64_t>(random, {1, 2, 4, 8, 16, 32, 64, 128});
    t.sequence = any_of<std::int64_t>(random, {512, 1024, 4096});
    // Each that there is, and ours, which has the most settings, as often as all others.
    const Option& schedule = training_options().front();
    if (random() % 2 == 0) schedule.set(t, any_of(random, schedule.choices).value);
    if (t.schedule != Schedule("streamed")) return t;
    t.micro_batch = any_of<std::int64_t>(random, {0, 0, 1, 2, 4});
    t.buffer_depth = any_of<std::int64_t>(random, {1, 2, 3, 4});
    t.gradient_slabs = any_of<std::int64_t>(random, {1, 2, 3});
    t.recompute =
        any_of<Recompute>(random, {Recompute::full, Recompute::keep_attention, Recompute::none});
    t.checkpoints = any_of<CheckpointPlacement>(
        random, {CheckpointPlacement::device, CheckpointPlacement::host});
    t.state_bytes = any_of<std::int64_t>(random, {12, 8, 6, 5, 4});
    t.clipping = any_of<Clipping>(random, {Clipping::speculative, Clipping::exact, Clipping::off});
    return t;
}

}  // namespace sluice::test
