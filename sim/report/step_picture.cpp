// The timeline of one step as a file, and its axis of time.
#include <fmt/format.h>

#include <cmath>

#include "sim/base/format.h"
#include "sim/report/chart_parts.h"
#include "sim/answers/predict/prediction_words.h"
#include "sim/report/timeline_picture.h"

namespace sluice {

TimelineHeader timeline_header(const TimedPlan& report) {
    const TrainingSpec& t = report.asked.training;
    TimelineHeader header{report.asked.model_name + " on " + report.asked.machine_name, {}};
    header.lines.push_back(fmt::format(
        "{}: batch {} x {} tokens, {} a step, {} tokens/s{}{}",
        report.step.measured ? "measured" : "predicted", t.batch,
        format_thousands(static_cast<double>(t.sequence)), format_seconds(report.step.seconds),
        format_thousands(report.tokens_per_s()),
        t.schedule->ours ? "" : fmt::format(", {} schedule", t.schedule->name),
        report.plan.fit.fits() ? "" : "; does not fit into memory, shown without that limit"));
    if (!report.step.intervals.empty()) header.lines.push_back(bottleneck_text(report.step));
    return header;
}

Picture step_picture(const TimedPlan& report) {
    // The timeline lives no longer than the report.
    const std::shared_ptr<const TimedPlan> borrowed(std::shared_ptr<void>(), &report);
    return timeline_picture(Timeline(borrowed), {1200},
                            {.header = timeline_header(report), .tooltips = true});
}

TimeTicks time_ticks(Seconds begin, Seconds end, int most) {
    TimeTicks out;
    double unit = 1;
    if (end - begin < 2e-3) {
        out.unit = "us";
        unit = 1e-6;
    } else if (end - begin < 2) {
        out.unit = "ms";
        unit = 1e-3;
    }
    for (const double tick : linear_axis(begin / unit, end / unit, most).ticks)
        out.ticks.push_back({tick * unit, fmt::format("{:.10g}", tick)});
    return out;
}

}  // namespace sluice
