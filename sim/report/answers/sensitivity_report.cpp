#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/answers/search/sensitivity.h"
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

/// "link.host_to_device_gb_per_s=110 ...", as --set takes them.
std::string machine_settings_of(const Upgrade& upgrade) {
    std::string out;
    for (const Setting& one : upgrade.machine_settings)
        out += fmt::format("{}{}={}", out.empty() ? "" : " ", one.field, one.value);
    return out;
}

Range speed_band(const Prediction& r) {
    return {r.tokens_per_s_at(r.band->high), r.tokens_per_s_at(r.band->low)};
}

}  // namespace

Table upgrades_table(const Sensitivity& all) {
    return table_of<Upgrade>(
        all.upgrades,
        {{"name", "change", Unit::text, &Upgrade::name},
         {"gain", "gain", Unit::change, &Upgrade::gain,
          "tokens/s over those of the machine as it is, less 1"},
         {"gain_{}_percent", "5 to 95%", Unit::change,
          [](auto& one) {
              return Range{one.gain_low, one.gain_high};
          },
          "nine of ten gains should lie there"},
         {"tokens_per_s", "tokens/s", Unit::whole,
          [](auto& one) { return one.report.tokens_per_s(); }},
         {"tokens_per_s_{}_percent", "", Unit::whole,
          [](auto& one) { return speed_band(one.report); }},
         {"bottleneck", "then bound by", Unit::text,
          [](auto& one) {
              return Cell(bottleneck_name(one.report.step.bottleneck()))
                  .shown_as(one.successor)
                  .with_tooltip(bottleneck_text(one.report.step));
          }},
         {"settings", "with settings", Unit::text,
          [](auto& one) { return setting_flags(one.settings); },
          "training settings that use the change best"},
         {"machine_settings", "as numbers of the machine", Unit::text, machine_settings_of,
          "none where no numbers of the profile make the change"}});
}

std::string sensitivity_text(const Sensitivity& all) {
    const Prediction& r = all.base;
    std::string out =
        fmt::format("{} on {}: {} tokens/s (5 to 95%: {}){}\nbound by {}\n", r.asked.model_name,
                    r.asked.machine_id, format_thousands(r.tokens_per_s()),
                    cell_text(speed_band(r), Unit::whole),
                    all.base_settings.empty() ? "" : " with " + setting_flags(all.base_settings),
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
    const Range band = speed_band(all.base);
    return readable_json({{"model", all.base.asked.model_name},
                          {"machine", all.base.asked.machine_id},
                          {"base",
                           {{"tokens_per_s", all.base.tokens_per_s()},
                            {"tokens_per_s_5_percent", band.low},
                            {"tokens_per_s_95_percent", band.high},
                            {"bottleneck", bottleneck_name(all.base.step.bottleneck())},
                            {"settings", setting_flags(all.base_settings)}}},
                          {"upgrades", to_json(upgrades_table(all))},
                          {"not_tried", all.not_possible},
                          {"note", all.note}});
}

}  // namespace sluice
