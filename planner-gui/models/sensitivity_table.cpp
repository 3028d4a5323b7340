#include "planner-gui/models/sensitivity_table.h"

#include <fmt/format.h>

#include "planner-gui/pictures/tornado.h"
#include "sim/base/format.h"
#include "sim/report/report.h"

namespace sluice {
namespace {

QString text(const std::string& words) { return QString::fromStdString(words); }

QString dash_if_empty(const std::string& words) {
    return words.empty() ? QStringLiteral("-") : text(words);
}

}  // namespace

CellTable sensitivity_table(const Sensitivity& all) {
    CellTable table;
    table.columns = {
        {QStringLiteral("Change"), {}, QStringLiteral("change")},
        {QStringLiteral("Gain"),
         QStringLiteral("Tokens/s over those of the machine as it is, less 1"),
         QStringLiteral("gain")},
        {QStringLiteral("Least"),
         QStringLiteral("Nine of ten gains should lie between least and most"),
         QStringLiteral("gain_5_percent")},
        {QStringLiteral("Most"),
         QStringLiteral("Nine of ten gains should lie between least and most"),
         QStringLiteral("gain_95_percent")},
        {QStringLiteral("Tokens/s"), {}, QStringLiteral("tokens_per_s")},
        {QStringLiteral("Then bound by"), {}, QStringLiteral("then_bound_by")},
        {QStringLiteral("With settings"),
         QStringLiteral("Training settings that use the change best"), QStringLiteral("settings")},
        {QStringLiteral("As numbers of the machine"),
         QStringLiteral("What is adopted; none where no numbers of the profile make the change"),
         QStringLiteral("machine_settings")}};
    for (const Upgrade& upgrade : all.upgrades) {
        const double speed = upgrade.report.tokens_per_s();
        std::vector<std::string> numbers;
        for (const Setting& one : upgrade.machine_settings)
            numbers.push_back(one.field + "=" + one.value);
        const QString settings = dash_if_empty(fmt::format("{}", fmt::join(numbers, " ")));
        table.rows.push_back(
            {{text(upgrade.name), {}, upgrade_sentence(upgrade)},
             {gain_text(upgrade.gain), upgrade.gain},
             {gain_text(upgrade.gain_low), upgrade.gain_low},
             {gain_text(upgrade.gain_high), upgrade.gain_high},
             {text(format_thousands(speed)), speed},
             {successor_text(upgrade), {}, text(bottleneck_text(upgrade.report.step))},
             {dash_if_empty(setting_flags(upgrade.settings))},
             {settings, {}, settings}});
    }
    return table;
}

}  // namespace sluice
