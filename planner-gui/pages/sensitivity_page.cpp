#include "planner-gui/pages/sensitivity_page.h"

#include <QPushButton>

#include "planner-gui/pages/adoptable_bars.h"
#include "planner-gui/pages/page_parts.h"
#include "sim/report/answers/answer_reports.h"
#include "sim/report/search/search_pictures.h"

namespace sluice {

SensitivityPage::SensitivityPage(QWidget* parent)
    : AnswerPage(parent),
      words_(text_label(tr("What limits, and what gains most"))),
      try_(new QPushButton),
      bars_(new AdoptableBars(
          {tr("Gain of each change"), tr("Changes of the machine"),
           tr("The change that is selected"),
           tr("Adopts the change of the machine (Enter, double click); Undo takes it back")})) {
    setAccessibleName(tr("Sensitivity"));
    try_->setToolTip(
        tr("Predict this scenario with more device memory, a faster link, more cores, faster host "
           "memory and the next GPU"));
    layOut(words_and_buttons(words_, {try_}), bars_,
           {tr("What would gain most?"),
            tr("Try changes predicts this scenario with more device memory, a faster link, more "
               "cores, faster host memory and the next GPU."),
            tr("The scenario has changed since these changes were tried.")},
           {words_, bars_});
    connect(try_, &QPushButton::clicked, this, &SensitivityPage::sensitivityRequested);
    connect(this, &AnswerPage::runAgain, this, &SensitivityPage::sensitivityRequested);
    connect(bars_, &AdoptableBars::adopted, this, &SensitivityPage::adoptUpgrade);
    setBusy(false);
    setSensitivity(nullptr);
}

void SensitivityPage::setSensitivity(std::shared_ptr<const Sensitivity> sensitivity) {
    sensitivity_ = std::move(sensitivity);
    showAnswer(sensitivity_ != nullptr);
    words_->setVisible(sensitivity_ != nullptr);
    if (!sensitivity_) return bars_->setThings({}, {}, {}, ByteUnits::decimal);
    QString words = QString::fromStdString(sensitivity_sentence(*sensitivity_));
    for (const std::string& sentence : sensitivity_->not_possible)
        words += tr("\nNot tried: %1.").arg(QString::fromStdString(sentence));
    words_->setText(words);
    std::vector<Adoptable> upgrades;
    for (const Upgrade& upgrade : sensitivity_->upgrades) {
        const bool possible = !upgrade.machine_settings.empty();
        upgrades.push_back(
            {QString::fromStdString(upgrade_sentence(upgrade)) + QLatin1Char('.') +
                 (possible ? QString()
                           : tr(" It cannot be adopted: no numbers of the machine's profile make "
                                "this change.")),
             possible});
    }
    bars_->setThings(std::move(upgrades), upgrade_bars(*sensitivity_),
                     upgrades_table(*sensitivity_), ByteUnits::decimal);
}

void SensitivityPage::showBusy() {
    try_->setEnabled(!isBusy());
    try_->setText(isBusy() ? tr("Trying ...") : tr("&Try changes"));
}

void SensitivityPage::adoptUpgrade(int at) {
    const Upgrade& upgrade = sensitivity_->upgrades[static_cast<std::size_t>(at)];
    std::vector<Setting> settings = upgrade.machine_settings;
    settings.insert(settings.end(), upgrade.settings.begin(), upgrade.settings.end());
    Q_EMIT adopt(settings, QString::fromStdString(upgrade.name));
}

QByteArray SensitivityPage::svg() const { return bars_->svg(); }

QString SensitivityPage::csv() const {
    return sensitivity_ ? QString::fromStdString(to_csv(upgrades_table(*sensitivity_))) : QString();
}

}  // namespace sluice
