#include "planner-gui/window/verdict_panel.h"

#include <fmt/format.h>

#include <QEvent>
#include <QGridLayout>
#include <QPushButton>
#include <QVBoxLayout>

#include "planner-gui/pictures/palette.h"
#include "planner-gui/window/wrapping_row.h"
#include "sim/report/format.h"

namespace sluice {
namespace {

QString from(const std::string& text) { return QString::fromStdString(text); }

QLabel* text_label(QWidget* parent, const QString& object) {
    auto* const label = new QLabel(parent);
    label->setObjectName(object);
    label->setWordWrap(true);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    return label;
}

/// A tooltip of several lines, wrapped where they are long.
QString wrapped(const QString& lines) {
    if (lines.isEmpty()) return {};
    return QStringLiteral("<qt>%1</qt>")
        .arg(lines.toHtmlEscaped().replace(QLatin1Char('\n'), QStringLiteral("<br>")));
}

/// A name that may go on on another line, however long it is.
QString breakable(const std::string& name) {
    constexpr int kShort = 24;  // letters; stays in one piece
    QString out = from(name);
    for (qsizetype at = kShort; at < out.size(); at += kShort + 1)
        out.insert(at, QChar(0x200B));  // a space of no width
    return out;
}

/// "device 24.8 GB of 149.9 GB".
QString used(const QString& name, const Fit::OfTier& tier, ByteUnits units) {
    return QObject::tr("%1 %2 of %3")
        .arg(name, byte_text(static_cast<double>(tier.peak.bytes), units),
             byte_text(static_cast<double>(tier.usable), units));
}

/// "--state-bytes 8 --host-memory 1TB" as people read it: "state bytes 8, host memory 1TB".
QString in_words(const std::string& flags) {
    QString out;
    for (QString& word : from(flags).split(QLatin1Char(' '), Qt::SkipEmptyParts)) {
        const bool flag = word.startsWith(QStringLiteral("--"));
        if (flag) word = word.mid(2).replace(QLatin1Char('-'), QLatin1Char(' '));
        out += out.isEmpty() ? word : (flag ? QStringLiteral(", ") : QStringLiteral(" ")) + word;
    }
    return out;
}

/// Three digits, or all of a large number: "5.87", "58,695".
QString amount(double value) {
    return from(value < 1000 ? fmt::format("{:.3g}", value) : format_thousands(value));
}

/// The offer, or what is bought for how much.
QString paid_to(const Payment& payment) {
    if (payment.price_usd == 0) return from(payment.name);
    const QString price = from(format_usd(payment.price_usd));
    return payment.gpu_alone
               ? QObject::tr("bought, %1 for the GPU alone, without a host").arg(price)
               : QObject::tr("bought for %1").arg(price);
}

QString band_of(const Banded& number, const std::function<std::string(double)>& text) {
    if (number.high <= 0) return {};
    return QObject::tr("5 to 95%: %1 to %2").arg(from(text(number.low)), from(text(number.high)));
}

}  // namespace

VerdictPanel::VerdictPanel(QWidget* parent) : QFrame(parent) {
    setObjectName(QStringLiteral("verdict"));
    setAccessibleName(tr("Verdict"));
    headline_ = text_label(this, QStringLiteral("headline"));
    QFont large = font();
    large.setPointSizeF(large.pointSizeF() * 1.6);
    large.setBold(true);
    headline_->setFont(large);
    detail_ = text_label(this, QStringLiteral("detail"));
    bound_ = text_label(this, QStringLiteral("bound"));
    bound_->setToolTip(tr("The lane with the largest share of the step's critical path"));
    confidence_ = text_label(this, QStringLiteral("confidence"));

    figures_ = new QGridLayout;
    speed_ = addFigure(0, tr("Speed"), QStringLiteral("speed"));
    price_ = addFigure(1, tr("Price"), QStringLiteral("price"));
    days_ = addFigure(2, tr("Time"), QStringLiteral("days"));
    energy_ = addFigure(3, tr("Energy"), QStringLiteral("energy"));

    offers_ = new QWidget(this);
    offers_->setLayout(new WrappingRow);
    // What is below stays where it is whether there are buttons or none.
    offers_->setMinimumHeight(QPushButton(tr("Fits with:"), this).sizeHint().height());
    auto* const column = new QVBoxLayout(this);
    column->addWidget(headline_);
    column->addWidget(detail_);
    column->addLayout(figures_);
    column->addWidget(bound_);
    column->addWidget(confidence_);
    column->addWidget(offers_);
}

VerdictPanel::Figure VerdictPanel::addFigure(int column, const QString& name,
                                             const QString& object) {
    Figure out{new QLabel(name, this), text_label(this, object),
               text_label(this, object + QStringLiteral("_more"))};
    QFont large = font();
    large.setPointSizeF(large.pointSizeF() * 1.25);
    large.setBold(true);
    out.value->setFont(large);
    out.name->setForegroundRole(QPalette::PlaceholderText);
    figures_->addWidget(out.name, 0, column);
    figures_->addWidget(out.value, 1, column, Qt::AlignTop);
    figures_->addWidget(out.more, 2, column, Qt::AlignTop);
    figures_->setColumnStretch(column, 1);
    return out;
}

void VerdictPanel::set(const Figure& figure, const QString& value, const QString& more,
                       const QString& tooltip) {
    figure.value->setText(value);
    // A name alone would be read out instead of the text.
    figure.value->setAccessibleName(tr("%1: %2").arg(figure.name->text(), value));
    figure.more->setText(more);
    for (QLabel* const label : {figure.name, figure.value, figure.more})
        label->setToolTip(wrapped(tooltip));
}

void VerdictPanel::setPrediction(std::shared_ptr<const Prediction> prediction) {
    // Suggestions come with the second stage; other buttons stay under the mouse.
    const bool same =
        prediction_ != nullptr && ask_the_same(prediction_->planned, prediction->planned) &&
        prediction->stage != PredictionStage::step &&
        (prediction->report().fit.fits() || prediction_->stage != PredictionStage::step);
    prediction_ = std::move(prediction);
    setPending(false);
    show_headline();
    if (!same) show_offers();
    show_figures();
}

void VerdictPanel::setRefused(const QString& sentence) {
    prediction_.reset();
    setPending(false);
    show_offers();
    headline_->setPalette(palette());
    headline_->setText(tr("No prediction"));
    detail_->setText(sentence);
    for (const Figure* figure : {&speed_, &price_, &days_, &energy_}) set(*figure, {}, {}, {});
    bound_->clear();
    confidence_->clear();
}

void VerdictPanel::setPending(bool pending) {
    for (const Figure* figure : {&speed_, &price_, &days_, &energy_})
        for (QLabel* const label : {figure->value, figure->more}) label->setEnabled(!pending);
}

void VerdictPanel::setByteUnits(ByteUnits units) {
    units_ = units;
    if (!prediction_) return;
    show_headline();
    show_offers();
}

void VerdictPanel::show_headline() {
    const StepReport& r = prediction_->report();
    const bool fits = r.fit.fits();
    QStringList shorts;
    for (const auto& [name, tier] :
         {std::pair(tr("device memory"), &r.fit.device), std::pair(tr("host memory"), &r.fit.host),
          std::pair(tr("storage"), &r.fit.storage)})
        if (tier->shortfall() > 0)
            shorts << tr("%1 of %2")
                          .arg(byte_text(static_cast<double>(tier->shortfall()), units_), name);
    // The sign too, not the colour alone.
    headline_->setText(fits ? tr("\u2713 Fits")
                            : tr("\u2717 Does not fit: short %1").arg(shorts.join(tr(" and "))));
    const Palette colours(palette());
    QPalette coloured = palette();
    coloured.setColor(QPalette::WindowText, fits ? colours.good() : colours.waiting());
    headline_->setPalette(coloured);
    detail_->setText(QStringLiteral("%1 (%2) on %3: %4, %5")
                         .arg(breakable(r.model_name),
                              tr("%1 parameters, %2 layers")
                                  .arg(from(format_count(static_cast<double>(r.parameters))))
                                  .arg(r.layers),
                              breakable(r.machine_id), used(tr("device"), r.fit.device, units_),
                              used(tr("host"), r.fit.host, units_)));
}

void VerdictPanel::show_offers() {
    while (QLayoutItem* const item = offers_->layout()->takeAt(0)) {
        // Later: one of these buttons may have been clicked just now.
        item->widget()->hide();
        item->widget()->setParent(nullptr);
        item->widget()->deleteLater();
        delete item;
    }
    if (prediction_ != nullptr && !prediction_->report().fit.fits())
        add_suggestions();
    else
        add_questions();
}

void VerdictPanel::add_suggestions() {
    const auto& suggestions = prediction_->report().suggestions;
    QString words = tr("The figures are as if it did fit.");
    if (!suggestions.empty())
        words += tr(" It fits with:");
    else if (prediction_->stage != PredictionStage::step)
        words +=
            tr(" No nearby setting fits: a shorter sequence, fewer layers or a larger machine "
               "is needed.");
    auto* const sentence = new QLabel(words, this);
    sentence->setWordWrap(suggestions.empty());
    offers_->layout()->addWidget(sentence);
    for (const Suggestion& suggestion : suggestions) {
        auto* const button = new QPushButton(in_words(suggestion.change), this);
        button->setObjectName(QStringLiteral("suggestion"));
        button->setToolTip(tr("Fits with it: device %1, host %2")
                               .arg(byte_text(static_cast<double>(suggestion.device_peak), units_),
                                    byte_text(static_cast<double>(suggestion.host_peak), units_)));
        button->setAccessibleName(tr("Adopt %1").arg(button->text()));
        connect(button, &QPushButton::clicked, this,
                [this, flags = from(suggestion.change)] { Q_EMIT adopted(flags); });
        offers_->layout()->addWidget(button);
    }
}

void VerdictPanel::add_questions() {
    for (int i = 0; i < questions_.size(); ++i) {
        auto* const button = new QPushButton(questions_[i], this);
        button->setObjectName(QStringLiteral("question"));
        connect(button, &QPushButton::clicked, this, [this, i] { Q_EMIT asked(i); });
        offers_->layout()->addWidget(button);
    }
}

void VerdictPanel::show_figures() {
    const StepReport& r = prediction_->report();
    const CostAnswer& cost = prediction_->cost;
    const RunCost run = cost_or_free(cost);
    const Banded speed{r.tokens_per_s(), r.has_band() ? r.tokens_per_s_at(r.step_high) : 0,
                       r.has_band() ? r.tokens_per_s_at(r.step_low) : 0};
    set(speed_, tr("%1 tokens/s").arg(from(format_thousands(speed.value))),
        band_of(speed, [](double value) { return format_thousands(value); }),
        tr("Tokens of a step over its time, %1; nine of ten measured steps should lie in the band")
            .arg(from(format_seconds(r.step))));
    if (cost.cost) {
        set(price_,
            tr("%1 a million tokens").arg(from(format_usd(run.usd_per_million_tokens.value))),
            tr("%1 an hour: %2").arg(from(format_usd(run.usd_per_hour)), paid_to(*cost.payment)),
            tr("%1\n%2").arg(
                band_of(run.usd_per_million_tokens, [](double usd) { return format_usd(usd); }),
                from(cost.payment->origin)));
    } else {
        set(price_, tr("no price known"), tr("give $ an hour or a price"), {});
    }
    const QString tokens = from(format_count(cost.tokens));
    set(days_, tr("%1 days").arg(amount(run.days.value)),
        cost.cost ? tr("%1 for %2 tokens").arg(from(format_usd(run.usd.value)), tokens)
                  : tr("for %1 tokens").arg(tokens),
        from(format_banded(run.days, "days")));
    if (run.kwh)
        set(energy_, tr("%1 kWh").arg(amount(run.kwh->value)),
            tr("%1 W on average").arg(*run.mean_w, 0, 'f', 0),
            tr("%1; %2").arg(from(format_banded(*run.kwh, "kWh")),
                             cost.power.calibrated ? tr("energy by kind of work as measured")
                                                   : tr("from datasheet power, not measured")));
    else
        set(energy_, tr("not known"), tr("the profile has no power"), {});
    bound_->setText(tr("Bound by %1").arg(from(r.bottleneck_words)));
    QStringList remedies;
    for (const Remedy& remedy : r.remedies) remedies << from(remedy.sentence);
    if (!remedies.isEmpty())
        bound_->setText(bound_->text() + QStringLiteral("\n") + remedies.join(QLatin1Char('\n')));
    QStringList assumptions;
    for (const std::string& one : r.assumptions) assumptions << from(one);
    for (const std::string& one : cost.assumptions) assumptions << from(one);
    confidence_->setText(tr("Confidence: %1 rates of the machine; assumptions: %2")
                             .arg(from(confidence_name(r.confidence)))
                             .arg(assumptions.size()));
    confidence_->setToolTip(wrapped(assumptions.join(QLatin1Char('\n'))));
}

void VerdictPanel::setQuestions(const QStringList& questions) {
    if (questions == questions_) return;
    questions_ = questions;
    show_offers();
}

void VerdictPanel::changeEvent(QEvent* event) {
    if (event->type() == QEvent::PaletteChange && prediction_) show_headline();
    QFrame::changeEvent(event);
}

}  // namespace sluice
