#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/answers/validate/operation_errors.h"
#include "sim/answers/validate/validation.h"
#include "sim/report/answers/answer_reports.h"

namespace sluice {
namespace {

using Run = RunComparison;

template <typename Number>
Cell if_known(Number number) {
    return number > 0 ? Cell(number) : Cell();
}

/// Bold where a step lies outside of its band.
Cell throughput_error(const Run& c) {
    const auto inside = c.steps_in_band();
    if (!inside) return Cell(c.throughput_error()).with_tooltip("the prediction has no band");
    const int processes = c.run.process_count();
    return Cell(c.throughput_error())
        .with_mark(*inside < processes)
        .with_tooltip(fmt::format("{} of {} measured steps within the predicted 5 to 95%, {} to {}",
                                  *inside, processes, format_seconds(c.predicted.band->low),
                                  format_seconds(c.predicted.band->high)));
}

/// "inside", "outside", "1 of 2 outside".
Cell outside(const Run& c) {
    const int processes = c.run.process_count(), inside = c.steps_in_band().value_or(processes);
    Cell cell(c.in_band());
    if (inside == processes) return std::move(cell).shown_as("inside");
    return std::move(cell).shown_as(
        processes == 1 ? "outside"
                       : fmt::format("{} of {} outside", processes - inside, processes));
}

Cell memory_error(std::optional<double> error, Bytes measured, Bytes predicted,
                  const BytesText& bytes) {
    if (!error) return Cell().with_tooltip("not measured");
    return Cell(error).with_tooltip(
        fmt::format("measured {}, predicted {}", bytes(measured), bytes(predicted)));
}

using Json = nlohmann::ordered_json;

Cell ratio(Seconds predicted, Seconds measured) {
    return measured > 0 ? Cell(predicted / measured) : Cell();
}

Table kinds_table(const OperationErrors& errors) {
    return table_of<KindError>(
        errors.kinds,
        {{"lane", "lane",
          [](auto& k) { return Cell(lane_name(k.lane)).shown_as(lane_label(k.lane)); }},
         {"operation", "operations", [](auto& k) { return operation_name(k.kind); }},
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
        {{"run", "run", [](auto& e) { return e.run->run.name; }},
         {"operation", "operation", [](auto& e) { return operation_label(e); }},
         {"index", "", Unit::whole, &OperationError::operation},
         {"measured_s", "measured", Unit::seconds, &OperationError::measured},
         {"predicted_s", "predicted", Unit::seconds, &OperationError::predicted},
         {"", "ratio", Unit::ratio, [](auto& e) { return ratio(e.predicted, e.measured); }},
         {"explained_s", "", Unit::seconds, &OperationError::explained},
         {"explained_share_of_step", "explains", Unit::change, &OperationError::explained_share}});
}

}  // namespace

Table validation_table(const Validation& v, const BytesText& bytes) {
    const std::vector<std::string> groups = group_names(v.runs);
    const auto band = [](Seconds low, Seconds high) {
        return high > 0 ? Cell(Range{low, high}) : Cell();
    };
    const std::string delta = "predicted / measured - 1";
    return table_of<Run>(
        v.runs,
        {{"group", "", [](auto& c) { return c.run.group; }},
         {"name", "run",
          [&](auto& c) {
              const auto group = std::find(groups.begin(), groups.end(), c.run.group);
              return Cell(c.run.name)
                  .with_tooltip(fmt::format("of {}: {}", c.run.group, c.run.file))
                  .in_series(static_cast<int>(group - groups.begin()));
          },
          "in the colour of its group in the picture"},
         {"file", "", [](auto& c) { return c.run.file; }, "", Programs::json},
         {"model", "", [](auto& c) { return c.run.model.name; }},
         {"layers", "", Unit::whole, [](auto& c) { return c.run.model.layer_count(); }},
         {"batch", "", Unit::whole, [](auto& c) { return c.run.training.batch; }},
         {"seq", "", Unit::whole, [](auto& c) { return c.run.training.sequence; }},
         {"measured.step_s", "step\nmeasured", Unit::seconds, [](auto& c) { return c.run.step; }},
         {"predicted.step_s", "\npredicted", Unit::seconds,
          [](auto& c) { return c.predicted.step.seconds; }},
         {"step_error", "\nerror", Unit::change, &Run::step_error, "step: " + delta},
         {"measured.tokens_per_s", "tokens/s\nmeasured", Unit::whole,
          [](auto& c) { return c.run.tokens_per_s(); },
          "from the median of its steps; with several processes, the mean of their medians"},
         {"predicted.tokens_per_s", "\npredicted", Unit::whole,
          [](auto& c) { return c.predicted.tokens_per_s(); }},
         {"throughput_error", "\nerror", Unit::change, throughput_error,
          "tokens/s: " + delta + ". Bold: a step lies outside of the predicted 5 to 95%"},
         {"measured.device_bytes", "", Unit::bytes, [](auto& c) { return if_known(c.run.device); }},
         {"predicted.device_bytes", "", Unit::bytes, &Run::predicted_device},
         {"device_error", "device\nerror", Unit::change,
          [&](auto& c) {
              return memory_error(c.device_error(), c.run.device, c.predicted_device, bytes);
          },
          "most device memory in use: " + delta},
         {"measured.host_bytes", "", Unit::bytes, [](auto& c) { return if_known(c.run.host); }},
         {"predicted.host_bytes", "", Unit::bytes, &Run::predicted_host},
         {"host_error", "host\nerror", Unit::change,
          [&](auto& c) {
              return memory_error(c.host_error(), c.run.host, c.predicted_host, bytes);
          },
          "resident host memory: " + delta},
         {"predicted.fits", "", Unit::flag, [](auto& c) { return c.predicted.plan.fit.fits(); }, "",
          Programs::json},
         {"measured.step_{}_percent_s", "", Unit::seconds,
          [&](auto& c) { return band(c.run.step_low, c.run.step_high); }, "", Programs::json},
         {"predicted.step_{}_percent_s", "predicted step,\n5 to 95%", Unit::seconds,
          [&](auto& c) {
              const auto& predicted = c.predicted.band;
              return predicted ? band(predicted->low, predicted->high) : Cell();
          }},
         {"in_band", "band", outside},
         {"steps_measured", "", Unit::whole, [](auto& c) { return if_known(c.run.steps); }, "",
          Programs::csv},
         {"precision", "", [](auto& c) { return products_name(c.run.training, c.run.activations); },
          "", Programs::csv},
         {"measured.steps_measured", "", Unit::whole, [](auto& c) { return if_known(c.run.steps); },
          "", Programs::json},
         {"measured.precision", "",
          [](auto& c) { return products_name(c.run.training, c.run.activations); }, "",
          Programs::json},
         {"measured.updates_ahead", "", Unit::flag, [](auto& c) { return c.run.updates_ahead; }},
         {"processes", "processes", Unit::whole, [](auto& c) { return c.run.process_count(); }, "",
          Programs::csv},
         {"process_spread", "spread", Unit::error, [](auto& c) { return c.run.process_spread(); },
          "largest distance of a process from their mean", Programs::csv},
         {"measured.process_spread", "", Unit::error,
          [](auto& c) { return c.run.process_spread(); }, "", Programs::json},
         {"processes_in_band", "", Unit::whole, &Run::steps_in_band}});
}

std::string operation_errors_text(const OperationErrors& errors) {
    if (errors.runs == 0) return "\nno run has operations: measure again with this version\n";
    Table kinds = kinds_table(errors);
    kinds.rows.push_back(
        {{"", "pauses between", {}, {}, {}, {}, errors.unexplained, errors.unexplained_absolute}});
    kinds.rows.push_back({{"", "the step's error", {}, {}, {}, {}, errors.step_error, {}}});
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
