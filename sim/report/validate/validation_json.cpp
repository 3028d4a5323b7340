#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/base/json_text.h"
#include "sim/report/validate/validation_report.h"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

template <typename Value>
Json or_null(const std::optional<Value>& value) {
    return value ? Json(*value) : Json();
}

Json step_json(Seconds step, Seconds low, Seconds high, double tokens_per_s) {
    Json out = {{"step_s", step}, {"tokens_per_s", tokens_per_s}};
    if (high > 0) {
        out["step_5_percent_s"] = low;
        out["step_95_percent_s"] = high;
    }
    return out;
}

Json processes_json(const MeasuredRun& run) {
    if (run.processes.empty()) return Json::array({{{"file", run.file}, {"step_s", run.step}}});
    Json out = Json::array();
    for (const MeasuredProcess& process : run.processes)
        out.push_back({{"file", process.file}, {"step_s", process.step}});
    return out;
}

Json run_json(const RunComparison& c) {
    const MeasuredRun& run = c.run;
    Json out = {{"name", run.name},
                {"group", run.group},
                {"file", run.file},
                {"model", run.model.name},
                {"layers", run.model.layer_count()},
                {"batch", run.training.batch},
                {"seq", run.training.sequence}};
    out["measured"] = step_json(run.step, run.step_low, run.step_high, run.tokens_per_s());
    out["measured"]["steps_measured"] = run.steps > 0 ? Json(run.steps) : Json();
    out["measured"]["precision"] = precision_name(run.precision);
    out["measured"]["processes"] = processes_json(run);
    out["measured"]["process_spread"] = or_null(run.process_spread());
    out["measured"]["device_bytes"] = run.device > 0 ? Json(run.device) : Json();
    out["measured"]["host_bytes"] = run.host > 0 ? Json(run.host) : Json();
    const Band band = c.predicted.band.value_or(Band());
    out["predicted"] =
        step_json(c.predicted.step.seconds, band.low, band.high, c.predicted.tokens_per_s());
    out["predicted"]["device_bytes"] = c.predicted_device;
    out["predicted"]["host_bytes"] = c.predicted_host;
    out["predicted"]["fits"] = c.predicted.plan.fit.fits();
    out["step_error"] = c.step_error();
    out["throughput_error"] = c.throughput_error();
    out["device_error"] = or_null(c.device_error());
    out["host_error"] = or_null(c.host_error());
    out["in_band"] = or_null(c.in_band());
    out["processes_in_band"] = or_null(c.steps_in_band());
    out["phases"] = Json::array();
    for (const PhaseComparison& phase : c.phases)
        out["phases"].push_back({{"phase", phase.name},
                                 {"measured_s", phase.measured},
                                 {"predicted_s", phase.predicted}});
    return out;
}

Json errors_json(const ErrorSummary& errors) {
    if (errors.count == 0) return Json();
    return {{"runs", errors.count},
            {"mean_absolute_error", errors.mean_absolute},
            {"worst_error", errors.worst},
            {"worst_run", errors.worst_name}};
}

Json bounds_json(const std::vector<BoundSummary>& bounds) {
    Json out = Json::object();
    for (const BoundSummary& bound : bounds) out[bound.bound] = errors_json(bound.throughput);
    return out;
}

Json summary_json(const GroupSummary& s) {
    return {{"group", s.group.empty() ? Json() : Json(s.group)},
            {"runs", s.runs},
            {"processes", s.processes},
            {"throughput", errors_json(s.throughput)},
            {"throughput_by_predicted_bottleneck", bounds_json(s.bounds)},
            {"device", errors_json(s.device)},
            {"host", errors_json(s.host)},
            {"kendall_tau_b", or_null(s.tau_b)},
            {"processes_with_band", s.with_band},
            {"processes_in_band", s.in_band}};
}

/// Null where no configuration was run by several.
Json spread_json(const std::optional<ProcessSpread>& spread) {
    if (!spread) return Json();
    return {{"configurations", spread->configurations},
            {"processes", spread->processes},
            {"mean_distance", spread->mean},
            {"worst_distance", spread->worst},
            {"worst_run", spread->worst_name}};
}

Json set_json(const OptionSet& set) {
    Json names = Json::array();
    for (const RunComparison* run : set.runs) names.push_back(run->run.name);
    return {{"option", set.option},
            {"runs", names},
            {"predicted_best", set.predicted_best->run.name},
            {"measured_best", set.measured_best->run.name},
            {"loss", set.loss()}};
}

}  // namespace

std::string validation_json(const Validation& v, const OperationErrors* operations) {
    Json out = {{"machine", {{"id", v.machine_id}, {"changes", v.machine_changes}}}};
    out["error_formula"] = "predicted / measured - 1";
    out["runs"] = out["summaries"] = out["option_sets"] = Json::array();
    for (const RunComparison& c : v.runs) {
        out["runs"].push_back(run_json(c));
        if (operations != nullptr && c.measured)
            out["runs"].back()["operations"] =
                operation_errors_json(operation_errors({&c}, operations->worst.size()));
    }
    for (const GroupSummary& summary : v.summaries)
        out["summaries"].push_back(summary_json(summary));
    for (const OptionSet& set : option_sets(v.runs)) out["option_sets"].push_back(set_json(set));
    out["process_spread"] = spread_json(process_spread(v.runs));
    if (operations != nullptr) out["operations"] = operation_errors_json(*operations);
    out["other_machines"] = v.other_machines;
    out["left_out"] = v.left_out;
    return readable_json(out);
}

}  // namespace sluice
