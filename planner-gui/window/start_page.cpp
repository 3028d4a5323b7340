#include "planner-gui/window/start_page.h"

#include <QProgressBar>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>

#include "planner-gui/pages/page_parts.h"
#include "planner-gui/pages/wrapping_row.h"
#include "planner-gui/pictures/answer_words.h"
#include "planner-gui/session/scenario_stack.h"
#include "planner-gui/window/start_cards.h"
#include "planner-gui/window/start_form.h"
#include "sim/base/format.h"
#include "sim/report/answers/answer_reports.h"
#include "sim/specs/model/read_model.h"

namespace sluice {
namespace {

constexpr int kWidest = 220;  // letters; longer lines are hard to read

}  // namespace

StartPage::StartPage(PlannerSession& session, QWidget* parent)
    : QWidget(parent),
      session_(session),
      form_(new StartForm),
      progress_(text_label(tr("Progress"))),
      bar_(new QProgressBar),
      cards_(new StartCards) {
    setAccessibleName(tr("Start"));
    auto* const content = new QWidget(this);
    auto* const column = new QVBoxLayout(content);
    column->setSpacing(fontMetrics().height() / 2);
    column->addWidget(sized_label(tr("Which machine should train your model?"), 1.6));
    column->addWidget(sized_label(
        tr("Say what is trained, by when and for how much. The answer is a machine and two "
           "alternatives, each with the settings that are fastest on it. Only the model is "
           "needed.")));
    column->addWidget(form_);
    addButtons(column);
    addProgress(column);
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

    connect(form_, &StartForm::edited, this, [this] {
        edited_ = true;
        markOutdated();
    });
    connect(form_, &StartForm::entered, this, &StartPage::find);
    connect(cards_, &StartCards::chosen, this, &StartPage::chosen);
    connect(&session_, &PlannerSession::startTried, this,
            [this](const std::shared_ptr<const RunWay>& one) {
                ways_.push_back(*one);
                rank(ways_);
                cards_->setWays(asked_, ways_);
            });
    connect(&session_, &PlannerSession::progress, this, [this](JobKind kind, int done, int all) {
        if (kind == JobKind::start) showProgress(done, all);
    });
    connect(&session_, &PlannerSession::finished, this, [this](JobKind kind) {
        if (kind == JobKind::start) finish({});
    });
    connect(&session_, &PlannerSession::failed, this,
            [this](JobKind kind, const QString& sentence) {
                if (kind == JobKind::start) finish(sentence);
            });
}

FieldRow* StartPage::row(const std::string& field) const { return form_->row(field); }

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

void StartPage::addProgress(QVBoxLayout* column) {
    bar_->setTextVisible(false);
    bar_->setMaximumHeight(fontMetrics().height() / 2);
    column->addWidget(bar_);
    column->addWidget(progress_);
    bar_->hide();
    progress_->hide();
}

void StartPage::clear() {
    form_->setFields(form_->standard());
    edited_ = false;
    setAskedRun(std::nullopt);
}

void StartPage::setAskedRun(const std::optional<AskedRun>& run) {
    if (busy_) stop();
    ways_.clear();
    cards_->setWays({}, {});
    progress_->hide();
    to_predict_.reset();
    if (!run) return;
    form_->setFields(run->fields);
    to_predict_ = run;
    if (isVisible()) predictAgain();
}

void StartPage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    predictAgain();
}

void StartPage::predictAgain() {
    const std::optional<AskedRun> run = std::exchange(to_predict_, std::nullopt);
    if (!run) return;
    const std::optional<RunQuestion> asked = form_->question();
    if (!asked) return;  // its fields say what is wrong
    begin(*asked, false);
    session_.answerStart({asked_, run->ways});
}

void StartPage::planInDetail() {
    if (!edited_) return detailsWanted();
    const std::optional<RunQuestion> asked = form_->question();
    if (!asked) return;
    PlannedScenario planned = run_scenario(*asked);
    planned.machine = owned_machine(*asked).value_or(PlannedMachine());
    planned.name = automatic_name(planned);
    edited_ = false;
    Q_EMIT chosen(planned);
}

void StartPage::find() {
    if (busy_) {
        stop();
        showRanked(false);
        return progress_->setText(tr("The search was stopped: %1.").arg(triedWords()));
    }
    const std::optional<RunQuestion> asked = form_->question();
    if (!asked) return;
    begin(*asked, true);
    session_.tryStart(asked_);
}

void StartPage::begin(const RunQuestion& question, bool is_new) {
    asked_ = question;
    is_new_ = is_new;
    asked_fields_ = form_->fields();
    ways_.clear();
    cards_->setEnabled(true);
    cards_->setWays(asked_, {});
    busy_ = true;
    left_.start();
    find_->setText(tr("&Stop"));
    progress_->setText(is_new ? tr("The machines are being predicted.")
                              : tr("The saved ways are being predicted again."));
    progress_->show();
    bar_->setAccessibleName(is_new ? tr("Machines that are predicted")
                                   : tr("Ways that are predicted again"));
    bar_->setRange(0, 0);
    bar_->show();
    done_ = all_ = 0;
}

QString StartPage::triedWords() const {
    if (all_ == 0) return tr("nothing was tried yet");
    return (is_new_ ? tr("%1 of %2 machines were tried") : tr("%1 of %2 ways were predicted again"))
        .arg(done_)
        .arg(all_);
}

void StartPage::showRanked(bool all) {
    const QString order =
        asked_.most_tokens ? tr("the most tokens first") : tr("the cheapest first");
    cards_->setWays(asked_, ways_,
                    all ? tr("All ways that fit, %1").arg(order)
                        : tr("Not all ways: %1; %2").arg(triedWords(), order));
}

void StartPage::showProgress(int done, int all) {
    done_ = done;
    all_ = all;
    bar_->setRange(0, all);
    bar_->setValue(done);
    progress_->setText((is_new_ ? tr("%1: %2 of %3 machines are predicted%4. %5")
                                : tr("%1: %2 of %3 ways are predicted again%4. %5"))
                           .arg(qtext(model_of(asked_.model)))
                           .arg(done)
                           .arg(all)
                           .arg(left_.words(done, all), cards_->isEmpty()
                                                            ? tr("None that fits was found yet.")
                                                            : tr("The best so far:")));
}

void StartPage::markOutdated() {
    if (busy_ || cards_->isEmpty()) return;
    cards_->setEnabled(false);
    progress_->setText(
        tr("The question has changed: these plans are for %1 and %2. Press Find machines.")
            .arg(qtext(model_of(asked_.model)), qtext(tokens_words(asked_))));
}

void StartPage::stop() {
    session_.cancel(JobKind::start);
    rest();
}

void StartPage::rest() {
    busy_ = false;
    bar_->hide();
    find_->setText(tr("Find &machines"));
}

void StartPage::finish(const QString& failure) {
    rest();
    showRanked(failure.isEmpty());
    if (!failure.isEmpty()) return progress_->setText(without_flags(failure));
    progress_->setText(QStringLiteral("%1, %2: %3")
                           .arg(qtext(model_of(asked_.model)), qtext(tokens_words(asked_)),
                                window_text(ways_summary(asked_, ways_))));
    if (!is_new_) return;
    AskedRun run{asked_fields_, {}};
    for (const RunWay& one : ways_) {
        run.ways.push_back(one.answer->planned);
        run.ways.back().name = automatic_name(one.answer->planned);
    }
    Q_EMIT answered(run);
}

}  // namespace sluice
