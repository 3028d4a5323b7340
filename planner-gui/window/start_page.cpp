#include "planner-gui/window/start_page.h"

#include <QFrame>
#include <QGridLayout>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>

#include "planner-gui/pages/page_parts.h"
#include "planner-gui/pages/wrapping_row.h"
#include "planner-gui/pictures/answer_words.h"
#include "planner-gui/session/scenario_stack.h"
#include "planner-gui/window/field_row.h"
#include "planner-gui/window/scenario_form.h"
#include "planner-gui/window/start_mistakes.h"
#include "sim/base/format.h"
#include "sim/report/answers/answer_reports.h"
#include "sim/report/report.h"
#include "sim/specs/model/read_model.h"
#include "sim/specs/scenario/money_options.h"

namespace sluice {
namespace {

constexpr int kFieldColumns = 2;
constexpr int kWidest = 220;  // letters; longer lines are hard to read

QLabel* wrapped(const QString& text, double size = 1, bool bold = false) {
    QLabel* const label = text_label(text);
    label->setText(text);
    QFont font = label->font();
    font.setPointSizeF(size * font.pointSizeF());
    font.setBold(bold);
    label->setFont(font);
    return label;
}

}  // namespace

StartPage::StartPage(PlannerSession& session, QWidget* parent)
    : QWidget(parent), session_(session), progress_(text_label(tr("Progress"))) {
    setAccessibleName(tr("Start"));
    auto* const content = new QWidget(this);
    auto* const column = new QVBoxLayout(content);
    column->setSpacing(fontMetrics().height() / 2);
    column->addWidget(wrapped(tr("Which machine should train your model?"), 1.6, true));
    column->addWidget(
        wrapped(tr("Say what is trained, by when and for how much. The answer is a machine and two "
                   "alternatives, each with the settings that are fastest on it. Only the model is "
                   "needed.")));
    addFields(column);
    addButtons(column);
    column->addWidget(progress_);
    progress_->hide();
    cards_ = new QWidget(content);
    cards_->setObjectName(QStringLiteral("startPicks"));
    auto* const picks = new QVBoxLayout(cards_);
    picks->setContentsMargins(0, 0, 0, 0);
    column->addWidget(cards_);
    column->addStretch(1);
    auto* const area = new QScrollArea(this);
    area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    put_into(area, content);
    content->setMaximumWidth(kWidest * fontMetrics().averageCharWidth());
    area->setAlignment(Qt::AlignHCenter | Qt::AlignTop);
    auto* const whole = new QVBoxLayout(this);
    whole->setContentsMargins(0, 0, 0, 0);
    whole->addWidget(area);

    connect(&session_, &PlannerSession::startTried, this,
            [this](const std::shared_ptr<const RunWay>& one) {
                candidates_.push_back(*one);
                showPicks();
            });
    connect(&session_, &PlannerSession::progress, this, [this](JobKind kind, int done, int all) {
        if (kind == JobKind::start)
            progress_->setText(tr("%1: %2 of %3 machines are predicted. %4")
                                   .arg(qtext(model_of(asked_.model)))
                                   .arg(done)
                                   .arg(all)
                                   .arg(picks_.empty() ? tr("None that fits was found yet.")
                                                       : tr("The best so far:")));
    });
    connect(&session_, &PlannerSession::finished, this, [this](JobKind kind) {
        if (kind == JobKind::start) finish({});
    });
    connect(&session_, &PlannerSession::failed, this,
            [this](JobKind kind, const QString& sentence) {
                if (kind == JobKind::start) finish(sentence);
            });
}

FieldRow* StartPage::addRow(const QString& field, const QString& label, int kind,
                            const QStringList& choices, const QString& value, const QString& help) {
    auto* const row = new FieldRow(field, label, static_cast<FieldRow::Kind>(kind), choices, this);
    row->setText(value);
    row->setHelp(help);
    rows_[field] = row;
    connect(row, &FieldRow::edited, this, [this, row] {
        row->setMistake({});
        edited_ = true;
        markOutdated();
    });
    for (QLineEdit* const line : row->findChildren<QLineEdit*>())
        connect(line, &QLineEdit::returnPressed, this, &StartPage::find);
    return row;
}

void StartPage::addFields(QVBoxLayout* column) {
    const int text = static_cast<int>(FieldRow::Kind::text),
              choice = static_cast<int>(FieldRow::Kind::choice),
              search = static_cast<int>(FieldRow::Kind::search);
    const QList<FieldRow*> rows = {
        addRow(QStringLiteral("model"), tr("M&odel"), search, model_names(),
               QStringLiteral("qwen2.5-14b"),
               tr("A name of the list, a path to a Hugging Face config.json, or a size: 32B")),
        addRow(QStringLiteral("task"), tr("&Task"), choice,
               {tr("Full fine-tuning"), tr("Pre-training")}, tr("Full fine-tuning"),
               tr("Both train all parameters. A step of fine-tuning has 524,288 tokens, one of "
                  "pre-training 1,048,576.")),
        addRow(QStringLiteral("tokens"), tr("To&kens"), text, {}, QStringLiteral("1B"),
               tr("Tokens of the whole run: 500M, 2B or 1.5T")),
        addRow(QStringLiteral("context"), tr("&Context"), text, {}, QStringLiteral("4096"),
               tr("Tokens of a sequence")),
        addRow(QStringLiteral("days"), tr("&Deadline"), text, {}, QString(),
               tr("Days until the run must have ended; empty: it may take any time")),
        addRow(QStringLiteral("usd"), tr("&Budget"), text, {}, QString(),
               tr("Dollars for the whole run; empty: any price")),
        addRow(QStringLiteral("owned"), tr("O&wned machine"), search,
               QStringList{QString()} + machine_names(), QString(),
               tr("A machine that you have already: it costs its electricity alone; empty: none"))};
    row(QStringLiteral("days"))->setPlaceholder(tr("any"));
    row(QStringLiteral("days"))->setUnit(tr("days"));
    row(QStringLiteral("usd"))->setPlaceholder(tr("any"));
    row(QStringLiteral("usd"))->setUnit(QStringLiteral("$"));
    row(QStringLiteral("context"))->setUnit(tr("tokens"));
    auto* const grid = new QGridLayout;
    grid->setHorizontalSpacing(2 * fontMetrics().height());
    for (int i = 0; i < rows.size(); ++i)
        grid->addWidget(rows[i], i / kFieldColumns, i % kFieldColumns);
    column->addLayout(grid);
}

void StartPage::addButtons(QVBoxLayout* column) {
    auto* const buttons = new QWidget(this);
    auto* const row = new WrappingRow;
    buttons->setLayout(row);
    const auto add = [&](const QString& text, const QString& help, auto pressed) {
        auto* const button = new QPushButton(text, buttons);
        button->setToolTip(help);
        connect(button, &QPushButton::clicked, this, pressed);
        row->addWidget(button);
        return button;
    };
    find_ = add(tr("Find &machines"), tr("Predicts the run on each machine that has a price"),
                [this] { find(); });
    QFont bold = find_->font();
    bold.setBold(true);
    find_->setFont(bold);
    add(tr("Plan in detai&l"), tr("Shows all settings of one machine, and the pages"),
        [this] { planInDetail(); });
    add(tr("Open the e&xample"), tr("120 B parameters on one H200, with three questions"),
        &StartPage::exampleWanted);
    add(tr("Open a &project..."), tr("A project that was saved, or a page that was exported"),
        &StartPage::fileWanted);
    column->addWidget(buttons);
}

std::optional<RunQuestion> StartPage::question() {
    RunQuestion out;
    bool right = true;
    const auto number = [&](const char* field, double low, double high, const QString& expected,
                            bool needed) -> std::optional<double> {
        FieldRow* const at = row(QString::fromLatin1(field));
        if (at->text().isEmpty() && !needed) return std::nullopt;
        const std::optional<double> value = parse_amount(at->text().toStdString());
        if (value && *value >= low && *value <= high) return value;
        at->setMistake(at->text().isEmpty() ? tr("Enter %1.").arg(expected)
                                            : tr("\"%1\": enter %2.").arg(at->text(), expected));
        right = false;
        return std::nullopt;
    };
    out.model = row(QStringLiteral("model"))->text().toStdString();
    if (const QString mistake = model_mistake(out.model); !mistake.isEmpty()) {
        row(QStringLiteral("model"))->setMistake(mistake);
        right = false;
    }
    out.task = row(QStringLiteral("task"))->text() == tr("Pre-training") ? Task::pretrain
                                                                         : Task::full_fine_tune;
    const MoneyOption &tokens = money_option("tokens"), &days = money_option("days"),
                      &budget = money_option("budget_usd");
    out.tokens =
        number("tokens", tokens.low, tokens.high, tr("a number of tokens such as 2B"), true)
            .value_or(1);
    out.context = static_cast<std::int64_t>(
        number("context", 1, 1e8, tr("a number of tokens such as 4096"), true).value_or(1));
    out.limits.days = number("days", days.low, days.high, tr("a number of days such as 30"), false);
    out.limits.usd =
        number("usd", budget.low, budget.high, tr("a number of dollars such as 20000"), false);
    out.owned = row(QStringLiteral("owned"))->text().toStdString();
    if (const QString mistake = machine_mistake(out.owned); !mistake.isEmpty()) {
        row(QStringLiteral("owned"))->setMistake(mistake);
        right = false;
    }
    return right ? std::optional(out) : std::nullopt;
}

void StartPage::planInDetail() {
    if (!edited_) return detailsWanted();
    const std::optional<RunQuestion> asked = question();
    if (!asked) return;
    PlannedScenario planned = run_scenario(*asked);
    planned.machine.machine = asked->owned;
    planned.name = automatic_name(planned);
    edited_ = false;
    Q_EMIT chosen(planned);
}

void StartPage::find() {
    if (busy_) {
        session_.cancel(JobKind::start);
        return finish(tr("The search was stopped."));
    }
    const std::optional<RunQuestion> asked = question();
    if (!asked) return;
    asked_ = *asked;
    candidates_.clear();
    cards_->setEnabled(true);
    busy_ = true;
    find_->setText(tr("&Stop"));
    progress_->setText(tr("The machines are being predicted."));
    progress_->show();
    showPicks();
    session_.tryStart(asked_);
}

void StartPage::markOutdated() {
    if (busy_ || picks_.empty()) return;
    cards_->setEnabled(false);
    progress_->setText(
        tr("The question has changed: these plans are for %1 and %2 tokens. Press Find machines.")
            .arg(qtext(model_of(asked_.model)), qtext(format_short_count(asked_.tokens))));
}

void StartPage::finish(const QString& failure) {
    busy_ = false;
    find_->setText(tr("Find &machines"));
    if (!failure.isEmpty()) return progress_->setText(without_flags(failure));
    std::string text = ways_summary(asked_, candidates_);
    for (const RunWay& one : candidates_)
        if (one.owned && !one.fits())
            text += " " + misfit_sentence(one.name(), one.answer->report());
    progress_->setText(QStringLiteral("%1, %2 tokens: %3")
                           .arg(qtext(model_of(asked_.model)),
                                qtext(format_short_count(asked_.tokens)), window_text(text)));
}

void StartPage::showPicks() {
    const std::vector<RunPick> picks = pick_ways(asked_, candidates_);
    if (picks == picks_ && !candidates_.empty()) return;  // keeps the keyboard's place
    picks_ = picks;
    while (QLayoutItem* const item = cards_->layout()->takeAt(0)) {
        // Later, since one of their buttons may be the sender of this click.
        item->widget()->hide();
        item->widget()->deleteLater();
        delete item;
    }
    for (std::size_t i = 0; i < picks.size(); ++i)
        cards_->layout()->addWidget(card(picks[i], i == 0));
}

QWidget* StartPage::card(const RunPick& pick, bool first) {
    const RunWay& one = candidates_[pick.candidate];
    auto* const frame = new QFrame(cards_);
    frame->setFrameShape(QFrame::StyledPanel);
    auto* const grid = new QGridLayout(frame);
    const QString name = qtext(one.name());
    grid->addWidget(wrapped(QStringLiteral("%1: %2").arg(name, qtext(time_and_money(one))),
                            first ? 1.3 : 1.1, true),
                    0, 0);
    QStringList sentences = {qtext(pick.why)};
    for (const std::string& warning : run_warnings(asked_, one)) sentences << window_text(warning);
    grid->addWidget(wrapped(sentences.join(QLatin1Char(' '))), 1, 0);
    grid->addWidget(wrapped(window_text(run_explanation(one))), 2, 0);
    const std::vector<Setting> settings =
        settings_beside_defaults(one.answer->report().asked.training);
    grid->addWidget(wrapped(tr("Settings: %1.").arg(qtext(setting_words(settings)))), 3, 0);
    auto* const open = new QPushButton(tr("Open this plan"), frame);
    open->setObjectName(QStringLiteral("openPlan"));
    open->setAccessibleName(tr("Open the plan on %1").arg(name));
    PlannedScenario planned = one.answer->planned;
    planned.name = automatic_name(planned);
    planned.notes = (sentences << qtext(time_and_money(one))).join(QLatin1Char(' ')).toStdString();
    connect(open, &QPushButton::clicked, this, [this, planned] { Q_EMIT chosen(planned); });
    grid->addWidget(open, 0, 1, 4, 1, Qt::AlignRight | Qt::AlignVCenter);
    grid->setColumnStretch(0, 1);
    return frame;
}

}  // namespace sluice
