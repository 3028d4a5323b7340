// Sentences about which system is faster, and which systems do not count.
#include <fmt/format.h>

#include <algorithm>

#include "sim/answers/predict/lead.h"
#include "sim/report/answers/beside_speed.h"
#include "sim/report/answers/findings.h"
#include "sim/report/report.h"

namespace sluice {
namespace {

/// ", in 97 of 100 cases"
std::string in_cases(double lead, const Prediction& a, const Prediction& b) {
    return a.band && b.band ? ", " + cases_words(lead_holds(lead, a, b)) : "";
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
                       in_cases(relative, other.report, ours.report), other_states(ours, other));
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

/// "streamed does not fit with the given settings (with --state-bytes 8: 549 tokens/s); ", or "" if
/// it only does not run.
std::string ours_does_not_fit(const ComparedSystem& ours) {
    if (ours.fits()) return "";
    const std::string changed =
        ours.suggested_tokens_per_s
            ? fmt::format(" (with {}: {} tokens/s)",
                          setting_flags(ours.report.advice.suggestions.front().settings),
                          format_thousands(*ours.suggested_tokens_per_s))
            : "";
    return fmt::format("{} does not fit with the given settings{}; ", ours.name, changed);
}

/// Systems that fit but that findings do not count.
std::vector<NamedToday> not_counted(const Comparison& comparison) {
    std::vector<NamedToday> out;
    for (const ComparedSystem& system : comparison.systems)
        if (system.fits() && !comparison.counts(system))
            out.emplace_back(system.name, &system.report.asked.runs_today);
    return out;
}

/// "that fits", "that fits and runs today".
std::string counted_words(const Comparison& comparison) {
    return not_counted(comparison).empty() ? "that fits" : "that fits and runs today";
}

/// The fastest system that fits, where our own cannot be compared.
std::string fastest_sentence(const Comparison& comparison) {
    const ComparedSystem* fastest = nullptr;
    std::string start;
    for (const ComparedSystem& system : comparison.systems) {
        const double speed = system.report.tokens_per_s();
        if (system.report.asked.training.schedule->ours) start = ours_does_not_fit(system);
        if (system.fits() && comparison.counts(system) &&
            (fastest == nullptr || speed > fastest->report.tokens_per_s()))
            fastest = &system;
    }
    if (fastest == nullptr)
        return not_counted(comparison).empty() ? "no system fits with the given settings"
                                               : "no system that fits runs here today";
    return fmt::format("{}the fastest {} is {}: {} tokens/s", start, counted_words(comparison),
                       fastest->name, format_thousands(fastest->report.tokens_per_s()));
}

/// Which systems are faster than ours, or that none is.
std::vector<std::string> against_ours(const Comparison& comparison, const ComparedSystem& ours) {
    std::vector<std::string> out;
    bool another_fits = false;
    for (const ComparedSystem& other : comparison.systems) {
        if (&other == &ours) continue;
        another_fits = another_fits || other.fits();
        if (!comparison.counts(other)) continue;
        if (other.fits() && other.report.step.seconds < ours.report.step.seconds) {
            out.push_back(faster_sentence(ours, other));
        } else if (!other.fits() &&
                   other.suggested_tokens_per_s.value_or(0) > ours.report.tokens_per_s() &&
                   other.suggestion_keeps_sequence()) {
            out.push_back(faster_if_changed(ours, other));
        }
    }
    if (!out.empty()) return out;
    return {another_fits ? fmt::format("no other system {} is faster than {}",
                                       counted_words(comparison), ours.name)
                         : "no other system fits, only " + ours.name};
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

std::string not_today(const Comparison& comparison) {
    const std::string words = not_today_words(not_counted(comparison));
    return words.empty() ? ""
                         : "not counted, since no program trains this way here today: " + words;
}

std::vector<std::string> verdict(const Comparison& comparison) {
    const ComparedSystem* const ours = comparison.ours();
    std::vector<std::string> out;
    if (comparison.systems.size() > 1)
        out = ours == nullptr || !comparison.counts(*ours)
                  ? std::vector{fastest_sentence(comparison)}
                  : against_ours(comparison, *ours);
    if (std::string left_out = not_today(comparison); !left_out.empty())
        out.push_back(std::move(left_out));
    return out;
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

}  // namespace sluice
