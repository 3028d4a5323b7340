#include "planner-gui/window/verdict_offers.h"

#include <QLabel>
#include <QPushButton>

#include "planner-gui/pages/page_parts.h"
#include "planner-gui/pages/wrapping_row.h"
#include "sim/report/report.h"

namespace sluice {
namespace {

/// "state bytes 8, host memory 1TB".
QString in_words(const std::vector<Setting>& settings) {
    QStringList out;
    for (const Setting& one : settings)
        out << QString::fromStdString(one.field + " " + one.value)
                   .replace(QLatin1Char('_'), QLatin1Char(' '));
    return out.join(QStringLiteral(", "));
}

}  // namespace

VerdictOffers::VerdictOffers(QWidget* parent) : QWidget(parent) {
    setLayout(new WrappingRow);
    // What is below stays where it is whether there are buttons or none.
    setMinimumHeight(QPushButton(tr("Fits with:"), this).sizeHint().height());
}

void VerdictOffers::setPrediction(std::shared_ptr<const ScenarioAnswer> prediction) {
    // Suggestions come with the second stage; other buttons stay under the mouse.
    const bool same =
        prediction_ != nullptr && prediction != nullptr &&
        ask_the_same(prediction_->planned, prediction->planned) &&
        prediction->stage != PredictionStage::step &&
        (prediction->report().plan.fit.fits() || prediction_->stage != PredictionStage::step);
    prediction_ = std::move(prediction);
    if (!same) showButtons();
}

void VerdictOffers::setByteUnits(ByteUnits units) {
    units_ = units;
    showButtons();
}

void VerdictOffers::setQuestions(const QStringList& questions) {
    if (questions == questions_) return;
    questions_ = questions;
    showButtons();
}

void VerdictOffers::showButtons() {
    while (QLayoutItem* const item = layout()->takeAt(0)) {
        // Later: one of these buttons may have been clicked just now.
        item->widget()->hide();
        item->widget()->setParent(nullptr);
        item->widget()->deleteLater();
        delete item;
    }
    if (prediction_ != nullptr && !prediction_->report().plan.fit.fits())
        addSuggestions();
    else
        addQuestions();
}

void VerdictOffers::addSuggestions() {
    const auto& suggestions = prediction_->report().advice.suggestions;
    const auto& in_vain = prediction_->report().advice.no_suggestion;
    QString words = tr("The figures assume that it fits.");
    if (!suggestions.empty())
        words += tr(" It fits with:");
    else if (in_vain)
        words += tr(" %1.").arg(
            capitalized(QString::fromStdString(no_suggestion_text(*in_vain, bytes_text(units_)))));
    auto* const sentence = new QLabel(words, this);
    sentence->setWordWrap(suggestions.empty());
    layout()->addWidget(sentence);
    for (const Suggestion& suggestion : suggestions) {
        const std::vector<Setting>& settings = suggestion.settings;
        auto* const button = new QPushButton(in_words(settings), this);
        button->setObjectName(QStringLiteral("suggestion"));
        // Sizes there are in the units that fields and command lines take.
        button->setToolTip(tr("On the command line: %1\nFits with it: device %2, host %3")
                               .arg(QString::fromStdString(setting_flags(settings)),
                                    byte_text(static_cast<double>(suggestion.device_peak), units_),
                                    byte_text(static_cast<double>(suggestion.host_peak), units_)));
        button->setAccessibleName(tr("Adopt %1").arg(button->text()));
        connect(button, &QPushButton::clicked, this,
                [this, settings] { Q_EMIT adopted(settings); });
        layout()->addWidget(button);
    }
}

void VerdictOffers::addQuestions() {
    for (int i = 0; i < questions_.size(); ++i) {
        auto* const button = new QPushButton(questions_[i], this);
        button->setObjectName(QStringLiteral("question"));
        connect(button, &QPushButton::clicked, this, [this, i] { Q_EMIT asked(i); });
        layout()->addWidget(button);
    }
}

}  // namespace sluice
