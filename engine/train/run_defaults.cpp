#include "engine/train/run_defaults.h"

#include <algorithm>
#include <cmath>

namespace sluice {

const UsualSettings& usual_settings(const TrainSettings& settings, const TrainingSpec& training) {
    if (!settings.load) return kPretraining;
    return training.adapter_rank > 0 ? kAdapterTuning : kFineTuning;
}

TrainSettings with_rates(TrainSettings settings, const GivenSettings& given,
                         const TrainingSpec& training) {
    const UsualSettings& usual = usual_settings(settings, training);
    settings.learning_rate = given.learning_rate.value_or(usual.learning_rate);
    settings.weight_decay = given.weight_decay.value_or(usual.weight_decay);
    settings.beta2 = given.beta2.value_or(usual.beta2);
    settings.decay_share = given.decay_share.value_or(settings.decay_share);
    return settings;
}

TrainSettings with_steps(TrainSettings settings, const GivenSettings& given,
                         std::int64_t epoch_sequences, std::int64_t batch) {
    const auto whole = [](double number) { return static_cast<std::int64_t>(std::ceil(number)); };
    if (given.steps) {
        settings.steps = *given.steps;
    } else if (given.epochs) {
        // 0.1 * 30 is more than 3 in binary: no step follows for that.
        const double sequences =
            std::round(*given.epochs * static_cast<double>(epoch_sequences) * 1e6) / 1e6;
        settings.steps = std::max<std::int64_t>(1, whole(sequences / static_cast<double>(batch)));
    }
    const double warmup =
        usual_settings(settings).warmup_share * static_cast<double>(settings.steps);
    settings.warmup_steps = given.warmup_steps.value_or(whole(warmup));
    return settings;
}

}  // namespace sluice
