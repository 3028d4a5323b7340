#include <fmt/format.h>

#include "sim/answers/compare/findings.h"
#include "sim/answers/search/machine_choice.h"
#include "sim/base/format.h"
#include "sim/report/compare/speed_bars.h"
#include "sim/report/decision/decision_parts.h"
#include "sim/report/decision/memory_bars.h"
#include "sim/report/report.h"
#include "sim/report/svg_text.h"

namespace sluice {
namespace {

/// An SVG may begin as a file of its own; within a page it does not.
std::string figure(const std::string& caption, const std::string& svg) {
    const std::size_t start = svg.find("<svg");
    return fmt::format("<figure><figcaption>{}</figcaption>\n{}</figure>\n", escape_xml(caption),
                       svg.substr(start));
}

SpeedBar bar_of(const Decision& decision, const Candidate& c) {
    const Prediction& r = c.report();
    const auto& cost = c.cost.cost;
    return {
        c.name,
        r.tokens_per_s(),
        r.tokens_per_s_at(r.band->high),
        r.tokens_per_s_at(r.band->low),
        cost ? fmt::format(", {} a million", format_usd(cost->usd_per_million_tokens.value)) : "",
        c.fits() ? "" : short_by(r),
        &c == decision.best() ? kPointedOut : kOtherBar,
        fmt::format("{}: {} a step, bound by {}", c.name, format_seconds(r.step.seconds),
                    bottleneck_name(r.step.bottleneck()))};
}

std::string speed_picture(const Decision& decision) {
    SpeedBars chart;
    chart.title = decision.candidates.front().report().asked.model_name;
    chart.subtitle = "predicted tokens/s, with what a million tokens cost";
    chart.note = "Black line: nine of ten steps should lie there. ";
    if (decision.chosen) chart.note += fmt::format("Blue: {}. ", decision.best()->name);
    chart.groups.emplace_back();
    for (const Candidate& c : decision.candidates) {
        chart.groups.front().bars.push_back(bar_of(decision, c));
        if (!c.fits() && chart.note.find("Grey") == std::string::npos)
            chart.note += "Grey: does not fit; as long as if it did.";
    }
    return speed_bars_svg(chart);
}

std::string memory_picture(const Decision& decision) {
    std::vector<MemoryBar> bars;
    for (const Candidate& c : decision.candidates)
        bars.push_back({c.name, c.report().plan.fit, c.report().plan.unified_memory});
    return memory_bars_svg(bars);
}

/// Nothing where fewer than two machines that fit have a price.
std::string money_picture(const Decision& decision) {
    MachineChoices choices;
    for (const Candidate& c : decision.candidates) {
        if (!c.fits() || !c.cost.cost) continue;
        choices.machines.push_back({c.name, "", c.report(), c.cost.payment, c.cost.cost, true});
    }
    return choices.machines.size() < 2 ? "" : machine_choices_svg(choices);
}

}  // namespace

std::string pictures(const Decision& decision) {
    std::string out = figure("Speed of each machine", speed_picture(decision));
    if (const std::string money = money_picture(decision); !money.empty())
        out += figure("Cost against speed", money);
    out += figure("Memory at its peak, by kind", memory_picture(decision));
    if (const Candidate* const best = decision.best())
        out += figure(fmt::format("A step on {}: when each lane works, and what compute waits for",
                                  best->name),
                      report_svg(best->report()));
    if (decision.upgrades)
        out += figure("What upgrades would gain", sensitivity_svg(*decision.upgrades));
    return out;
}

}  // namespace sluice
