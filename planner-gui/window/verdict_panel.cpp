#include "planner-gui/window/verdict_panel.h"

#include <QEvent>
#include <QVBoxLayout>

#include "planner-gui/pages/page_parts.h"
#include "planner-gui/pictures/palette.h"
#include "planner-gui/window/verdict_figures.h"
#include "planner-gui/window/verdict_offers.h"
#include "sim/base/format.h"
#include "sim/report/report.h"

namespace sluice {
namespace {

QString from(const std::string& text) { return QString::fromStdString(text); }

/// What a screen reader reads is the text.
QLabel* label_of(QWidget* parent, const QString& object) {
    auto* const label = new QLabel(parent);
    label->setObjectName(object);
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    return label;
}

/// "device 24.8 GB of 149.9 GB".
QString used(const QString& name, const Fit::OfTier& tier, ByteUnits units) {
    return QObject::tr("%1 %2 of %3")
        .arg(name, byte_text(static_cast<double>(tier.peak.bytes), units),
             byte_text(static_cast<double>(tier.usable), units));
}

}  // namespace

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
    bound_->setToolTip(tr("The lane with the largest share of the step's critical path"));
    confidence_ = label_of(this, QStringLiteral("confidence"));
    for (QLabel* const line : {bound_, confidence_})  // also while there is nothing to say
        line->setMinimumHeight(line->fontMetrics().height());
    offers_ = new VerdictOffers(this);
    connect(offers_, &VerdictOffers::adopted, this, &VerdictPanel::adopted);
    connect(offers_, &VerdictOffers::asked, this, &VerdictPanel::asked);
    auto* const column = new QVBoxLayout(this);
    const QMargins margins = column->contentsMargins();
    column->setContentsMargins(margins.left(), 0, margins.right(), 0);
    column->setSpacing(column->spacing() / 2);
    for (QWidget* const part : std::initializer_list<QWidget*>{headline_, detail_, figures_, bound_,
                                                               confidence_, offers_})
        column->addWidget(part);
}

void VerdictPanel::setPrediction(std::shared_ptr<const ScenarioAnswer> prediction) {
    prediction_ = std::move(prediction);
    setPending(false);
    showHeadline();
    showDetail();
    figures_->setPrediction(*prediction_);
    showLimit();
    showConfidence();
    offers_->setPrediction(prediction_);
}

void VerdictPanel::setRefused(const QString& sentence) {
    prediction_.reset();
    setPending(false);
    headline_->setPalette(palette());
    headline_->setText(tr("No prediction"));
    detail_->setText(sentence);
    figures_->clear();
    bound_->clear();
    confidence_->clear();
    offers_->setPrediction(nullptr);
}

void VerdictPanel::setPending(bool pending) {
    for (QLabel* const label : {headline_, detail_, bound_, confidence_})
        label->setEnabled(!pending);
    figures_->setPending(pending);
}

void VerdictPanel::setByteUnits(ByteUnits units) {
    units_ = units;
    offers_->setByteUnits(units);
    if (!prediction_) return;
    showHeadline();
    showDetail();
}

void VerdictPanel::setQuestions(const QStringList& questions) { offers_->setQuestions(questions); }

void VerdictPanel::showHeadline() {
    const Fit& fit = prediction_->report().plan.fit;
    QStringList shorts;
    for (const auto& [name, tier] :
         {std::pair(tr("device memory"), &fit.device), std::pair(tr("host memory"), &fit.host),
          std::pair(tr("storage"), &fit.storage)})
        if (tier->shortfall() > 0)
            shorts << tr("%1 of %2")
                          .arg(byte_text(static_cast<double>(tier->shortfall()), units_), name);
    // The sign too, not the colour alone.
    headline_->setText(fit.fits()
                           ? tr("\u2713 Fits")
                           : tr("\u2717 Does not fit: short %1").arg(shorts.join(tr(" and "))));
    const Colours colours = colours_of(palette());
    QPalette coloured = palette();
    for (const QPalette::ColorGroup group : {QPalette::Active, QPalette::Inactive})
        coloured.setColor(group, QPalette::WindowText,
                          qcolor(fit.fits() ? colours.good : colours.waiting));
    headline_->setPalette(coloured);
}

void VerdictPanel::showDetail() {
    const Prediction& r = prediction_->report();
    detail_->setText(QStringLiteral("%1 (%2) on %3: %4, %5")
                         .arg(breakable(r.asked.model_name),
                              tr("%1 parameters, %2 layers")
                                  .arg(from(format_count(static_cast<double>(r.asked.parameters))))
                                  .arg(r.asked.layers),
                              breakable(r.asked.machine_id),
                              used(tr("device"), r.plan.fit.device, units_),
                              used(tr("host"), r.plan.fit.host, units_)));
}

void VerdictPanel::showLimit() {
    const Prediction& r = prediction_->report();
    QStringList sentences{tr("Bound by %1").arg(from(bottleneck_text(r.step)))};
    for (const Remedy& remedy : r.advice.remedies) sentences << from(remedy_text(remedy));
    bound_->setText(sentences.join(QLatin1Char('\n')));
}

void VerdictPanel::showConfidence() {
    const Prediction& r = prediction_->report();
    QStringList assumptions;
    for (const std::string& one : r.plan.assumptions) assumptions << from(one);
    for (const std::string& one : prediction_->cost.assumptions) assumptions << from(one);
    confidence_->setText(tr("Confidence: %1 rates of the machine; assumptions: %2")
                             .arg(from(confidence_name(r.plan.confidence)))
                             .arg(assumptions.size()));
    confidence_->setToolTip(wrapped_tooltip(assumptions.join(QLatin1Char('\n'))));
}

void VerdictPanel::changeEvent(QEvent* event) {
    if (event->type() == QEvent::PaletteChange && prediction_) showHeadline();
    QFrame::changeEvent(event);
}

}  // namespace sluice
