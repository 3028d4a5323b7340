#include "sim/answers/search/evaluate.h"

#include "sim/answers/predict/predict.h"
#include "sim/answers/search/fresh_process.h"
#include "sim/answers/search/step_bounds.h"
#include "sim/base/input_error.h"
#include "sim/plan/step_plan.h"
#include "sim/simulate/operation_cost.h"

namespace sluice {

SearchRow bound_scenario(const GridPoint& point) {
    SearchRow row;
    row.reason = point.against_rule;
    if (!row.reason.empty()) return row;
    try {
        check_training_spec(point.training);
        const StepPlan plan = plan_step(*point.model, *point.machine, point.training);
        const Fit fit = check_fit(plan, *point.machine, point.training);
        row.device_peak = fit.device.peak.bytes;
        row.host_peak = fit.host.peak.bytes;
        row.storage_peak = fit.storage.peak.bytes;
        row.device_short = fit.device.shortfall();
        row.host_short = fit.host.shortfall();
        row.storage_short = fit.storage.shortfall();
        row.state = fit.fits() ? RowState::bounded : RowState::too_large;
        if (!fit.fits()) return row;
        row.at_least = step_bounds(plan.program,
                                   operation_demands(plan.program, *point.machine, point.training),
                                   *point.machine, point.training)
                           .at_least();
    } catch (const InputError& error) {
        row.state = RowState::excluded;
        row.reason = error.what();
    }
    return row;
}

SearchRow simulate_row(const SearchRow& row, const GridPoint& point, bool with_band) {
    const std::string answer = in_fresh_process([&] {
        const Wanted wanted{.band = with_band ? Wanted::Band::always : Wanted::Band::none};
        const Prediction report = predict(*point.model, *point.machine, point.training, wanted);
        SearchRow out = row;
        out.state = RowState::simulated;
        out.step = report.step.seconds;
        if (report.band) {
            out.step_low = report.band->low;
            out.step_high = report.band->high;
        }
        out.bottleneck = bottleneck_name(report.step.bottleneck());
        std::string bytes;
        put_row(bytes, out);
        return bytes;
    });
    std::string_view in = answer;
    return take_row(in);
}

}  // namespace sluice
