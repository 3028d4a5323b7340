#include "planner-gui/window/page_values.h"

#include <fmt/format.h>

#include "sim/specs/scenario/changed_scenario.h"

namespace sluice {
namespace {

std::string value_text(const VariedNumber& number, double value) {
    if (number.option == nullptr) return fmt::format("{}", value);
    TrainingSpec training;
    number.option->set(training, value);
    return option_text(training, *number.option);
}

}  // namespace

ExploredAxis explored_axis(const HeatAxis& axis) {
    ExploredAxis out{axis.number.key, {}};
    for (const double value : axis.values) out.values.push_back(value_text(axis.number, value));
    return out;
}

HeatCell heat_cell(const ScenarioValue& value) {
    HeatCell out;
    out.reason = value.refused;
    if (!value.refused.empty()) {
        out.state = CellState::refused;
        return out;
    }
    out.state = value.fit.fits() ? CellState::fits : CellState::does_not_fit;
    out.shortages = value.shortages;
    out.device = value.fit.device.peak.bytes;
    out.host = value.fit.host.peak.bytes;
    out.device_short = value.fit.device.shortfall();
    out.host_short = value.fit.host.shortfall();
    out.storage_short = value.fit.storage.shortfall();
    out.tokens_per_s = value.tokens_per_s();
    out.step = value.step;
    out.usd_per_million_tokens = value.usd_per_million_tokens;
    out.bottleneck = value.bottleneck;
    return out;
}

PlannedScenario with_values(PlannedScenario planned, const std::vector<VariedValue>& values) {
    for (const VariedValue& value : values)
        planned =
            with_value(std::move(planned), value.number.key, value_text(value.number, value.value));
    return planned;
}

ParetoRow pareto_row(const MachineSystem& found) {
    const ScenarioValue& value = found.value;
    ParetoRow out;
    out.machine = found.machine;
    out.system = found.schedule;
    out.reason = value.refused;
    if (!value.refused.empty()) return out;
    out.planned = true;
    out.fits = value.fit.fits();
    out.shortages = value.shortages;
    if (out.fits && !value.usd_per_hour) out.reason = "no price is known for this machine";
    out.model = value.model;
    out.batch = value.training.batch;
    out.sequence = value.training.sequence;
    out.step = value.step;
    out.step_low = value.step_low;
    out.step_high = value.step_high;
    out.device = value.fit.device.peak.bytes;
    out.host = value.fit.host.peak.bytes;
    out.usd_per_hour = value.usd_per_hour;
    out.usd_per_million_tokens = value.usd_per_million_tokens;
    out.price_of = value.price_of;
    return out;
}

ComparedScenario compared_scenario(const std::string& name,
                                   const std::shared_ptr<const ScenarioAnswer>& prediction) {
    return {QString::fromStdString(name), shared_report(prediction), prediction->cost.run,
            prediction->cost.cost.has_value()};
}

std::shared_ptr<const Prediction> shared_report(const std::shared_ptr<const ScenarioAnswer>& of) {
    return of == nullptr ? nullptr : std::shared_ptr<const Prediction>(of, &of->report());
}

}  // namespace sluice
