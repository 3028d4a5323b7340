#include "sim/report/answers/findings.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/format.h"
#include "sim/base/input_error.h"
#include "sim/base/units.h"
#include "sim/report/answers/beside_speed.h"
#include "sim/report/report.h"

namespace sluice {
namespace {

std::string bytes_text(Bytes bytes) { return format_bytes(bytes); }

/// ", 0.36x of streamed"; empty where that would compare different work.
std::string of_ours(const Comparison& comparison, const ComparedSystem& system) {
    const auto relative = relative_to_ours(comparison, *system.suggested_tokens_per_s);
    if (!relative) return "";
    if (!system.suggestion_keeps_sequence()) return " (of shorter sequences)";
    return fmt::format(", {:.2f}x of {}", *relative, comparison.ours()->name);
}

std::string would_fit(const Comparison& comparison, const ComparedSystem& system,
                      const BytesText& bytes) {
    if (system.report.advice.suggestions.empty())
        return no_suggestion_text(system.report.advice.no_suggestion.value_or(NoSuggestion()),
                                  bytes);
    const Suggestion& first = system.report.advice.suggestions.front();
    return fmt::format("{}: {} tokens/s{}", suggestion_text(first, bytes),
                       format_thousands(*system.suggested_tokens_per_s),
                       of_ours(comparison, system));
}

}  // namespace

std::pair<Lane, double> bound_of(const Prediction& report) {
    const Lane lane = report.step.bottleneck();
    return {lane, report.step.critical_shares[lane]};
}

std::string short_by(const Prediction& report) {
    const Bytes device = report.plan.fit.device().shortfall(),
                host = report.plan.fit.host().shortfall();
    std::vector<std::string> parts;
    if (device > 0) parts.push_back("device short " + bytes_text(device));
    if (host > 0)
        parts.push_back((report.plan.unified_memory ? "shared memory short " : "host short ") +
                        bytes_text(host));
    return fmt::format("{}", fmt::join(parts, ", "));
}

Settings own_settings(const TrainingSpec& training) {
    Settings out;
    for (const Option& option : training_options()) {
        const std::string_view field = option.field;
        const bool same_for_all = field == "schedule" || field == "batch" || field == "seq";
        const bool left_open = option.choices.empty() && option.get(training) == 0;
        if (!same_for_all && !left_open && has_option(training.schedule, option))
            out.emplace_back(option.field, option_text(training, option));
    }
    return out;
}

Settings changed_own_settings(const TrainingSpec& training) {
    Settings out;
    TrainingSpec standard;
    standard.schedule = training.schedule;
    standard.batch = training.batch;
    standard.sequence = training.sequence;
    for (const Setting& one : changed_settings(standard, training))
        if (has_option(training.schedule, training_option(one.field)))
            out.emplace_back(one.field, one.value);
    return out;
}

Settings shown_settings(const Prediction& report) {
    const TrainingSpec& training = report.asked.training;
    Settings out = changed_own_settings(training);
    if (report.settings_of != SettingsOf::users) return out;
    for (const auto& [name, value] : training.schedule->users_run) {
        const std::string field(name);
        if (std::ranges::find(out, field, &Settings::value_type::first) == out.end())
            out.emplace_back(field, option_text(training, training_option(field)));
    }
    return out;
}

std::string settings_text(const Settings& settings) {
    if (settings.empty()) return "default settings";
    std::vector<std::string> parts;
    for (const auto& [field, value] : settings) parts.push_back(field + " " + value);
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string states_of(const TrainingSpec& training) {
    const auto [master, moments] = kept_states(training);
    return fmt::format("{} master + {} moments", master, moments);
}

std::string micro_batch_words(const ComparedSystem& system) {
    if (system.short_of_whole_batch == 0) return "";
    const Prediction& r = system.report;
    const bool cut = r.asked.training.micro_batch > 0;
    std::string how = cut ? fmt::format("in micro-batches of {}, the largest that fits",
                                        r.asked.training.micro_batch)
                          : "";
    if (r.asked.training.checkpoints == CheckpointPlacement::host)
        how += cut ? ", with checkpoints on the host" : "with checkpoints on the host";
    return fmt::format("{}: {}; with {} at once{} {} is {} short", system.name, how,
                       r.asked.training.batch_of_a_gpu(),
                       cut ? "" : " and checkpoints on the device",
                       r.plan.unified_memory ? "shared memory" : "the device",
                       bytes_text(system.short_of_whole_batch));
}

std::vector<Setting> system_settings(const ComparedSystem& system) {
    const TrainingSpec& training = system.report.asked.training;
    std::vector<Setting> out;
    for (const Option& option : training_options()) {
        const std::string_view field = option.field;
        const bool chosen = system.short_of_whole_batch > 0 &&
                            (field == "micro_batch" || field == "checkpoints") &&
                            option.get(training) != option.get(TrainingSpec{});
        if (field == "schedule" || chosen)
            out.push_back({option.field, option_text(training, option)});
    }
    if (system.report.choice)
        for (const ChosenSetting& one : system.report.choice->settings) out.push_back(one.setting);
    if (system.report.settings_of == SettingsOf::users)
        for (const auto& [field, value] : training.schedule->users_run)
            out.push_back({std::string(field), option_text(training, training_option(field))});
    return out;
}

std::vector<std::string> misfit_words(const Comparison& comparison, const ComparedSystem& system,
                                      const BytesText& bytes) {
    std::vector<std::string> out = shortages(system.report.plan, bytes);
    out.push_back(would_fit(comparison, system, bytes));
    return out;
}

std::vector<SharedAssumption> shared_assumptions(const Comparison& comparison) {
    std::vector<SharedAssumption> out;
    for (const ComparedSystem& system : comparison.systems) {
        for (const std::string& sentence : system.report.plan.assumptions) {
            const auto known =
                std::find_if(out.begin(), out.end(), [&](const SharedAssumption& assumption) {
                    return assumption.sentence == sentence;
                });
            if (known == out.end()) {
                out.push_back({sentence, {system.name}});
            } else {
                known->systems.push_back(system.name);
            }
        }
    }
    return out;
}

std::vector<Setting> settings_beside_defaults(const TrainingSpec& training) {
    TrainingSpec standard;
    standard.batch = standard.sequence = 0;  // so that these always differ
    return changed_settings(standard, training);
}

std::string settings_flags(const TrainingSpec& training) {
    return setting_flags(settings_beside_defaults(training));
}

GroupedAssumptions grouped_assumptions(const Comparison& comparison) {
    GroupedAssumptions out;
    for (SharedAssumption& assumption : shared_assumptions(comparison)) {
        auto group = std::find_if(out.begin(), out.end(), [&](const auto& known) {
            return known.first == assumption.systems;
        });
        if (group == out.end()) group = out.insert(group, {assumption.systems, {}});
        group->second.push_back(std::move(assumption.sentence));
    }
    return out;
}

}  // namespace sluice
