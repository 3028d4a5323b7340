#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/answers/validate/compare_run.h"
#include "sim/answers/validate/operation_errors.h"
#include "sim/answers/validate/validation.h"
#include "sim/base/json_text.h"
#include "sim/report/answers/answer_reports.h"
#include "sim/report/to_svg.h"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;
using Run = RunComparison;

/// Only if several processes ran one configuration.
bool several_processes(const Validation& v) { return process_spread(v.runs).has_value(); }

/// Steps by phase, one table for each set of phases.
std::vector<Table> phase_tables(const Validation& v) {
    std::vector<std::vector<std::string>> sets;
    for (const Run& c : v.runs) {
        const std::vector<std::string> names = phase_names(c.run.training.schedule);
        if (!c.phases.empty() && std::find(sets.begin(), sets.end(), names) == sets.end())
            sets.push_back(names);
    }
    std::vector<Table> out;
    for (const std::vector<std::string>& names : sets) {
        std::vector<Run> runs;
        std::copy_if(v.runs.begin(), v.runs.end(), std::back_inserter(runs), [&](const Run& c) {
            return !c.phases.empty() && phase_names(c.run.training.schedule) == names;
        });
        std::vector<ColumnOf<Run>> columns = {{"", "phases", [](auto& c) { return c.run.name; }}};
        for (const std::string& name : names) {
            const auto phase_of = [name](const Run& c) {
                return std::find_if(c.phases.begin(), c.phases.end(),
                                    [&](const PhaseComparison& one) { return one.name == name; });
            };
            columns.push_back({"", name + "\nmeasured", Unit::seconds, [phase_of](auto& c) {
                                   const auto phase = phase_of(c);
                                   return phase == c.phases.end() ? Cell() : Cell(phase->measured);
                               }});
            columns.push_back({"", "\ndelta", Unit::change, [phase_of](auto& c) {
                                   const auto phase = phase_of(c);
                                   return phase == c.phases.end() || phase->measured <= 0
                                              ? Cell()
                                              : Cell(phase->predicted / phase->measured - 1);
                               }});
        }
        out.push_back(table_of<Run>(runs, columns));
    }
    return out;
}

std::string heading(const GroupSummary& s) {
    std::string out =
        fmt::format("{}: {}", s.group.empty() ? "all" : s.group, format_number_of(s.runs, "run"));
    if (s.processes > s.runs) out += fmt::format(", {} processes", s.processes);
    if (s.tau_b) out += fmt::format("; order: Kendall's tau-b {:.2f}", *s.tau_b);
    if (s.with_band > 0)
        out += fmt::format("; band: {} of {} ({:.0f}%)", s.in_band,
                           format_number_of(s.with_band, "step"), 100.0 * s.in_band / s.with_band);
    return out;
}

/// Errors of each group: tokens/s, tokens/s by the limiting lane where that differs, memory.
Table errors_table(const Validation& v) {
    Table out{{{"", "error of", Unit::text},
               {"", "runs", Unit::whole},
               {"", "mean", Unit::error},
               {"", "worst", Unit::change},
               {"", "worst run", Unit::text}}};
    for (const GroupSummary& s : v.summaries) {
        std::string group = heading(s);
        const auto add = [&](const std::string& name, const ErrorSummary& errors) {
            if (errors.count == 0) return;
            out.rows.push_back(
                {{name, errors.count, errors.mean_absolute, errors.worst, errors.worst_name},
                 std::exchange(group, "")});
        };
        add("  tokens/s", s.throughput);
        if (s.bounds.size() > 1)
            for (const BoundSummary& bound : s.bounds)
                add("    bound by " + bound.bound, bound.throughput);
        add("  device memory", s.device);
        add("  host memory", s.host);
    }
    return out;
}

constexpr const char* kAboutErrors =
    "order: of predicted against measured tokens/s. band: measured steps within the predicted 5 to "
    "95%; 85 to 97% are wanted";

std::string option_text_of(const OptionSet& set) {
    const Option& option = training_option(set.option);
    const auto value = [&](const Run* run) { return option_text(run->run.training, option); };
    std::string values;
    for (const Run* run : set.runs) values += (values.empty() ? "" : ", ") + value(run);
    return fmt::format(
        "  {} of {}: predicted best {}, measured best {}; the choice loses {:.1f}% ({} ...)\n",
        set.option, values, value(set.predicted_best), value(set.measured_best), 100 * set.loss(),
        set.runs.front()->run.name);
}

/// The differences between processes, then the runs that are not compared.
std::vector<std::string> notes(const Validation& v) {
    std::vector<std::string> out;
    if (const auto spread = process_spread(v.runs))
        out.push_back(fmt::format(
            "processes of one configuration ({} in {}) differ from the mean of their steps by "
            "{:.1f}% on average, worst {:.1f}% ({}): no prediction can be nearer to single "
            "processes",
            spread->processes, spread->configurations, 100 * spread->mean, 100 * spread->worst,
            spread->worst_name));
    for (const Run& c : v.runs)
        if (c.run.updates_ahead)
            out.push_back(
                fmt::format("{}: clipped nothing, so that updates began before the norm was known; "
                            "the prediction is of such a step",
                            c.run.name));
    for (const Run& c : v.runs)
        if (!c.predicted.plan.fit.fits())
            out.push_back(
                fmt::format("{}: predicted not to fit; its times are predicted without that limit",
                            c.run.name));
    out.insert(out.end(), v.other_machines.begin(), v.other_machines.end());
    out.insert(out.end(), v.left_out.begin(), v.left_out.end());
    return out;
}

