// Pictures of a decision.
#include <fmt/format.h>

#include <algorithm>

#include "sim/answers/decision/decision.h"
#include "sim/answers/search/machine_choice.h"
#include "sim/base/format.h"
#include "sim/report/answers/answer_reports.h"
#include "sim/report/answers/findings.h"
#include "sim/report/bars.h"
#include "sim/report/report.h"
#include "sim/report/timeline_picture.h"
#include "sim/report/to_svg.h"

namespace sluice {
namespace {

std::string figure(const std::string& caption, const Picture& picture) {
    return fmt::format("<figure><figcaption>{}</figcaption>\n{}</figure>\n", escape_xml(caption),
                       to_svg(picture));
}

Bar bar_of(const Decision& decision, const Candidate& c) {
    const Prediction& r = c.report();
    return {c.name,
            r.tokens_per_s(),
            r.speed().low,
            r.speed().high,
            format_thousands(r.tokens_per_s()) +
                (c.cost.payment ? fmt::format(", {} a million",
                                              format_usd(c.cost.run.usd_per_million_tokens.value))
                                : ""),
            c.fits() ? "" : short_by(r),
            paint(&c == decision.best() ? Role::pointed_out : Role::other),
            fmt::format("{}: {} a step, bound by {}", c.name, format_seconds(r.step.seconds),
                        bottleneck_name(r.step.bottleneck()))};
}

Picture speed_picture(const Decision& decision) {
    BarChart chart;
    chart.title = decision.candidates.front().report().asked.model_name;
    chart.subtitle = "predicted tokens/s, and the price of a million tokens";
    chart.note = "Thin line: nine of ten steps should lie there. ";
    if (decision.chosen) chart.note += fmt::format("Blue: {}. ", decision.best()->name);
    chart.groups.emplace_back();
    for (const Candidate& c : decision.candidates) {
        chart.groups.front().bars.push_back(bar_of(decision, c));
    }
    if (!std::ranges::all_of(decision.candidates, &Candidate::fits))
        chart.note += "Grey: does not fit; the length is the speed without that limit.";
    return bars_picture(chart);
}

Picture memory_picture(const Decision& decision) {
    std::vector<MemoryBar> bars;
    for (const Candidate& c : decision.candidates)
        bars.push_back({c.name, c.report().plan.fit, c.report().plan.unified_memory});
    return memory_bars_picture(bars);
}

/// No picture unless at least two machines fit and have a price.
std::optional<Picture> money_picture(const Decision& decision) {
    MachineChoices choices;
    for (const Candidate& c : decision.candidates) {
        if (!c.fits() || !c.cost.payment) continue;
        MachineChoice& one = choices.machines.emplace_back();
        one.id = c.name;
        one.report = c.report();
        one.cost = c.cost;
        one.does_it = decision.can_choose(c);
    }
    if (choices.machines.size() < 2) return std::nullopt;
    return machine_choices_picture(choices);
}

}  // namespace

std::string decision_pictures(const Decision& decision) {
    std::string out = figure("Speed of each machine", speed_picture(decision));
    if (const auto money = money_picture(decision)) out += figure("Cost against speed", *money);
    out += figure("Memory at its peak, by kind", memory_picture(decision));
    if (const Candidate* const best = decision.best())
        out += figure(fmt::format("A step on {}: when each lane works, and what compute waits for",
                                  best->name),
                      step_picture(best->report()));
    if (decision.upgrades)
        out += figure("Gains of upgrades", bars_picture(upgrade_bars(*decision.upgrades)));
    return out;
}

}  // namespace sluice
