#include "sim/answers/search/nearby_settings.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <vector>

#include "sim/answers/predict/predict.h"
#include "sim/base/input_error.h"

namespace sluice {
namespace {

/// Layers that can keep everything for backward; each takes as much memory.
std::int64_t most_layers_kept(const ModelSpec& model, const MachineSpec& machine,
                              TrainingSpec training) {
    std::int64_t low = 0, high = model.layer_count() + 1;
    while (high - low > 1) {
        training.keep_last_layers = (low + high) / 2;
        (fits_machine(model, machine, training) ? low : high) = training.keep_last_layers;
    }
    return low;
}

}  // namespace

std::vector<NearbyChoice> nearby_choices(const ModelSpec& model, const MachineSpec& machine,
                                         const TrainingSpec& asked,
                                         const std::set<std::string>& fixed) {
    std::vector<NearbyChoice> out;
    if (!asked.schedule->ours) return out;
    const auto try_value = [&](const char* field, const std::string& value) {
        if (fixed.contains(field)) return;
        for (const Option& option : training_options()) {
            if (std::string_view(option.field) != field) continue;
            TrainingSpec training = asked;
            set_option(training, option, value, option_flag(option));
            if (option.get(training) == option.get(asked)) return;
            try {
                check_training_spec(training);
            } catch (const InputError&) {
                return;  // does not go with the other settings
            }
            out.push_back({training, fmt::format("{} {}", option_flag(option), value)});
        }
    };
    for (const Option& option : training_options())
        if (std::string_view(option.field) == "recompute")
            for (const Choice& choice : option.choices) try_value("recompute", choice.name);
    if (const std::int64_t layers = most_layers_kept(model, machine, asked))
        try_value("keep_last_layers", std::to_string(layers));
    for (std::int64_t micro = 2 * asked.micro_batch_sequences(); micro <= asked.batch; micro *= 2)
        try_value("micro_batch", std::to_string(micro));
    return out;
}

bool fits_machine(const ModelSpec& model, const MachineSpec& machine,
                  const TrainingSpec& training) {
    return check_fit(plan_step(model, machine, training), machine, training).fits();
}

std::optional<NearbySettings> fastest_nearby(const ModelSpec& model, const MachineSpec& machine,
                                             const TrainingSpec& asked,
                                             const std::set<std::string>& fixed) {
    std::vector<NearbyChoice> choices = nearby_choices(model, machine, asked, fixed);
    choices.insert(choices.begin(), {asked, ""});
    std::optional<NearbySettings> best;
    for (const auto& [training, flags] : choices) {
        if (!fits_machine(model, machine, training)) continue;
        Prediction report = predict(model, machine, training);
        if (!best || report.step.seconds < kWorthChanging * best->report.step.seconds)
            best = NearbySettings{training, flags, std::move(report)};
    }
    return best;
}

}  // namespace sluice