std::string what_if(const Validation& v) {
    return v.machine_changes.empty()
               ? ""
               : fmt::format("what-if: {}", fmt::join(v.machine_changes, " "));
}

/// For people: with one heading per group, and without columns that are empty here.
Table shown_runs(const Validation& v) {
    Table out = validation_table(v);
    if (!several_processes(v))
        for (Column& column : out.columns)
            if (column.key == "processes") column.title.clear();
    if (v.summaries.size() < 2) return out;
    for (std::size_t i = 0; i < v.runs.size(); ++i)
        if (i == 0 || v.runs[i].run.group != v.runs[i - 1].run.group)
            out.rows[i].heading = v.runs[i].run.group;
    return out;
}

Json processes_json(const MeasuredRun& run) {
    if (run.processes.empty()) return Json::array({{{"file", run.file}, {"step_s", run.step}}});
    return to_json(table_of<MeasuredProcess>(
        run.processes, {{"file", "", &MeasuredProcess::file},
                        {"step_s", "", Unit::seconds, &MeasuredProcess::step}}));
}

Json errors_json(const ErrorSummary& errors) {
    if (errors.count == 0) return Json();
    return {{"runs", errors.count},
            {"mean_absolute_error", errors.mean_absolute},
            {"worst_error", errors.worst},
            {"worst_run", errors.worst_name}};
}

Json summary_json(const GroupSummary& s) {
    Json bounds = Json::object();
    for (const BoundSummary& bound : s.bounds) bounds[bound.bound] = errors_json(bound.throughput);
    return {{"group", s.group.empty() ? Json() : Json(s.group)},
            {"runs", s.runs},
            {"processes", s.processes},
            {"throughput", errors_json(s.throughput)},
            {"throughput_by_predicted_bottleneck", bounds},
            {"device", errors_json(s.device)},
            {"host", errors_json(s.host)},
            {"kendall_tau_b", s.tau_b ? Json(*s.tau_b) : Json()},
            {"processes_with_band", s.with_band},
            {"processes_in_band", s.in_band}};
}

Json set_json(const OptionSet& set) {
    Json names = Json::array();
    for (const Run* run : set.runs) names.push_back(run->run.name);
    return {{"option", set.option},
            {"runs", names},
            {"predicted_best", set.predicted_best->run.name},
            {"measured_best", set.measured_best->run.name},
            {"loss", set.loss()}};
}

}  // namespace

std::string validation_csv(const Validation& v) { return to_csv(validation_table(v)); }

std::string validation_text(const Validation& v) {
    std::string out = fmt::format("predictions for {}{}{}\ndelta: predicted / measured - 1\n",
                                  v.machine_id, v.machine_changes.empty() ? "" : ", ", what_if(v));
    if (several_processes(v))
        out +=
            "measured: the mean of the processes of one configuration; spread: the largest "
            "distance of one of them from it\n";
    out += "\n" + to_text(shown_runs(v));
    for (const Table& table : phase_tables(v)) out += "\n" + to_text(table);
    out += "\n" + to_text(errors_table(v)) + kAboutErrors + "\n";
    const std::vector<OptionSet> sets = option_sets(v.runs);
    if (!sets.empty()) out += "\nruns that differ in one option only\n";
    for (const OptionSet& set : sets) out += option_text_of(set);
    for (const std::string& note : notes(v)) out += "\n" + note + "\n";
    return out;
}

std::string validation_json(const Validation& v, const OperationErrors* operations) {
    Json out = {{"machine", {{"id", v.machine_id}, {"changes", v.machine_changes}}},
                {"error_formula", "predicted / measured - 1"},
                {"runs", to_json(validation_table(v))}};
    out["summaries"] = out["option_sets"] = Json::array();
    for (std::size_t i = 0; i < v.runs.size(); ++i) {
        const Run& c = v.runs[i];
        Json& run = out["runs"][i];
        run["measured"]["processes"] = processes_json(c.run);
        run["phases"] = to_json(table_of<PhaseComparison>(
            c.phases, {{"phase", "", &PhaseComparison::name},
                       {"measured_s", "", Unit::seconds, &PhaseComparison::measured},
                       {"predicted_s", "", Unit::seconds, &PhaseComparison::predicted}}));
        if (operations != nullptr && c.measured)
            run["operations"] =
                operation_errors_json(operation_errors({&c, 1}, operations->worst.size()));
    }
    for (const GroupSummary& summary : v.summaries)
        out["summaries"].push_back(summary_json(summary));
    for (const OptionSet& set : option_sets(v.runs)) out["option_sets"].push_back(set_json(set));
    const auto spread = process_spread(v.runs);
    out["process_spread"] = !spread ? Json()
                                    : Json{{"configurations", spread->configurations},
                                           {"processes", spread->processes},
                                           {"mean_distance", spread->mean},
                                           {"worst_distance", spread->worst},
                                           {"worst_run", spread->worst_name}};
    if (operations != nullptr) out["operations"] = operation_errors_json(*operations);
    out["other_machines"] = v.other_machines;
    out["left_out"] = v.left_out;
    return readable_json(out);
}

std::string validation_html(const Validation& v) {
    const std::string title = "Predicted against measured: " + v.machine_id;
    std::string body = html_element("h1", title) +
                       html_element("p", "An error is predicted / measured - 1. " + what_if(v)) +
                       to_html(errors_table(v)) + html_element("p", kAboutErrors) +
                       to_svg(scatter_picture(v)) + to_svg(bars_picture(error_bars(v))) +
                       to_html(shown_runs(v));
    for (const std::string& note : notes(v)) body += html_element("p", note);
    return html_page(title, html_table_style(), body);
}

}  // namespace sluice
