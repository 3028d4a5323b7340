#include "planner-gui/window/verdict_panel.h"

#include <fmt/format.h>

#include <QEvent>
#include <QPushButton>
#include <QVBoxLayout>

#include "planner-gui/pages/keyboard_tips.h"
#include "planner-gui/pages/page_parts.h"
#include "planner-gui/pages/wrapping_row.h"
#include "planner-gui/pictures/answer_words.h"
#include "planner-gui/pictures/palette.h"
#include "planner-gui/window/verdict_figures.h"
#include "sim/base/format.h"
#include "sim/report/report.h"

namespace sluice {
namespace {

/// Screen readers read the text itself.
QLabel* label_of(QWidget* parent, const QString& object) {
    auto* const label = new QLabel(parent);
    label->setObjectName(object);
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    return label;
}

/// "device 24.8 GB of 149.9 GB".
QString used(const QString& name, const Fit::OfMemory& tier, ByteUnits units) {
    return QObject::tr("%1 %2 of %3")
        .arg(name, byte_text(static_cast<double>(tier.peak.bytes), units),
             byte_text(static_cast<double>(tier.usable), units));
}

}  // namespace

QString in_words(const std::vector<Setting>& settings) {
    QStringList out;
    for (const Setting& one : settings) out << qtext(field_label(one.field) + ": " + one.value);
    return out.join(QStringLiteral(", "));
}

VerdictPanel::VerdictPanel(QWidget* parent) : QFrame(parent) {
    setObjectName(QStringLiteral("verdict"));
    setAccessibleName(tr("Verdict"));
    headline_ = label_of(this, QStringLiteral("headline"));
    QFont large = font();
    large.setPointSizeF(large.pointSizeF() * 1.6);
    large.setBold(true);
    headline_->setFont(large);
    detail_ = label_of(this, QStringLiteral("detail"));
    figures_ = new VerdictFigures(this);
    bound_ = label_of(this, QStringLiteral("bound"));
    set_reachable_tip(bound_, tr("The lane with the largest share of the step's critical path"));
    confidence_ = label_of(this, QStringLiteral("confidence"));
    for (QLabel* const line : {bound_, confidence_})  // also if there is no text
        line->setMinimumHeight(line->fontMetrics().height());
    offers_ = new QWidget(this);
    offers_->setLayout(new WrappingRow);
    // Keeps what is below in place, with and without buttons.
    offers_->setMinimumHeight(QPushButton(tr("Fits with:"), this).sizeHint().height());
    auto* const column = new QVBoxLayout(this);
    const QMargins margins = column->contentsMargins();
    column->setContentsMargins(margins.left(), 0, margins.right(), 0);
    column->setSpacing(column->spacing() / 2);
    for (QWidget* const part : std::initializer_list<QWidget*>{headline_, detail_, figures_, bound_,
                                                               confidence_, offers_})
        column->addWidget(part);
}

void VerdictPanel::setPrediction(std::shared_ptr<const ScenarioAnswer> prediction) {
    // Suggestions arrive with the second stage, a faster plan with the last. Buttons stay under
    // the mouse.
    const bool same_offers =
        prediction_ != nullptr && ask_the_same(prediction_->planned, prediction->planned) &&
        prediction->stage != PredictionStage::step &&
        (prediction->report().plan.fit.fits() || prediction_->stage != PredictionStage::step);
    const bool had_faster = prediction_ != nullptr && prediction_->report().faster_plan;
    prediction_ = std::move(prediction);
    setPending(false);
    showHeadline();
    showDetail();
    figures_->setPrediction(*prediction_);
    showLimit();
    showConfidence();
    if (!same_offers)
        showOffers();
    else if (!had_faster)
        addFasterPlan();
}

void VerdictPanel::setRefused(const QString& sentence) {
    prediction_.reset();
    setPending(false);
    headline_->setPalette(palette());
    headline_->setText(tr("No prediction"));
    set_reachable_tip(headline_, {});
    detail_->setText(sentence);
    figures_->clear();
    bound_->clear();
    confidence_->clear();
    showOffers();
}

void VerdictPanel::setPending(bool pending) {
    for (QLabel* const label : {headline_, detail_, bound_, confidence_})
        label->setEnabled(!pending);
    figures_->setPending(pending);
}

void VerdictPanel::setByteUnits(ByteUnits units) {
    units_ = units;
    showOffers();
    if (!prediction_) return;
    showHeadline();
    showDetail();
}

void VerdictPanel::setQuestions(const QStringList& questions) {
    if (questions == questions_) return;
    questions_ = questions;
    showOffers();
}

void VerdictPanel::showHeadline() {
    const Fit& fit = prediction_->report().plan.fit;
    QStringList shorts;
    for (const auto& [name, tier] :
         {std::pair(tr("device memory"), &fit.device()), std::pair(tr("host memory"), &fit.host()),
          std::pair(tr("storage"), &fit.storage())})
        if (tier->shortfall() > 0)
            shorts << tr("%1 of %2")
                          .arg(byte_text(static_cast<double>(tier->shortfall()), units_), name);
    // Settings that were not chosen may fit where these do not, as the command line takes them.
    const bool other_plan_fits = prediction_->report().faster_plan.has_value();
    const QString missing = shorts.join(tr(" and "));
    // A sign in addition to the colour.
    headline_->setText(fit.fits()        ? tr("\u2713 Fits")
                       : other_plan_fits ? tr("\u2713 Fits with other settings; with these it is "
                                              "short %1")
                                               .arg(missing)
                                         : tr("\u2717 Does not fit: short %1").arg(missing));
    const Colours colours = colours_of(palette());
    QPalette coloured = palette();
    const bool known = fit.fits() || prediction_->stage == PredictionStage::remedies;
    for (const QPalette::ColorGroup group : {QPalette::Active, QPalette::Inactive})
        if (known)  // the last stage says whether other settings fit
            coloured.setColor(
                group, QPalette::WindowText,
                qcolor(fit.fits() || other_plan_fits ? colours.good : colours.waiting));
    // In the same line, so that nothing below moves.
    const RunsToday& today = prediction_->report().asked.runs_today;
    if (!today.runs())
        headline_->setText(tr("%1; no program trains this way today").arg(headline_->text()));
    set_reachable_tip(headline_, today.runs() ? QString() : capitalized(qtext(today.why_not)));
    headline_->setPalette(coloured);
}

void VerdictPanel::showDetail() {
    const Prediction& r = prediction_->report();
    const bool alone = r.asked.training.gpus == 1;
    detail_->setText(
        QStringLiteral("%1 (%2) on %3: %4, %5")
            .arg(breakable(r.asked.model_name),
                 tr("%1 parameters, %2 layers")
                     .arg(qtext(format_count(static_cast<double>(r.asked.parameters))))
                     .arg(r.asked.layers),
                 breakable(r.asked.gpus_and_machine()),
                 used(alone ? tr("device") : tr("each device"), r.plan.fit.device(), units_),
                 used(alone ? tr("host") : tr("each host"), r.plan.fit.host(), units_)));
}

void VerdictPanel::showLimit() {
    const Prediction& r = prediction_->report();
    QStringList sentences{tr("Bound by %1.").arg(qtext(bottleneck_text(r.step)))};
    for (const Remedy& remedy : r.advice.remedies) sentences << remedy_sentence(remedy);
    bound_->setText(sentences.join(QLatin1Char('\n')));
}

void VerdictPanel::showConfidence() {
    const Prediction& r = prediction_->report();
    QStringList assumptions;
    for (const std::string& one : r.plan.assumptions) assumptions << window_text(one);
    for (const std::string& one : prediction_->cost.assumptions) assumptions << window_text(one);
    confidence_->setText(
        tr("Confidence: %1 rates of the machine; %2 assumptions (mouse or Tab shows them)")
            .arg(qtext(confidence_name(r.plan.confidence)))
            .arg(assumptions.size()));
    set_reachable_tip(confidence_, wrapped_tooltip(assumptions.join(QLatin1Char('\n'))));
}

void VerdictPanel::showOffers() {
    while (QLayoutItem* const item = offers_->layout()->takeAt(0)) {
        // Later, since one of these buttons may be the sender of this click.
        item->widget()->hide();
        item->widget()->setParent(nullptr);
        item->widget()->deleteLater();
        delete item;
    }
    if (prediction_ != nullptr && !prediction_->report().plan.fit.fits())
        addSuggestions();
    else
        addQuestions();
    if (prediction_ != nullptr) addFasterPlan();
}

QPushButton* VerdictPanel::addOffer(const QString& text, const std::vector<Setting>& settings) {
    auto* const button = new QPushButton(text, offers_);
    button->setObjectName(QStringLiteral("suggestion"));
    button->setAccessibleName(tr("Adopt %1").arg(text));
    connect(button, &QPushButton::clicked, this, [this, settings] { Q_EMIT adopted(settings); });
    offers_->layout()->addWidget(button);
    return button;
}

void VerdictPanel::addSuggestions() {
    const auto& suggestions = prediction_->report().advice.suggestions;
    const auto& in_vain = prediction_->report().advice.no_suggestion;
    QString words = tr("The figures assume that it fits.");
    if (!suggestions.empty())
        words += tr(" It fits with:");
    else if (in_vain)
        words += tr(" %1.").arg(
            capitalized(window_text(no_suggestion_text(*in_vain, bytes_text(units_)))));
    auto* const sentence = new QLabel(words, offers_);
    sentence->setWordWrap(suggestions.empty());
    offers_->layout()->addWidget(sentence);
    for (const Suggestion& suggestion : suggestions) {
        QPushButton* const button = addOffer(in_words(suggestion.settings), suggestion.settings);
        button->setToolTip(tr("Adds this scenario, which uses %1 of device memory and %2 of host "
                              "memory")
                               .arg(byte_text(static_cast<double>(suggestion.device_peak), units_),
                                    byte_text(static_cast<double>(suggestion.host_peak), units_)));
    }
}

void VerdictPanel::addFasterPlan() {
    const Prediction& r = prediction_->report();
    if (!r.faster_plan) return;
    const std::vector<Setting> settings =
        changed_settings(r.asked.training, r.faster_plan->training);
    const Seconds step = *r.faster_plan->step;
    QPushButton* const button =
        addOffer(r.plan.fit.fits()
                     ? tr("Faster plan: %1%")
                           .arg(qtext(fmt::format("{:+.0f}", 100 * (r.step.seconds / step - 1))))
                     : tr("Plan that fits"),
                 settings);
    button->setObjectName(QStringLiteral("faster_plan"));
    button->setToolTip(
        tr("Adds this scenario with %1: %2 a step, %3 tokens/s with the same batch")
            .arg(in_words(settings), qtext(format_seconds(step)),
                 qtext(format_thousands(static_cast<double>(r.asked.training.tokens()) / step))));
}

void VerdictPanel::addQuestions() {
    for (int i = 0; i < questions_.size(); ++i) {
        auto* const button = new QPushButton(questions_[i], offers_);
        button->setObjectName(QStringLiteral("question"));
        connect(button, &QPushButton::clicked, this, [this, i] { Q_EMIT asked(i); });
        offers_->layout()->addWidget(button);
    }
}

void VerdictPanel::changeEvent(QEvent* event) {
    if (event->type() == QEvent::PaletteChange && prediction_) showHeadline();
    QFrame::changeEvent(event);
}

}  // namespace sluice
