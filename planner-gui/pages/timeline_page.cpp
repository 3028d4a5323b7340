#include "planner-gui/pages/timeline_page.h"

#include <QHBoxLayout>
#include <QHideEvent>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "planner-gui/pages/page_parts.h"
#include "planner-gui/pages/timeline_view.h"
#include "planner-gui/pages/wrapping_row.h"
#include "sim/base/format.h"
#include "sim/report/operation_facts.h"
#include "sim/report/report.h"

namespace sluice {
namespace {

constexpr int kScrollSteps = 100'000;  // share of the whole step

QToolButton* zoom_button(QWidget* parent, const QString& sign, const QString& what) {
    auto* const button = new QToolButton(parent);
    button->setText(sign);
    button->setToolTip(what);
    button->setAccessibleName(what);
    button->setFocusPolicy(Qt::TabFocus);
    return button;
}

}  // namespace

TimelinePage::TimelinePage(QWidget* parent)
    : Page(parent),
      failure_(new FailureLabel(this)),
      heading_(heading_label(tr("Step"))),
      bound_(text_label(tr("Bottleneck"))),
      difference_(text_label(tr("Difference of plans"))),
      taken_away_(text_label(tr("Measured step"))),
      facts_(text_label(tr("Operation"))),
      lay_under_(new QPushButton(tr("Show a &measured report below..."), this)),
      take_away_(new QPushButton(tr("&Remove the measured step"), this)),
      view_(new TimelineView(this)),
      bar_(new QScrollBar(Qt::Horizontal, this)) {
    auto* const nearer = zoom_button(this, QStringLiteral("+"), tr("Show less time, larger (+)"));
    auto* const further = zoom_button(this, QStringLiteral("\u2212"), tr("Show more time (-)"));
    auto* const all = zoom_button(this, tr("All"), tr("Show the whole step (0)"));
    lay_under_->setToolTip(
        tr("Opens a report that the trainer wrote for these settings. Its lanes are "
           "shown below the predicted ones, from the first compute operation on."));
    bar_->setAccessibleName(tr("Part of the step that is shown"));
    bar_->setFocusPolicy(Qt::NoFocus);

    auto* const scroll = new QScrollArea(this);
    put_into(scroll, view_);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);

    auto* const buttons = new QWidget(this);
    buttons->setLayout(new WrappingRow);
    for (QWidget* const widget :
         std::initializer_list<QWidget*>{nearer, further, all, take_away_, lay_under_})
        buttons->layout()->addWidget(widget);
    // The buttons wrap before they are cut.
    bound_->setMinimumWidth(16 * bound_->fontMetrics().averageCharWidth());
    auto* const top = new QHBoxLayout;
    top->addWidget(bound_, 1);
    top->addWidget(buttons, 0, Qt::AlignTop);
    auto* const column = new QVBoxLayout(this);
    column->addWidget(heading_);
    column->addLayout(top);
    column->addWidget(taken_away_);
    column->addWidget(failure_);
    column->addWidget(difference_);
    column->addWidget(scroll, 1);
    column->addWidget(bar_);
    column->addWidget(facts_);
    taken_away_->setText(tr("The measured step was removed: it belongs to another scenario."));
    taken_away_->hide();
    // Keeps the picture in place when a line is added.
    facts_->setMinimumHeight(2 * facts_->fontMetrics().lineSpacing());
    facts_->setAlignment(Qt::AlignTop | Qt::AlignLeft);

    connect(nearer, &QToolButton::clicked, view_, [this] { view_->zoom(2); });
    connect(further, &QToolButton::clicked, view_, [this] { view_->zoom(0.5); });
    connect(all, &QToolButton::clicked, view_, &TimelineView::show_all);
    connect(lay_under_, &QPushButton::clicked, this, &TimelinePage::measuredReportWanted);
    connect(take_away_, &QPushButton::clicked, this, [this] {
        setMeasured(nullptr);
        Q_EMIT measuredTakenAway();
    });
    connect(view_, &TimelineView::view_changed, this, &TimelinePage::follow_view);
    connect(view_, &TimelineView::words_changed, this, &TimelinePage::write_words);
    connect(bar_, &QScrollBar::valueChanged, view_, [this](int value) {
        const Seconds hidden = view_->timeline().length() - view_->time_view().length();
        view_->scroll_to(hidden * value / std::max(1, bar_->maximum()));
    });
    for (QLabel* const label : {difference_, taken_away_}) colour_as_warning(label, this);
    refresh();
}

