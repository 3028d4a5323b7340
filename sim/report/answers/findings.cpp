#include "sim/report/answers/findings.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/format.h"
#include "sim/base/input_error.h"
#include "sim/report/report.h"

namespace sluice {
namespace {

std::string bytes_text(Bytes bytes) { return format_bytes(bytes); }

/// The speed of shorter sequences is not comparable, since their tokens are less work.
bool of_the_same_sequence(const Comparison& comparison, const ComparedSystem& system) {
    return system.report.advice.suggestions.front().training.sequence ==
           comparison.shared().asked.training.sequence;
}

/// ", 0.36x of streamed"; empty where that would compare different work.
std::string of_ours(const Comparison& comparison, const ComparedSystem& system) {
    const auto relative = relative_to_ours(comparison, *system.suggested_tokens_per_s);
    if (!relative) return "";
    if (!of_the_same_sequence(comparison, system)) return " (of shorter sequences)";
    return fmt::format(", {:.2f}x of {}", *relative, comparison.ours()->name);
}

std::string would_fit(const Comparison& comparison, const ComparedSystem& system,
                      const BytesText& bytes) {
    if (system.report.advice.suggestions.empty())
        return no_suggestion_text(system.report.advice.no_suggestion.value_or(NoSuggestion()),
                                  bytes);
    const Suggestion& first = system.report.advice.suggestions.front();
    return fmt::format("fits with {} (device {}, host {}): {} tokens/s{}",
                       setting_flags(first.settings), bytes(first.device_peak),
                       bytes(first.host_peak), format_thousands(*system.suggested_tokens_per_s),
                       of_ours(comparison, system));
}

bool bands_overlap(const Prediction& a, const Prediction& b) {
    return a.band && b.band && a.band->high >= b.band->low && b.band->high >= a.band->low;
}

/// A warning where two systems keep different optimizer states, since they then train differently.
std::string other_states(const ComparedSystem& ours, const ComparedSystem& other) {
    const std::string own = states_of(ours.report.asked.training);
    const std::string others = states_of(other.report.asked.training);
    return own == others ? "" : fmt::format("; it keeps {}, {} {}", others, ours.name, own);
}

std::string faster_sentence(const ComparedSystem& ours, const ComparedSystem& other) {
    const double relative = other.report.tokens_per_s() / ours.report.tokens_per_s();
    return fmt::format("{} is faster than {}: {} tokens/s against {}, {:.2f}x{}{}", other.name,
                       ours.name, format_thousands(other.report.tokens_per_s()),
                       format_thousands(ours.report.tokens_per_s()), relative,
                       bands_overlap(ours.report, other.report) ? "; their bands overlap" : "",
                       other_states(ours, other));
}

/// The sentence for a system that fits only with other settings.
std::string faster_if_changed(const ComparedSystem& ours, const ComparedSystem& other) {
    return fmt::format(
        "{} does not fit with the given settings, but with {} is faster than {}: {} tokens/s "
        "against {}{}",
        other.name, setting_flags(other.report.advice.suggestions.front().settings), ours.name,
        format_thousands(*other.suggested_tokens_per_s),
        format_thousands(ours.report.tokens_per_s()), other_states(ours, other));
}

/// "streamed does not fit with the given settings (with --state-bytes 8: 549 tokens/s); ".
std::string ours_does_not_fit(const ComparedSystem& ours) {
    const std::string changed =
        ours.suggested_tokens_per_s
            ? fmt::format(" (with {}: {} tokens/s)",
                          setting_flags(ours.report.advice.suggestions.front().settings),
                          format_thousands(*ours.suggested_tokens_per_s))
            : "";
    return fmt::format("{} does not fit with the given settings{}; ", ours.name, changed);
}

/// The fastest system that fits, where our own cannot be compared.
std::string fastest_sentence(const Comparison& comparison) {
    const ComparedSystem* fastest = nullptr;
    std::string start;
    for (const ComparedSystem& system : comparison.systems) {
        const double speed = system.report.tokens_per_s();
        if (system.report.asked.training.schedule->ours) start = ours_does_not_fit(system);
        if (system.fits() && (fastest == nullptr || speed > fastest->report.tokens_per_s()))
            fastest = &system;
    }
    if (fastest == nullptr) return "no system fits with the given settings";
    return fmt::format("{}the fastest that fits is {}: {} tokens/s", start, fastest->name,
                       format_thousands(fastest->report.tokens_per_s()));
}

/// Layers and relative speed of the system at that index, in the first and last comparison where it
/// has one.
std::vector<std::pair<int, double>> relative_by_layers(std::span<const Comparison> comparisons,
                                                       std::size_t place) {
    std::vector<std::pair<int, double>> out;
    for (const Comparison& comparison : comparisons)
        if (const auto relative = relative_speed(comparison, comparison.systems[place]))
            out.emplace_back(comparison.shared().asked.layers, *relative);
    return out;
}

}  // namespace

std::pair<Lane, double> bound_of(const Prediction& report) {
    const auto& shares = report.step.critical_shares;
    const auto largest = std::max_element(shares.begin(), shares.end());
    return {static_cast<Lane>(largest - shares.begin()), *largest};
}

std::string short_by(const Prediction& report) {
    const Bytes device = report.plan.fit.device.shortfall(),
                host = report.plan.fit.host.shortfall();
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

std::string settings_text(const Settings& settings) {
    std::vector<std::string> parts;
    for (const auto& [field, value] : settings) parts.push_back(field + " " + value);
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string states_of(const TrainingSpec& training) {
    const ScheduleRecord& schedule = *training.schedule;
    const char* moments = schedule.moments;
    if (training.state_bytes == 8) moments = "bf16";
    if (training.state_bytes == 6) moments = "8-bit";
    return fmt::format("{} master + {} moments", schedule.master, moments);
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
    return out;
}

std::vector<std::string> misfit_words(const Comparison& comparison, const ComparedSystem& system,
                                      const BytesText& bytes) {
    std::vector<std::string> out = shortages(system.report.plan, bytes);
    out.push_back(would_fit(comparison, system, bytes));
    return out;
}

std::vector<std::string> verdict(const Comparison& comparison) {
    const ComparedSystem* const ours = comparison.ours();
    if (comparison.systems.size() == 1) return {};
    if (ours == nullptr) return {fastest_sentence(comparison)};
    std::vector<std::string> out;
    bool another_fits = false;
    for (const ComparedSystem& other : comparison.systems) {
        if (&other == ours) continue;
        another_fits = another_fits || other.fits();
        if (other.fits() && other.report.step.seconds < ours->report.step.seconds) {
            out.push_back(faster_sentence(*ours, other));
        } else if (!other.fits() &&
                   other.suggested_tokens_per_s.value_or(0) > ours->report.tokens_per_s() &&
                   of_the_same_sequence(comparison, other)) {
            out.push_back(faster_if_changed(*ours, other));
        }
    }
    if (!out.empty()) return out;
    return {another_fits ? "no other system that fits is faster than " + ours->name
                         : "no other system fits, only " + ours->name};
}

std::vector<std::string> trend(std::span<const Comparison> comparisons) {
    std::vector<std::string> out;
    const std::vector<ComparedSystem>& systems = comparisons.front().systems;
    for (std::size_t i = 0; i < systems.size(); ++i) {
        if (systems[i].report.asked.training.schedule->ours) continue;
        const auto points = relative_by_layers(comparisons, i);
        if (points.size() < 2) continue;
        const auto& [first_layers, first] = points.front();
        const auto& [last_layers, last] = points.back();
        out.push_back(fmt::format("{}: {:.2f}x of {} with {}, {:.2f}x with {}", systems[i].name,
                                  first, Schedule()->name, format_number_of(first_layers, "layer"),
                                  last, last_layers));
        std::vector<int> faster;
        for (const auto& [layers, relative] : points)
            if (relative > 1) faster.push_back(layers);
        if (!faster.empty())
            out.back() += fmt::format("; it is faster with {}", fmt::join(faster, ", "));
    }
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

std::string settings_flags(const TrainingSpec& training) {
    TrainingSpec standard;
    standard.batch = standard.sequence = 0;  // so that these always differ
    return setting_flags(changed_settings(standard, training));
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
