#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/base/format.h"
#include "sim/report/validate/validation_report.h"

namespace sluice {
namespace {

std::string ratio(Seconds predicted, Seconds measured) {
    return measured > 0 ? fmt::format("{:.2f}", predicted / measured) : "-";
}

std::string kind_lines(const OperationErrors& errors) {
    std::string out =
        fmt::format("{:<10} {:<20} {:>6} {:>10} {:>10} {:>6}  {:>8}  {:>9}\n", "lane", "operations",
                    "number", "measured", "predicted", "ratio", "explains", "mean size");
    for (const KindError& k : errors.kinds)
        out += fmt::format("{:<10} {:<20} {:>6} {:>10} {:>10} {:>6}  {:>8}  {:>8.1f}%\n",
                           lane_label(k.lane), operation_name(k.kind), k.operations,
                           format_seconds(k.measured), format_seconds(k.predicted),
                           ratio(k.predicted, k.measured), format_error(k.explained),
                           100 * k.explained_absolute);
    out += fmt::format("{:<10} {:<20} {:>46}  {:>8.1f}%\n", "", "pauses between",
                       format_error(errors.unexplained), 100 * errors.unexplained_absolute);
    return out + fmt::format("{:<10} {:<20} {:>46}\n", "", "the step's delta",
                             format_error(errors.step_error));
}

std::string worst_lines(const OperationErrors& errors) {
    std::string out =
        fmt::format("\n{:<30} {:<28} {:>9} {:>9} {:>6}  {:>8}\n", "single operations, worst first",
                    "run", "measured", "predicted", "ratio", "explains");
    for (const OperationError& e : errors.worst)
        out += fmt::format("  {:<28} {:<28} {:>9} {:>9} {:>6}  {:>8}\n", operation_label(e),
                           e.run->run.name, format_seconds(e.measured), format_seconds(e.predicted),
                           ratio(e.predicted, e.measured), format_error(e.explained_share()));
    return out;
}

using Json = nlohmann::ordered_json;

Json kinds_json(const OperationErrors& errors) {
    Json out = Json::array();
    for (const KindError& k : errors.kinds)
        out.push_back({{"lane", lane_name(k.lane)},
                       {"operation", operation_name(k.kind)},
                       {"operations", k.operations},
                       {"measured_s", k.measured},
                       {"predicted_s", k.predicted},
                       {"explained_share_of_step", k.explained},
                       {"explained_share_of_step_mean_size", k.explained_absolute}});
    return out;
}

}  // namespace

std::string operation_errors_text(const OperationErrors& errors) {
    if (errors.runs == 0) return "\nno run has operations: measure again with this version\n";
    return fmt::format(
               "\noperations of {} run{}; explains: of the step, to first order, by its part of "
               "the critical path\n",
               errors.runs, errors.runs == 1 ? "" : "s") +
           kind_lines(errors) + worst_lines(errors);
}

Json operation_errors_json(const OperationErrors& errors) {
    Json out = {{"runs", errors.runs},
                {"step_error", errors.step_error},
                {"unexplained_share_of_step", errors.unexplained},
                {"unexplained_share_of_step_mean_size", errors.unexplained_absolute},
                {"kinds", kinds_json(errors)},
                {"worst", Json::array()}};
    for (const OperationError& e : errors.worst)
        out["worst"].push_back({{"run", e.run->run.name},
                                {"operation", operation_label(e)},
                                {"index", e.operation},
                                {"measured_s", e.measured},
                                {"predicted_s", e.predicted},
                                {"explained_s", e.explained},
                                {"explained_share_of_step", e.explained_share()}});
    return out;
}

}  // namespace sluice
