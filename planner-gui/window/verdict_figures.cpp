#include "planner-gui/window/verdict_figures.h"

#include <fmt/format.h>

#include <QEvent>
#include <QGridLayout>
#include <algorithm>

#include "planner-gui/pages/keyboard_tips.h"
#include "planner-gui/pages/page_parts.h"
#include "planner-gui/pictures/answer_words.h"
#include "sim/answers/cost/run_limits.h"
#include "sim/base/format.h"

namespace sluice {
namespace {

constexpr int kLeastMore = 12;  // number of letters next to a value

/// Three digits, or all digits of a large number: "5.87", "58,695".
QString amount(double value) {
    return qtext(value < 1000 ? fmt::format("{:.3g}", value) : format_thousands(value));
}

/// For how many GPUs what is paid, and which part of the node takes so many; then the offer, or the
/// price of the purchase.
QString paid_to(const Payment& payment) {
    const QString name =
        payment.price_usd == 0
            ? window_text(payment.name)
            : QObject::tr("bought for %1").arg(qtext(format_usd(payment.price_usd)));
    if (payment.ownership == Ownership::own) return QObject::tr("%1, electricity alone").arg(name);
    if (!payment.paid) return name;
    const PaidGpus& paid = *payment.paid;
    const QString gpus = QString::number(paid.gpus), of = QString::number(paid.of);
    if (paid.of == 0) return QObject::tr("%1, %2 GPUs").arg(name, gpus);
    if (paid.part == NodePart::gpus || paid.gpus > paid.needed)  // the offer rents no fewer
        return QObject::tr("%1, %2 of %3 GPUs").arg(name, gpus, of);
    return QObject::tr("%1 of %2 GPUs for %3; %4")
        .arg(gpus, of, qtext(node_part_name(paid.part)), name);
}

QString band_of(const Banded& number, const std::function<std::string(double)>& text) {
    if (number.high <= 0) return {};
    return QObject::tr("5 to 95%: %1 to %2").arg(qtext(text(number.low)), qtext(text(number.high)));
}

}  // namespace

VerdictFigures::VerdictFigures(QWidget* parent)
    : QWidget(parent),
      grid_(new QGridLayout(this)),
      speed_(add(tr("Speed"), QStringLiteral("speed"))),
      price_(add(tr("Price"), QStringLiteral("price"))),
      days_(add(tr("Time"), QStringLiteral("days"))),
      energy_(add(tr("Energy"), QStringLiteral("energy"))) {
    grid_->setContentsMargins(0, 0, 0, 0);
    grid_->setVerticalSpacing(0);
    arrange();
}

VerdictFigures::Figure VerdictFigures::add(const QString& name, const QString& object) {
    Figure out{new QLabel(name, this), new QLabel(this), new QLabel(this)};
    out.value->setObjectName(object);
    out.more->setObjectName(object + QStringLiteral("_more"));
    out.more->setWordWrap(true);
    for (QLabel* const label : {out.value, out.more}) {
        label->setTextFormat(Qt::PlainText);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    }
    QFont large = font();
    large.setPointSizeF(large.pointSizeF() * 1.25);
    large.setBold(true);
    out.value->setFont(large);
    out.name->setForegroundRole(QPalette::PlaceholderText);
    return out;
}

void VerdictFigures::setPrediction(const ScenarioAnswer& prediction) {
    showSpeed(prediction.report());
    showPrice(prediction.cost, prediction.scenario.money);
    showRun(prediction.cost);
    arrange();
}

void VerdictFigures::showSpeed(const Prediction& r) {
    const Banded speed = r.speed();
    set(speed_, tr("%1 tokens/s").arg(qtext(format_thousands(speed.value))),
        band_of(speed, [](double value) { return format_thousands(value); }),
        tr("Tokens of a step over its time, %1; nine of ten measured steps should lie in the band")
            .arg(qtext(format_seconds(r.step.seconds))));
}

void VerdictFigures::showPrice(const CostAnswer& cost, const CostQuery& query) {
    const bool buy = query.buys();
    if (query.owns() && !cost.payment)
        return set(price_, tr("electricity not known"), tr("the profile has no power"), {});
    if (!cost.payment)
        return set(
            price_, buy ? tr("no purchase price known") : tr("no price known"),
            buy ? tr("the page Money says what to enter") : tr("enter a rent or a purchase price"),
            capitalized(window_text(cost.missing)));
    const RunCost& run = cost.run;
    set(price_, tr("%1 a million tokens").arg(qtext(format_usd(run.usd_per_million_tokens.value))),
        tr("%1 an hour: %2").arg(qtext(format_usd(run.usd_per_hour)), paid_to(*cost.payment)),
        tr("%1\n%2").arg(
            band_of(run.usd_per_million_tokens, [](double usd) { return format_usd(usd); }),
            qtext(payment_words(*cost.payment))));
}

void VerdictFigures::showRun(const CostAnswer& cost) {
    const RunCost run = cost.run;
    const QString tokens = qtext(format_count(cost.tokens));
    QString about = cost.payment
                        ? tr("%1 for %2 tokens").arg(qtext(format_usd(run.usd.value)), tokens)
                        : tr("for %1 tokens").arg(tokens);
    if (run.usd_at_once > 0)
        about += tr(", of %1 paid at once").arg(qtext(format_usd(run.usd_at_once)));
    QStringList more{qtext(format_days(run.days))};
    if (cost.limits.any()) {
        const std::vector<std::string> warnings = limit_warnings(cost);
        about += !meets(cost)       ? tr(", outside the limits")
                 : warnings.empty() ? tr(", within the limits")
                                    : tr(", may miss the limits");
        for (const std::string& one : warnings) more << qtext(one);
    }
    set(days_, qtext(format_days({run.days.value})), about, more.join(QLatin1Char('\n')));
    if (!run.kwh) return set(energy_, tr("not known"), tr("the profile has no power"), {});
    const EnergyTerms& terms = energy_terms(run.kwh_scope);
    set(energy_, tr("%1 kWh").arg(amount(run.kwh->value)),
        tr("%1 W%2").arg(qtext(format_thousands(*run.mean_w)), qtext(terms.power)),
        tr("%1; %2").arg(qtext(format_kwh(run)),
                         cost.power.calibrated ? tr("from the measured energy of each kind of work")
                                               : tr("from datasheet power, not measured")));
}

void VerdictFigures::clear() {
    for (const Figure& figure : figures()) set(figure, {}, {}, {});
}

void VerdictFigures::setPending(bool pending) {
    for (const Figure& figure : figures())
        for (QLabel* const label : {figure.value, figure.more}) label->setEnabled(!pending);
}

void VerdictFigures::set(const Figure& figure, const QString& value, const QString& more,
                         const QString& tooltip) {
    figure.value->setText(value);
    // A screen reader would read the name alone in place of the text.
    figure.value->setAccessibleName(tr("%1: %2").arg(figure.name->text(), value));
    figure.more->setText(more);
    for (QLabel* const label : {figure.name, figure.more})
        label->setToolTip(wrapped_tooltip(tooltip));
    set_reachable_tip(figure.value, wrapped_tooltip(tooltip));
}

int VerdictFigures::valueWidth() const {
    // Wide enough for most scenarios, so that the width does not change.
    const QString usual = tr("%1 a million tokens").arg(QStringLiteral("$10.00"));
    int width = speed_.value->fontMetrics().horizontalAdvance(usual);
    for (const Figure& figure : figures())
        width = std::max(width, figure.value->sizeHint().width());
    return width;
}

void VerdictFigures::arrange() {
    const int count = static_cast<int>(figures().size());
    const bool lines = width() < count * valueWidth() + (count - 1) * grid_->horizontalSpacing();
    if (lines == lines_ && grid_->count() > 0) return;
    lines_ = lines;
    int at = 0;
    for (const Figure& figure : figures()) {
        // The same height with no text and with two lines, so that what is below seldom moves.
        figure.value->setMinimumHeight(figure.value->fontMetrics().height());
        figure.more->setMinimumHeight((lines ? 1 : 2) * figure.more->fontMetrics().height());
        figure.more->setAlignment(Qt::AlignLeft | (lines ? Qt::AlignVCenter : Qt::AlignTop));
        int part = 0;
        for (QLabel* const label : {figure.name, figure.value, figure.more}) {
            const Qt::Alignment place = lines ? Qt::AlignVCenter : Qt::AlignTop;
            lines ? grid_->addWidget(label, at, part, place)
                  : grid_->addWidget(label, part, at, place);
            ++part;
        }
        // The price has the longest words.
        const int share = figure.value == price_.value ? 3 : 1;
        grid_->setColumnStretch(at, !lines ? share : at == 2 ? 1 : 0);
        ++at;
    }
}

QSize VerdictFigures::minimumSizeHint() const {
    int names = 0;
    for (const Figure& figure : figures()) names = std::max(names, figure.name->sizeHint().width());
    return {names + valueWidth() + kLeastMore * fontMetrics().averageCharWidth() +
                2 * grid_->horizontalSpacing(),
            grid_->minimumSize().height()};
}

void VerdictFigures::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    arrange();
}

void VerdictFigures::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange) arrange();
}

}  // namespace sluice
