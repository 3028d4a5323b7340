// Tokens/s of each system, a bar each.
#include <fmt/format.h>

#include "sim/answers/compare/findings.h"
#include "sim/base/format.h"
#include "sim/report/compare/comparison_report.h"

namespace sluice {
namespace {

std::string tooltip(const ComparedSystem& system) {
    const Prediction& r = system.report;
    const std::string cut = micro_batch_words(system);
    return fmt::format("{}: {} a step\ndevice {}, host {}\n{}{}{}", system.name,
                       format_seconds(r.step.seconds),
                       format_bytes(static_cast<double>(r.plan.fit.device.peak.bytes)),
                       format_bytes(static_cast<double>(r.plan.fit.host.peak.bytes)),
                       settings_text(own_settings(r.asked.training)), cut.empty() ? "" : "\n", cut);
}

Bar bar_of(const Comparison& c, const ComparedSystem& system) {
    const Prediction& r = system.report;
    const auto relative = relative_speed(c, system);
    return {
        system.name,
        r.tokens_per_s(),
        r.tokens_per_s_at(r.band->high),
        r.tokens_per_s_at(r.band->low),
        format_thousands(r.tokens_per_s()) + (relative ? fmt::format(" ({:.2f}x)", *relative) : ""),
        system.fits() ? "" : short_by(r),
        paint(r.asked.training.schedule->ours ? Role::pointed_out : Role::other),
        tooltip(system)};
}

std::string note(std::span<const Comparison> comparisons) {
    bool fits = false, misfit = false, relative = false, cut = false;
    for (const Comparison& c : comparisons) {
        relative = relative || c.ours() != nullptr;
        for (const ComparedSystem& system : c.systems) {
            (system.fits() ? fits : misfit) = true;
            cut = cut || system.short_of_whole_batch > 0;
        }
    }
    std::string words;
    if (fits) words += "Thin line: nine of ten steps should lie there. ";
    if (relative) words += fmt::format("In brackets: as a multiple of {}. ", Schedule()->name);
    if (cut)
        words += "A batch that does not fit at once goes in the largest micro-batches that do. ";
    if (misfit) words += "Grey: does not fit; the length is the speed without that limit.";
    if (words.ends_with(' ')) words.pop_back();
    return words;
}

}  // namespace

BarChart comparison_bars(std::span<const Comparison> comparisons) {
    const bool several = comparisons.size() > 1;
    const Prediction& r = comparisons.back().shared();
    BarChart chart;
    chart.title = r.asked.model_name + " on " + r.asked.machine_name;
    chart.subtitle =
        fmt::format("predicted tokens/s, batch {} x {} tokens{}", r.asked.training.batch,
                    format_thousands(static_cast<double>(r.asked.training.sequence)),
                    several ? "" : ", " + format_number_of(r.asked.layers, "layer"));
    chart.note = note(comparisons);
    for (const Comparison& c : comparisons) {
        BarGroup group;
        if (several)
            group.heading =
                fmt::format("{}, {} parameters", format_number_of(c.shared().asked.layers, "layer"),
                            format_count(static_cast<double>(c.shared().asked.parameters)));
        for (const ComparedSystem& system : c.systems) group.bars.push_back(bar_of(c, system));
        chart.groups.push_back(std::move(group));
    }
    return chart;
}

}  // namespace sluice
