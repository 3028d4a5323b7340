#include "planner-gui/window/main_window.h"

#include <QCloseEvent>
#include <QDockWidget>
#include <QFileInfo>
#include <QScreen>
#include <QSettings>
#include <QStackedWidget>
#include <QStyle>
#include <QVBoxLayout>
#include <algorithm>

#include "planner-gui/pages/keyboard_tips.h"
#include "planner-gui/pages/page_parts.h"
#include "planner-gui/pages/validation_page.h"
#include "planner-gui/pictures/answer_words.h"
#include "planner-gui/session/example.h"
#include "planner-gui/window/pages.h"
#include "planner-gui/window/scenario_dock.h"
#include "planner-gui/window/scenario_form.h"
#include "planner-gui/window/start_page.h"
#include "planner-gui/window/verdict_panel.h"
#include "sim/specs/scenario/changed_scenario.h"

namespace sluice {
namespace {

const QString kGeometry = QStringLiteral("window/geometry");
const QString kState = QStringLiteral("window/state");

}  // namespace

MainWindow::MainWindow(const QString& recovery) : files_(stack_), recovery_(recovery) {
    addParts();
    connectParts();
    connectStart();
    addFileMenu();
    addEditMenu();
    addViewMenu();
    addHelpMenu();
    // Files dropped on a part belong to the window, which knows their kind; reports and folders
    // belong to the page that reads them.
    for (QWidget* const part : findChildren<QWidget*>())
        part->setAcceptDrops(part == &pages_->validation());
    setAcceptDrops(true);
    new KeyboardTips(this);
    if (!restoreGeometry(QSettings().value(kGeometry).toByteArray())) resizeAtFirst();
    // Docks take sizes after the window's layout.
    if (!restoreState(QSettings().value(kState).toByteArray()))
        QMetaObject::invokeMethod(this, &MainWindow::resizeDocksAtFirst, Qt::QueuedConnection);
    showTitle();
}

void MainWindow::resizeAtFirst() {
    // The title bar and frame must fit on the screen too.
    const int title = style()->pixelMetric(QStyle::PM_TitleBarHeight, nullptr, this);
    const QSize room = screen()->availableGeometry().size() - QSize(0, title);
    resize(QSize(1280, 800).boundedTo(room));
}

void MainWindow::resizeDocksAtFirst() {
    constexpr int kLetters = 64;  // wide enough for the names of most machines
    const auto docks = findChildren<QDockWidget*>();
    constexpr int kShare = 5;  // of a wide window, whose form then needs no second lines
    const int dock = std::max(kLetters * fontMetrics().averageCharWidth(), width() / kShare);
    resizeDocks(docks, QList<int>(docks.size(), dock), Qt::Horizontal);
    resizeDocks(docks, {1, 3}, Qt::Vertical);
}

MainWindow::~MainWindow() {
    // A destroyed undo stack reports that it is clean.
    disconnect(&stack_, nullptr, this, nullptr);
}

void MainWindow::addParts() {
    verdict_ = new VerdictPanel(this);
    pages_ = new Pages(stack_, session_, this);
    auto* const middle = new QWidget(this);
    auto* const column = new QVBoxLayout(middle);
    const QMargins margins = column->contentsMargins();
    column->setContentsMargins(margins.left(), margins.top() / 2, margins.right(),
                               margins.bottom() / 2);
    column->addWidget(new FittedArea(verdict_));
    column->addWidget(pages_, 1);
    start_ = new StartPage(session_, this);
    middle_ = new QStackedWidget(this);
    middle_->addWidget(middle);
    middle_->addWidget(start_);
    setCentralWidget(middle_);

    const auto dock = [this](const QString& title, const QString& name, QWidget* widget) {
        auto* const one = new QDockWidget(title, this);
        one->setObjectName(name);
        one->setWidget(widget);
        one->setFeatures(QDockWidget::DockWidgetMovable | QDockWidget::DockWidgetClosable);
        addDockWidget(Qt::LeftDockWidgetArea, one);
        return one;
    };
    scenarios_ = new ScenarioDock(stack_, this);
    form_ = new ScenarioForm(this);
    dock(tr("Scenarios"), QStringLiteral("scenarioDock"), scenarios_);
    dock(tr("Scenario"), QStringLiteral("formDock"), form_);
}

void MainWindow::connectParts() {
    connect(form_, &ScenarioForm::edited, this,
            [this](const PlannedScenario& planned, const QString& field, const QString& what) {
                PlannedScenario edited = planned;
                edited.name = stack_.current().name;
                edited.notes = stack_.current().notes;
                stack_.edit(edited, field, what);
            });
    connect(&stack_, &ScenarioStack::currentChanged, this, &MainWindow::showCurrent);
    connect(&stack_, &ScenarioStack::dirtyChanged, this, &MainWindow::showTitle);
    connect(&files_, &ProjectFiles::fileChanged, this, [this](const QString& file) {
        if (autosave_) autosave_->setFile(file);
        showTitle();
    });
    connect(&session_, &PlannerSession::predicted, this,
            [this](const std::shared_ptr<const ScenarioAnswer>& prediction) {
                prediction_ = prediction;
                form_->setResolved(prediction->scenario);
                verdict_->setPrediction(prediction);
                pages_->setPrediction(prediction);
            });
    connect(&session_, &PlannerSession::refused, this,
            [this](const QString& sentence, const QString& field) {
                prediction_.reset();
                pages_->setPrediction(nullptr);
                form_->setMistake(field, without_flags(sentence));
                verdict_->setRefused(without_flags(sentence));
            });
    connect(verdict_, &VerdictPanel::adopted, this,
            [this](const std::vector<Setting>& settings) { adopt(settings); });
    connect(verdict_, &VerdictPanel::asked, this, &MainWindow::ask);
    connect(pages_, &QTabWidget::currentChanged, this, &MainWindow::lookAtFiles);
    connect(pages_, &Pages::adopted, this,
            [this](const PlannedScenario& planned) { stack_.add(planned); });
    connect(pages_, &Pages::entered, form_, &ScenarioForm::enter);
}

void MainWindow::connectStart() {
    connect(start_, &StartPage::chosen, this, [this](const PlannedScenario& planned) {
        // The untouched scenario of a new project makes room.
        if (stack_.count() == 1 && stack_.undoStack().isClean() && files_.file().isEmpty())
            stack_.edit(planned, {}, tr("start page"));
        else
            stack_.add(planned);
    });
    connect(start_, &StartPage::answered, this,
            [this](const AskedRun& run) { stack_.setAskedRun(run); });
    connect(&stack_, &ScenarioStack::opened, this,
            [this] { start_->setAskedRun(stack_.project().asked_run); });
    connect(start_, &StartPage::detailsWanted, this, [this] { showStart(false); });
    connect(start_, &StartPage::exampleWanted, this, [this] {
        if (mayClose()) openExample();
    });
    connect(start_, &StartPage::fileWanted, this, &MainWindow::chooseProject);
    connect(&stack_, &ScenarioStack::currentChanged, this, [this] { showStart(false); });
}

void MainWindow::showStart(bool start) {
    if (start == (middle_->currentWidget() == start_)) return;
    if (start) docks_ = saveState();
    middle_->setCurrentIndex(start ? 1 : 0);
    for (QDockWidget* const dock : findChildren<QDockWidget*>()) dock->setVisible(!start);
    if (start) return;
    restoreState(docks_);
    if (!QSettings().contains(kState))
        QMetaObject::invokeMethod(this, &MainWindow::resizeDocksAtFirst, Qt::QueuedConnection);
}

void MainWindow::showCurrent() {
    asked_files_ = read_named_files(stack_.current());
    form_->setScenario(stack_.current());
    // The questions are about the example, even if the project holds more.
    QStringList questions;
    if (is_of_example(stack_.current()))
        for (const ExampleQuestion& question : example_questions()) questions << question.text;
    verdict_->setQuestions(questions);
    verdict_->setPending(true);
    session_.request(stack_.current());
}

void MainWindow::lookAtFiles() {
    if (read_named_files(stack_.current()) == asked_files_) return;
    showCurrent();
    pages_->showOutdated();
}

void MainWindow::changeEvent(QEvent* event) {
    QMainWindow::changeEvent(event);
    // The user may have edited a file in another program.
    if (event->type() != QEvent::ActivationChange || !isActiveWindow()) return;
    lookAtFiles();
    pages_->showScenarios();
}

void MainWindow::adopt(const std::vector<Setting>& settings) {
    // A click may come before the verdict on a scenario that was just selected.
    if (prediction_ == nullptr || !ask_the_same(prediction_->planned, stack_.current())) return;
    PlannedScenario planned = with_settings(stack_.current(), settings);
    planned.name = automatic_name(planned) + ", " + in_words(settings).toStdString();
    planned.notes.clear();
    stack_.add(planned);
}

void MainWindow::ask(int question) {
    const ExampleQuestion asked = example_questions()[static_cast<std::size_t>(question)];
    if (asked.settings.empty()) return pages_->showMachines();
    PlannedScenario answer = with_settings(example_scenario(), asked.settings);
    answer.name = asked.text.toStdString();
    answer.notes = "";
    stack_.add(answer);
}

void MainWindow::showTitle() {
    const QString name =
        files_.file().isEmpty() ? tr("not saved") : QFileInfo(files_.file()).fileName();
    setWindowTitle(tr("%1[*] - Sluice planner").arg(name));
    setWindowModified(stack_.isDirty());
}

void MainWindow::closeEvent(QCloseEvent* event) {
    if (!mayDropReport() || !mayClose()) return event->ignore();
    showStart(false);  // the next start restores the docks
    QSettings settings;
    settings.setValue(kGeometry, saveGeometry());
    settings.setValue(kState, saveState());
    autosave_.reset();
    event->accept();
}

}  // namespace sluice