void TimelinePage::setReport(std::shared_ptr<const TimedPlan> report) {
    report_ = std::move(report);
    refresh();
}

void TimelinePage::setScenario(std::shared_ptr<const TimedPlan> report) {
    const bool said = measured_ != nullptr || !taken_away_->isHidden();
    setMeasured(nullptr);
    taken_away_->setVisible(said);
    setReport(std::move(report));
}

void TimelinePage::setMeasured(std::shared_ptr<const TimedPlan> measured) {
    taken_away_->hide();
    measured_ = std::move(measured);
    if (measured_) failure_->forget();
    refresh();
}

void TimelinePage::hideEvent(QHideEvent* event) {
    QWidget::hideEvent(event);
    if (!event->spontaneous()) taken_away_->hide();  // the user read it
}

void TimelinePage::fail(const QString& sentence) { failure_->say(sentence, measured_ != nullptr); }

void TimelinePage::setByteUnits(ByteUnits units) { view_->set_byte_units(units); }

void TimelinePage::refresh() {
    view_->set_timeline(Timeline(report_, measured_));
    take_away_->setVisible(measured_ != nullptr);
    lay_under_->setEnabled(report_ != nullptr);
    if (!report_) {
        heading_->setText(tr("No prediction: the form says what is missing or wrong"));
        bound_->clear();
        difference_->hide();
        return;
    }
    QString heading =
        tr("%1 on %2: %3 a step")
            .arg(breakable(report_->asked.model_name), qtext(report_->asked.machine_name),
                 qtext(format_seconds(report_->step.seconds)));
    const std::string difference = measured_ ? plan_difference(*report_, *measured_) : "";
    if (measured_ && !difference.empty())
        heading += tr(", measured %1").arg(qtext(format_seconds(measured_->step.seconds)));
    else if (measured_)
        heading +=
            tr(", measured %1 (predicted %2)")
                .arg(qtext(format_seconds(measured_->step.seconds)),
                     qtext(format_error(report_->step.seconds / measured_->step.seconds - 1)));
    if (!report_->plan.fit.fits())
        heading += tr("; does not fit into memory, shown without that limit");
    heading_->setText(heading);
    difference_->setText(qtext(difference));
    difference_->setVisible(!difference.empty());
    bound_->setText(qtext(bottleneck_text(report_->step)));
}

void TimelinePage::write_words() {
    const QString words = view_->words();
    facts_->setText(words.isEmpty() ? tr("Point at an operation, or select one with the comma and "
                                         "full stop keys, to see its "
                                         "bytes, its rate and what it waits for. Wheel, + and - "
                                         "zoom; 0 shows all; drag, left "
                                         "and right pan.")
                                    : words);
}

void TimelinePage::follow_view() {
    const TimeView& shown = view_->time_view();
    const Seconds whole = std::max(view_->timeline().length(), 1e-9);
    const int page = std::max(1, static_cast<int>(shown.length() / whole * kScrollSteps));
    const QSignalBlocker quiet(bar_);
    bar_->setRange(0, std::max(0, kScrollSteps - page));
    bar_->setPageStep(page);
    bar_->setSingleStep(std::max(1, page / 10));
    const Seconds hidden = std::max(whole - shown.length(), 1e-12);
    bar_->setValue(static_cast<int>(std::round(shown.begin / hidden * bar_->maximum())));
}

QByteArray TimelinePage::svg() const { return view_->svg(); }

QString TimelinePage::csv() const { return qtext(to_csv(timeline_table(view_->timeline()))); }

}  // namespace sluice
