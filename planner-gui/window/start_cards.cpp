#include "planner-gui/window/start_cards.h"

#include <QFrame>
#include <QGridLayout>
#include <QHeaderView>
#include <QLabel>
#include <QPushButton>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>

#include "planner-gui/models/table_model.h"
#include "planner-gui/pages/fitted_table.h"
#include "planner-gui/pages/keyboard_tips.h"
#include "planner-gui/pages/page_parts.h"
#include "planner-gui/pages/wrapping_row.h"
#include "planner-gui/pictures/answer_words.h"
#include "planner-gui/session/scenario_stack.h"
#include "planner-gui/window/verdict_panel.h"
#include "sim/report/answers/answer_reports.h"
#include "sim/report/answers/findings.h"
#include "sim/report/report.h"
#include "sim/specs/scenario/changed_scenario.h"

namespace sluice {
namespace {

constexpr int kMostLines = 16;  // of the table, which scrolls beyond them

/// A frame with a title, sentences and a place for buttons: beside them, or in a row below. The
/// title's tooltip is the name of its way, if the title has it cut.
QFrame* card_of(const QString& title, const RunWay& way, double size, const QStringList& sentences,
                QWidget* buttons, bool beside) {
    auto* const frame = new QFrame;
    frame->setFrameShape(QFrame::StyledPanel);
    auto* const grid = new QGridLayout(frame);
    grid->setColumnStretch(0, 1);
    int line = 0;
    QLabel* const heading = sized_label(title, size);
    set_reachable_tip(heading, way.name() == way.short_name() ? QString() : qtext(way.name()));
    grid->addWidget(heading, line++, 0);
    for (const QString& one : sentences) grid->addWidget(sized_label(one), line++, 0);
    if (beside)
        grid->addWidget(buttons, 0, 1, line, 1, Qt::AlignRight | Qt::AlignVCenter);
    else
        grid->addWidget(buttons, line, 0);
    return frame;
}

}  // namespace

StartCards::StartCards(QWidget* parent)
    : QWidget(parent),
      cards_(new QVBoxLayout),
      heading_(sized_label({}, 1.1)),
      model_(new TableModel(this)),
      table_(table_view(model_, tr("Ways that fit"))) {
    setObjectName(QStringLiteral("startPicks"));
    table_->setToolTip(tr("Opens this plan (Enter, double click)"));
    auto* const column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addLayout(cards_);
    column->addWidget(heading_);
    column->addWidget(table_);
    showTable({});
    connect(table_, &QTableView::activated, this, [this](const QModelIndex& at) {
        PlannedScenario planned = ways_[static_cast<std::size_t>(at.row())].answer->planned;
        planned.name = automatic_name(planned);
        Q_EMIT chosen(planned);
    });
}

void StartCards::setWays(const RunQuestion& question, std::vector<RunWay> ways,
                         const QString& heading) {
    asked_ = question;
    ways_ = std::move(ways);
    showCards();
    showTable(heading);
}

void StartCards::showCards() {
    const std::vector<RunPick> picks = pick_ways(asked_, ways_);
    std::vector<Card> cards;
    for (const RunPick& pick : picks)
        cards.push_back({ways_[pick.candidate].answer->planned, pick.why});
    const std::vector<std::size_t> misses = near_misses(ways_);
    for (const std::size_t miss : misses) cards.push_back({ways_[miss].answer->planned, ""});
    if (cards == shown_) return;  // keeps the keyboard's place
    shown_ = std::move(cards);
    while (QLayoutItem* const item = cards_->takeAt(0)) {
        // Later, since one of their buttons may be the sender of this click.
        item->widget()->hide();
        item->widget()->deleteLater();
        delete item;
    }
    for (std::size_t i = 0; i < picks.size(); ++i) cards_->addWidget(pickCard(picks[i], i == 0));
    for (const std::size_t miss : misses) cards_->addWidget(missCard(ways_[miss]));
}

void StartCards::showTable(const QString& heading) {
    const bool shown = !heading.isEmpty() && !ways_.empty() && ways_.front().fits();
    heading_->setText(heading);
    heading_->setVisible(shown);
    table_->setVisible(shown);
    if (!shown) return model_->setTable({});
    model_->setTable(ways_table(asked_, ways_));
    const int lines = std::min(model_->rowCount(), kMostLines) + 2;
    table_->setMinimumHeight(lines * table_->verticalHeader()->defaultSectionSize());
    fit_columns(table_);
}

QPushButton* StartCards::opening(const QString& text, const QString& accessible,
                                 PlannedScenario planned, const QString& notes) {
    auto* const open = new QPushButton(text);
    open->setObjectName(QStringLiteral("openPlan"));
    open->setAccessibleName(accessible);
    planned.name = automatic_name(planned);
    planned.notes = notes.toStdString();
    connect(open, &QPushButton::clicked, this, [this, planned] { Q_EMIT chosen(planned); });
    return open;
}

QWidget* StartCards::pickCard(const RunPick& pick, bool first) {
    const RunWay& one = ways_[pick.candidate];
    const QString name = qtext(one.name()), costs = qtext(time_and_money(one));
    QStringList why = {qtext(pick.why)};
    for (const std::string& warning : run_warnings(asked_, one)) why << window_text(warning);
    const std::vector<Setting> settings =
        settings_beside_defaults(one.answer->report().asked.training);
    const QString reason = why.join(QLatin1Char(' '));
    return card_of(QStringLiteral("%1: %2").arg(qtext(one.short_name()), costs), one,
                   first ? 1.3 : 1.1,
                   {reason, window_text(run_explanation(one)),
                    tr("Settings: %1.").arg(qtext(setting_words(settings)))},
                   opening(tr("Open this plan"), tr("Open the plan on %1").arg(name),
                           one.answer->planned, reason + QLatin1Char(' ') + costs),
                   true);
}

QWidget* StartCards::missCard(const RunWay& way) {
    const Prediction& report = way.answer->report();
    const auto named = [&](const std::string& name) {
        return way.owned ? tr("Your machine %1").arg(qtext(name)) : qtext(name);
    };
    const QString name = named(way.name()), title = named(way.short_name());
    const auto& suggestions = report.advice.suggestions;
    const QString lacks = window_text(misfit_sentence(way.name(), report));
    auto* const buttons = new QWidget;
    auto* const row = new WrappingRow;
    buttons->setLayout(row);
    for (const Suggestion& one : suggestions)
        row->addWidget(opening(tr("Open with %1").arg(in_words(one.settings)),
                               tr("Open %1 with %2").arg(name, in_words(one.settings)),
                               with_settings(way.answer->planned, one.settings), {}));
    if (suggestions.empty())
        row->addWidget(opening(tr("Open what it lacks"), tr("Open what %1 lacks").arg(name),
                               way.answer->planned, lacks));
    return card_of(suggestions.empty()
                       ? tr("%1 is too small for this run").arg(title)
                       : tr("%1 fits with %2").arg(title, in_words(suggestions.front().settings)),
                   way, 1.1, {lacks}, buttons, false);
}

}  // namespace sluice
