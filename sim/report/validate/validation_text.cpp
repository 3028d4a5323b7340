#include <fmt/format.h>

#include <algorithm>

#include "sim/answers/validate/phases.h"
#include "sim/base/format.h"
#include "sim/report/validate/validation_report.h"

namespace sluice {
namespace {

std::size_t name_width(const Validation& v) {
    std::size_t width = 16;
    for (const RunComparison& c : v.runs) width = std::max(width, c.run.name.size());
    return width;
}

bool several_groups(const Validation& v) { return v.summaries.size() > 1; }

bool several_processes(const Validation& v) { return process_spread(v.runs).has_value(); }

/// "1 of 2 outside", where there are several processes.
std::string outside(const RunComparison& c) {
    const int processes = c.run.process_count(), out = processes - c.steps_in_band().value_or(0);
    if (out == 0) return "";
    return processes == 1 ? "  outside" : fmt::format("  {} of {} outside", out, processes);
}

std::string process_columns(const RunComparison& c) {
    const auto spread = c.run.process_spread();
    return fmt::format("  {:>9} {:>6}", c.run.process_count(),
                       spread ? fmt::format("{:.1f}%", 100 * *spread) : "-");
}

std::string run_line(const RunComparison& c, std::size_t width, bool with_processes) {
    const std::string processes = with_processes ? process_columns(c) : "";
    const std::string band =
        c.in_band() ? fmt::format("  {:>8} to {:<8}{}", format_seconds(c.predicted.band->low),
                                  format_seconds(c.predicted.band->high), outside(c))
                    : "";
    std::string line = fmt::format(
        "{:<{}} {:>9} {:>9} {:>7}  {:>9} {:>9} {:>7}  {:>7} {:>7}{}{}", c.run.name, width,
        format_seconds(c.run.step), format_seconds(c.predicted.step.seconds),
        format_error(c.step_error()), format_thousands(c.run.tokens_per_s()),
        format_thousands(c.predicted.tokens_per_s()), format_error(c.throughput_error()),
        format_error(c.device_error()), format_error(c.host_error()), processes, band);
    return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

std::string run_lines(const Validation& v) {
    const std::size_t width = name_width(v);
    const bool band = std::any_of(v.runs.begin(), v.runs.end(),
                                  [](const RunComparison& c) { return c.in_band().has_value(); });
    const bool processes = several_processes(v);
    std::string out = fmt::format(
        "{:<{}} {:>27}  {:>19}  {:>7} {:>7}{}{}\n{:<{}} {:>9} {:>9} {:>7}  {:>9} {:>9}  {:>7} "
        "{:>7}{}{}\n",
        "", width, "step", "tokens/s", "device", "host", processes ? fmt::format("{:>18}", "") : "",
        band ? "  predicted step," : "", "run", width, "measured", "predicted", "delta", "measured",
        "predicted", "delta", "delta", processes ? "  processes spread" : "",
        band ? "  5 to 95%" : "");
    std::string group;
    for (const RunComparison& c : v.runs) {
        if (several_groups(v) && c.run.group != group) {
            group = c.run.group;
            out += group + "\n";
        }
        out += run_line(c, width, processes);
    }
    return out;
}

/// Of the runs whose schedules fall into these phases.
std::string phase_lines(const Validation& v, const std::vector<std::string>& names) {
    constexpr std::size_t kColumn = 17;
    std::string head = fmt::format("\n{:<{}}", "phases, measured", name_width(v)), rows;
    for (const std::string& name : names) head += fmt::format(" {:>{}}", name, kColumn);
    for (const RunComparison& c : v.runs) {
        if (c.phases.empty() || phase_names(c.run.training.schedule) != names) continue;
        rows += fmt::format("{:<{}}", c.run.name, name_width(v));
        for (const std::string& name : names) {
            const auto phase =
                std::find_if(c.phases.begin(), c.phases.end(),
                             [&](const PhaseComparison& p) { return p.name == name; });
            rows += phase == c.phases.end()
                        ? fmt::format(" {:>{}}", "-", kColumn)
                        : fmt::format(" {:>9} {:>7}", format_seconds(phase->measured),
                                      phase->measured > 0
                                          ? format_error(phase->predicted / phase->measured - 1)
                                          : "-");
        }
        rows += "\n";
    }
    return rows.empty() ? "" : head + "\n" + rows;
}

/// A table for each set of phases.
std::string all_phase_lines(const Validation& v) {
    std::vector<std::vector<std::string>> shown;
    std::string out;
    for (const ScheduleRecord& schedule : schedule_table()) {
        const std::vector<std::string> names = phase_names(Schedule(schedule));
        if (std::find(shown.begin(), shown.end(), names) != shown.end()) continue;
        out += phase_lines(v, names);
        shown.push_back(names);
    }
    return out;
}

std::string worst_of(const char* name, const ErrorSummary& errors) {
    if (errors.count == 0) return "";
    return fmt::format("  {:<12} mean {:>5.1f}%, worst {} ({})\n", name, 100 * errors.mean_absolute,
                       format_error(errors.worst), errors.worst_name);
}

/// Tokens/s by what limits them; nothing where it is the same everywhere.
std::string bound_lines(const std::vector<BoundSummary>& bounds) {
    std::string out;
    if (bounds.size() < 2) return out;
    for (const BoundSummary& bound : bounds)
        out += fmt::format(
            "    of {} bound by {}: mean {:.1f}%, worst {}\n", bound.throughput.count, bound.bound,
            100 * bound.throughput.mean_absolute, format_error(bound.throughput.worst));
    return out;
}

std::string summary_lines(const GroupSummary& s) {
    std::string out = fmt::format(
        "\n{}: {}{}\n", s.group.empty() ? "all" : s.group, format_number_of(s.runs, "run"),
        s.processes > s.runs ? fmt::format(", {} processes", s.processes) : "");
    out += worst_of("tokens/s", s.throughput) + bound_lines(s.bounds) +
           worst_of("device", s.device) + worst_of("host", s.host);
    if (s.tau_b)
        out += fmt::format("  {:<12} Kendall's tau-b of predicted and measured tokens/s {:.2f}\n",
                           "order", *s.tau_b);
    if (s.with_band > 0)
        out += fmt::format(
            "  {:<12} {} of {} ({:.0f}%) measured within the predicted 5 to "
            "95%; 85 to 97% are wanted\n",
            "band", s.in_band, format_number_of(s.with_band, "step"),
            100.0 * s.in_band / s.with_band);
    return out;
}

std::string option_line(const OptionSet& set) {
    const Option& option =
        *std::find_if(training_options().begin(), training_options().end(),
                      [&](const Option& candidate) { return set.option == candidate.field; });
    std::string values;
    for (const RunComparison* run : set.runs)
        values += (values.empty() ? "" : ", ") + option_text(run->run.training, option);
    return fmt::format(
        "  {} of {}: predicted best {}, measured best {}; the choice loses {:.1f}% ({} ...)\n",
        set.option, values, option_text(set.predicted_best->run.training, option),
        option_text(set.measured_best->run.training, option), 100 * set.loss(),
        set.runs.front()->run.name);
}

std::string option_lines(const Validation& v) {
    std::string out;
    for (const OptionSet& set : option_sets(v.runs)) out += option_line(set);
    return out.empty() ? "" : "\nruns that differ in one option only\n" + out;
}

std::string process_lines(const Validation& v) {
    const auto spread = process_spread(v.runs);
    if (!spread) return "";
    return fmt::format(
        "\nprocesses of one configuration ({} in {}) differ from the mean of their steps by "
        "{:.1f}% "
        "on average, worst {:.1f}% ({}):\nno prediction can be nearer to single processes\n",
        spread->processes, spread->configurations, 100 * spread->mean, 100 * spread->worst,
        spread->worst_name);
}

}  // namespace

std::string validation_text(const Validation& v) {
    std::string out = fmt::format("predictions for {}", v.machine_id);
    if (!v.machine_changes.empty())
        out += fmt::format(", what-if: {}", fmt::join(v.machine_changes, " "));
    out += "\ndelta: predicted / measured - 1\n";
    if (several_processes(v))
        out +=
            "measured: mean of the processes that ran the same; spread: the farthest of them from "
            "it\n";
    out += "\n" + run_lines(v) + all_phase_lines(v);
    for (const GroupSummary& summary : v.summaries) out += summary_lines(summary);
    out += option_lines(v) + process_lines(v);
    for (const RunComparison& c : v.runs)
        if (!c.predicted.plan.fit.fits())
            out += fmt::format("\n{}: predicted not to fit, and timed as if it did\n", c.run.name);
    for (const auto* sentences : {&v.other_machines, &v.left_out})
        for (const std::string& sentence : *sentences) out += "\n" + sentence + "\n";
    return out;
}

}  // namespace sluice
