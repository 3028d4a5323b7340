#include "sim/report/search/search_pictures.h"

#include <fmt/format.h>

#include <cmath>

#include "sim/answers/predict/prediction_words.h"
#include "sim/answers/search/machine_choice.h"
#include "sim/base/format.h"
#include "sim/report/cost_speed.h"

namespace sluice {
namespace {

/// Nothing where the machines take different batches.
std::string batch_words(const MachineChoices& choices) {
    const TrainingSpec& first = choices.machines.front().report.asked.training;
    for (const MachineChoice& machine : choices.machines) {
        const TrainingSpec& t = machine.report.asked.training;
        if (t.batch != first.batch || t.sequence != first.sequence) return "";
    }
    return fmt::format(", batch {} x {} tokens", first.batch,
                       format_thousands(static_cast<double>(first.sequence)));
}

CostSpeed plot_of(const MachineChoices& choices, CostAxis axis, const char* cost) {
    CostSpeed plot{cost, {}};
    for (const MachinePoint& point : machine_points(choices, axis)) {
        const MachineChoice& machine = choices.machines[point.machine];
        const Prediction& r = machine.report;
        CostSpeedPoint one;
        one.id = static_cast<int>(point.machine);
        one.name = machine.id;
        one.tooltip = fmt::format("{}: {} tokens/s, ${:.3g}", machine.id,
                                  format_thousands(point.tokens_per_s), point.usd);
        one.usd = point.usd;
        one.tokens_per_s = point.tokens_per_s;
        if (r.band) {
            one.low = r.tokens_per_s_at(r.band->high);
            one.high = r.tokens_per_s_at(r.band->low);
        }
        one.on_front = point.on_front;
        one.is_answer = choices.cheapest() == &machine;
        plot.points.push_back(std::move(one));
    }
    return plot;
}

}  // namespace

Picture machine_choices_picture(const MachineChoices& choices) {
    std::string title, subtitle;
    if (!choices.machines.empty()) {
        title = choices.machines.front().report.asked.model_name + ": speed and money by machine";
        subtitle = fmt::format(
            "predicted{}; thin lines: 5 to 95%; blue: no machine is faster for less; grey: beaten",
            batch_words(choices));
    }
    return cost_speed_picture(
        title, subtitle,
        {plot_of(choices, CostAxis::usd_per_hour, "dollars an hour"),
         plot_of(choices, CostAxis::usd_per_million_tokens, "dollars per million tokens")});
}

std::string gain_text(double gain) { return format_error(std::abs(gain) < 0.0005 ? 0.0 : gain); }

std::string upgrade_sentence(const Upgrade& upgrade) {
    return fmt::format(
        "{}{}: {} (5 to 95%: {} to {}), {} tokens/s. Then bound by {}", upgrade.name,
        upgrade.settings.empty() ? "" : " with " + setting_flags(upgrade.settings),
        gain_text(upgrade.gain), gain_text(upgrade.gain_low), gain_text(upgrade.gain_high),
        format_thousands(upgrade.report.tokens_per_s()), bottleneck_text(upgrade.report.step));
}

std::string sensitivity_sentence(const Sensitivity& all) {
    std::string out =
        fmt::format("{} tokens/s{}, bound by {}.", format_thousands(all.base.tokens_per_s()),
                    all.base_settings.empty() ? "" : " with " + setting_flags(all.base_settings),
                    bottleneck_label(all.base.step.bottleneck()));
    if (all.upgrades.empty() || all.upgrades.front().gain <= 0)
        return out + " None of the changes gains speed.";
    const Upgrade& first = all.upgrades.front();
    out += fmt::format(" Most is gained by {}: {}, then bound by {}.", first.name,
                       gain_text(first.gain), bottleneck_label(first.report.step.bottleneck()));
    if (!first.sure())
        out +=
            fmt::format(" That gain is not sure: its band reaches {}.", gain_text(first.gain_low));
    return out;
}

BarChart upgrade_bars(const Sensitivity& all) {
    const Prediction& r = all.base;
    BarChart chart;
    chart.title = r.asked.model_name + " on " + r.asked.machine_id;
    chart.subtitle = fmt::format("gain of tokens/s, predicted, from {}; batch {} x {} tokens",
                                 format_thousands(r.tokens_per_s()), r.asked.training.batch,
                                 format_thousands(static_cast<double>(r.asked.training.sequence)));
    chart.note =
        "Thin line: nine of ten gains should lie there; grey: the gain is not sure. In brackets: "
        "what limits then.";
    chart.percent = true;
    chart.groups.emplace_back();
    for (const Upgrade& upgrade : all.upgrades)
        chart.groups.front().bars.push_back(
            {upgrade.name, upgrade.gain, upgrade.gain_low, upgrade.gain_high,
             fmt::format("{} ({})", gain_text(upgrade.gain),
                         bottleneck_label(upgrade.report.step.bottleneck())),
             "", paint(upgrade.sure() ? Role::pointed_out : Role::misfit),
             upgrade_sentence(upgrade)});
    return chart;
}

}  // namespace sluice
