#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/answers/validate/operation_errors.h"
#include "sim/report/answers/answer_reports.h"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

Cell ratio(Seconds predicted, Seconds measured) {
    return measured > 0 ? Cell(predicted / measured) : Cell();
}

Table kinds_table(const OperationErrors& errors) {
    return table_of<KindError>(
        errors.kinds,
        {{"lane", "lane", Unit::text,
          [](auto& k) { return Cell(lane_name(k.lane)).shown_as(lane_label(k.lane)); }},
         {"operation", "operations", Unit::text, [](auto& k) { return operation_name(k.kind); }},
         {"operations", "number", Unit::whole, &KindError::operations},
         {"measured_s", "measured", Unit::seconds, &KindError::measured},
         {"predicted_s", "predicted", Unit::seconds, &KindError::predicted},
         {"", "ratio", Unit::ratio, [](auto& k) { return ratio(k.predicted, k.measured); }},
         {"explained_share_of_step", "explains", Unit::change, &KindError::explained},
         {"explained_share_of_step_mean_size", "mean size", Unit::share,
          &KindError::explained_absolute}});
}

Table worst_table(const OperationErrors& errors) {
    return table_of<OperationError>(
        errors.worst,
        {{"run", "run", Unit::text, [](auto& e) { return e.run->run.name; }},
         {"operation", "operation", Unit::text, [](auto& e) { return operation_label(e); }},
         {"index", "", Unit::whole, &OperationError::operation},
         {"measured_s", "measured", Unit::seconds, &OperationError::measured},
         {"predicted_s", "predicted", Unit::seconds, &OperationError::predicted},
         {"", "ratio", Unit::ratio, [](auto& e) { return ratio(e.predicted, e.measured); }},
         {"explained_s", "", Unit::seconds, &OperationError::explained},
         {"explained_share_of_step", "explains", Unit::change, &OperationError::explained_share}});
}

}  // namespace

std::string operation_errors_text(const OperationErrors& errors) {
    if (errors.runs == 0) return "\nno run has operations: measure again with this version\n";
    Table kinds = kinds_table(errors);
    kinds.rows.push_back(
        {{"", "pauses between", {}, {}, {}, {}, errors.unexplained, errors.unexplained_absolute}});
    kinds.rows.push_back({{"", "the step's delta", {}, {}, {}, {}, errors.step_error, {}}});
    const std::string worst = to_text(worst_table(errors), "  ");
    return fmt::format(
               "\noperations of {}; explains: the share of the step's error, to first order, that "
               "an operation causes by its part of the critical path\n",
               format_number_of(errors.runs, "run")) +
           to_text(kinds) + (worst.empty() ? "" : "\nsingle operations, worst first\n" + worst);
}

Json operation_errors_json(const OperationErrors& errors) {
    return {{"runs", errors.runs},
            {"step_error", errors.step_error},
            {"unexplained_share_of_step", errors.unexplained},
            {"unexplained_share_of_step_mean_size", errors.unexplained_absolute},
            {"kinds", to_json(kinds_table(errors))},
            {"worst", to_json(worst_table(errors))}};
}

}  // namespace sluice
