#include "planner-gui/pictures/tornado.h"

#include <cmath>

#include "sim/base/format.h"
#include "sim/report/report.h"

namespace sluice {
namespace {

QString text(const std::string& words) { return QString::fromStdString(words); }

QString range_text(const Upgrade& upgrade) {
    return QStringLiteral("%1 to %2")
        .arg(gain_text(upgrade.gain_low), gain_text(upgrade.gain_high));
}

/// Without its share of the step.
QString bound_text(const Prediction& report) {
    return text(bottleneck_label(report.step.bottleneck()));
}

}  // namespace

QString gain_text(double gain) { return text(format_error(std::abs(gain) < 0.0005 ? 0.0 : gain)); }

QString successor_text(const Upgrade& upgrade) { return bound_text(upgrade.report); }

BarChart tornado_chart(const Sensitivity& all) {
    BarChart chart;
    chart.percent = true;
    chart.title = QStringLiteral("Gain of tokens/s over %1, predicted")
                      .arg(text(format_thousands(all.base.tokens_per_s())));
    chart.note = QStringLiteral(
        "Thin line: where nine of ten gains should lie; grey where that is not surely a gain. In "
        "brackets: what limits then.");
    for (const Upgrade& upgrade : all.upgrades) {
        Bar bar;
        bar.name = text(upgrade.name);
        bar.value = upgrade.gain;
        bar.low = upgrade.gain_low;
        bar.high = upgrade.gain_high;
        bar.label = QStringLiteral("%1 (%2)").arg(gain_text(upgrade.gain), successor_text(upgrade));
        bar.colour = upgrade.sure() ? BarColour::pointed_out : BarColour::grey;
        bar.tooltip = upgrade_sentence(upgrade);
        chart.bars.push_back(std::move(bar));
    }
    return chart;
}

QString upgrade_sentence(const Upgrade& upgrade) {
    const QString with = upgrade.settings.empty()
                             ? QString()
                             : QStringLiteral(" with ") + text(setting_flags(upgrade.settings));
    return QStringLiteral("%1%2: %3 (5 to 95%: %4), %5 tokens/s. Then bound by %6")
        .arg(text(upgrade.name), with, gain_text(upgrade.gain), range_text(upgrade),
             text(format_thousands(upgrade.report.tokens_per_s())),
             text(bottleneck_text(upgrade.report.step)));
}

QString sensitivity_sentence(const Sensitivity& all) {
    QString out =
        QStringLiteral("%1 tokens/s%2, bound by %3.")
            .arg(text(format_thousands(all.base.tokens_per_s())),
                 all.base_settings.empty() ? QString()
                                           : QStringLiteral(" with ") + text(all.base_settings),
                 bound_text(all.base));
    if (all.upgrades.empty() || all.upgrades.front().gain <= 0)
        return out + QStringLiteral(" None of the changes tried gains.");
    const Upgrade& first = all.upgrades.front();
    out += QStringLiteral(" Most is gained by %1: %2, then bound by %3.")
               .arg(text(first.name), gain_text(first.gain), successor_text(first));
    if (!first.sure())
        out += QStringLiteral(" That gain is not sure: its band reaches %1.")
                   .arg(gain_text(first.gain_low));
    return out;
}

}  // namespace sluice
