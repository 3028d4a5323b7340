// Which settings has a run where none are given?
#pragma once

#include <cstdint>
#include <optional>

#include "engine/train/run_settings.h"

namespace sluice {

/// Those whose default depends on what the run starts from, as typed.
struct GivenSettings {
    std::optional<std::int64_t> steps, warmup_steps;
    std::optional<double> epochs, learning_rate, weight_decay, beta2, decay_share;
};

struct UsualSettings {
    double learning_rate, weight_decay, beta2;
    double warmup_share;  ///< of the steps
};
inline constexpr UsualSettings kPretraining{3e-4, 0.1, 0.95, 0};
/// As TRL's SFTConfig documents them (learning rate 2e-5; betas and weight decay are those of
/// transformers' TrainingArguments), with a short warm-up: Adam's first steps know no second
/// moment.
inline constexpr UsualSettings kFineTuning{2e-5, 0, 0.999, 0.03};
/// The same with ten times the rate, as TRL's page on peft advises for adapters.
inline constexpr UsualSettings kAdapterTuning{2e-4, 0, 0.999, 0.03};
/// kFineTuning for a run that loads weights, kAdapterTuning if only adapters are trained then.
const UsualSettings& usual_settings(const TrainSettings& settings,
                                    const TrainingSpec& training = {});

/// Learning rate, weight decay and beta2.
TrainSettings with_rates(TrainSettings settings, const GivenSettings& given,
                         const TrainingSpec& training = {});
/// Steps and those of the warm-up; an epoch has so many sequences, a step `batch` of them.
TrainSettings with_steps(TrainSettings settings, const GivenSettings& given,
                         std::int64_t epoch_sequences, std::int64_t batch);

}  // namespace sluice
