#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "sim/answers/search/sensitivity.h"
#include "sim/base/format.h"
#include "sim/base/json_text.h"
#include "sim/report/answers/answer_reports.h"
#include "sim/report/report.h"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

std::string gain_words(double gain) { return cell_text(gain, Unit::change); }

/// Why the first upgrade may not be the best, or "".
std::string doubt(const std::vector<Upgrade>& upgrades) {
    if (upgrades.empty()) return "";
    const Upgrade& first = upgrades.front();
    if (!first.sure())
        return fmt::format("That gain is not sure: its band reaches {}.\n",
                           gain_words(first.gain_low));
    std::string within;
    for (std::size_t i = 1; i < upgrades.size(); ++i)
        if (upgrades[i].gain_high > first.gain_low)
            within += (within.empty() ? "" : ", ") + upgrades[i].name;
    return within.empty() ? ""
                          : fmt::format("The lead of {} is smaller than the band of: {}.\n",
                                        first.name, within);
}

/// No speed can be improved: why, and what would fit.
std::string misfit_text(const Prediction& r) {
    std::string out = fmt::format("{} on {} does not fit, so that no speed can be improved\n{}\n",
                                  r.asked.model_name, r.asked.gpus_and_machine(),
                                  fmt::join(shortages(r.plan), "\n"));
    for (const Suggestion& one : r.advice.suggestions)
        out += fmt::format("fits with {}\n", setting_flags(one.settings));
    if (r.advice.no_suggestion) out += no_suggestion_text(*r.advice.no_suggestion) + "\n";
    return out;
}

/// "link.host_to_device_gb_per_s=110 ...", as --set takes them.
std::string machine_settings_of(const Upgrade& upgrade) {
    std::string out;
    for (const Setting& one : upgrade.machine_settings)
        out += fmt::format("{}{}={}", out.empty() ? "" : " ", one.field, one.value);
    return out;
}

}  // namespace

Table upgrades_table(const Sensitivity& all) {
    return table_of<Upgrade>(
        all.upgrades,
        {{"name", "change", &Upgrade::name},
         {"gain", "gain", Unit::change, &Upgrade::gain,
          "tokens/s over the unchanged machine's, less 1"},
         {"gain_{}_percent", "5 to 95%", Unit::change,
          [](auto& one) {
              return Range{one.gain_low, one.gain_high};
          },
          "nine of ten gains should lie there"},
         {"tokens_per_s", "tokens/s", Unit::whole,
          [](auto& one) { return one.report.tokens_per_s(); }},
         {"tokens_per_s_{}_percent", "", Unit::whole,
          [](auto& one) { return range_of(one.report.speed()); }},
         {"bottleneck", "then bound by",
          [](auto& one) {
              return Cell(bottleneck_name(one.report.step.bottleneck()))
                  .shown_as(bottleneck_label(one.report.step.bottleneck()))
                  .with_tooltip(bottleneck_text(one.report.step));
          }},
         {"settings", "with settings", [](auto& one) { return Cell(setting_flags(one.settings)); },
          "training settings that use the change best"},
         {"machine_settings", "as numbers of the machine", machine_settings_of,
          "empty if no numbers of the profile make the change"}});
}

std::string sensitivity_text(const Sensitivity& all) {
    const Prediction& r = all.base;
    if (!r.plan.fit.fits()) return misfit_text(r);
    std::string out = fmt::format(
        "{} on {}: {}{}\nbound by {}\n", r.asked.model_name, r.asked.gpus_and_machine(),
        speed_text(r), all.base_settings.empty() ? "" : " with " + setting_flags(all.base_settings),
        bottleneck_text(r.step));
    if (!all.upgrades.empty() && all.upgrades.front().gain > 0)
        out += fmt::format("most is gained by {}: {}, then bound by {}\n",
                           all.upgrades.front().name, gain_words(all.upgrades.front().gain),
                           bottleneck_text(all.upgrades.front().report.step));
    out += doubt(all.upgrades) + "\n" +
           to_text(select(upgrades_table(all), {"name", "gain", "gain_{}_percent", "tokens_per_s",
                                                "bottleneck", "settings"}));
    if (!all.note.empty()) out += fmt::format("note: {}\n", all.note);
    for (const std::string& words : all.not_possible) out += fmt::format("not tried: {}\n", words);
    return out;
}

std::string sensitivity_json(const Sensitivity& all) {
    Json base;
    add_speed_json(base, all.base, all.base.band);
    base["bottleneck"] = bottleneck_name(all.base.step.bottleneck());
    base["settings"] = setting_flags(all.base_settings);
    return readable_json({{"model", all.base.asked.model_name},
                          {"machine", all.base.asked.machine_id},
                          {"fits", all.base.plan.fit.fits()},
                          {"base", base},
                          {"upgrades", to_json(upgrades_table(all))},
                          {"not_tried", all.not_possible},
                          {"note", all.note}});
}

std::string upgrade_sentence(const Upgrade& upgrade) {
    return fmt::format(
        "{}{}: {} (5 to 95%: {} to {}), {} tokens/s. Then bound by {}", upgrade.name,
        upgrade.settings.empty() ? "" : " with " + setting_flags(upgrade.settings),
        gain_words(upgrade.gain), gain_words(upgrade.gain_low), gain_words(upgrade.gain_high),
        format_thousands(upgrade.report.tokens_per_s()), bottleneck_text(upgrade.report.step));
}

std::string sensitivity_sentence(const Sensitivity& all) {
    if (!all.base.plan.fit.fits())
        return fmt::format("It does not fit: {}.", fmt::join(shortages(all.base.plan), "; "));
    std::string out =
        fmt::format("{} tokens/s{}, bound by {}.", format_thousands(all.base.tokens_per_s()),
                    all.base_settings.empty() ? "" : " with " + setting_flags(all.base_settings),
                    bottleneck_label(all.base.step.bottleneck()));
    if (all.upgrades.empty() || all.upgrades.front().gain <= 0)
        return out + " None of the changes gains speed.";
    const Upgrade& first = all.upgrades.front();
    out += fmt::format(" Most is gained by {}: {}, then bound by {}.", first.name,
                       gain_words(first.gain), bottleneck_label(first.report.step.bottleneck()));
    if (!first.sure())
        out +=
            fmt::format(" That gain is not sure: its band reaches {}.", gain_words(first.gain_low));
    return out;
}

BarChart upgrade_bars(const Sensitivity& all) {
    const Prediction& r = all.base;
    BarChart chart;
    chart.title = r.asked.model_name + " on " + r.asked.gpus_and_machine();
    chart.subtitle = fmt::format("gain of tokens/s, predicted, from {}; batch {} x {} tokens",
                                 format_thousands(r.tokens_per_s()), r.asked.training.batch,
                                 format_thousands(r.asked.training.sequence));
    chart.note =
        "Thin line: nine of ten gains should lie there; grey: the gain is not sure. In brackets: "
        "the limit after the change.";
    chart.percent = true;
    chart.groups.emplace_back();
    for (const Upgrade& upgrade : all.upgrades)
        chart.groups.front().bars.push_back(
            {upgrade.name, upgrade.gain, upgrade.gain_low, upgrade.gain_high,
             fmt::format("{} ({})", gain_words(upgrade.gain),
                         bottleneck_label(upgrade.report.step.bottleneck())),
             "", paint(upgrade.sure() ? Role::pointed_out : Role::misfit),
             upgrade_sentence(upgrade)});
    return chart;
}

}  // namespace sluice
