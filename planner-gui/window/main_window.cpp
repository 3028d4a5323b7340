#include "planner-gui/window/main_window.h"

#include <QAbstractItemView>
#include <QCloseEvent>
#include <QDockWidget>
#include <QFileInfo>
#include <QMessageBox>
#include <QMimeData>
#include <QSettings>
#include <QStatusBar>
#include <QVBoxLayout>

#include "planner-gui/session/example.h"
#include "planner-gui/window/pages.h"
#include "planner-gui/window/scenario_dock.h"
#include "planner-gui/window/scenario_form.h"
#include "planner-gui/window/verdict_panel.h"
#include "sim/json_object.h"

namespace sluice {
namespace {

const QString kGeometry = QStringLiteral("window/geometry");
const QString kState = QStringLiteral("window/state");
const QString kStarted = QStringLiteral("startedBefore");

}  // namespace

MainWindow::MainWindow(const QString& recovery) : files_(stack_), recovery_(recovery) {
    addParts();
    connectParts();
    addFileMenu();
    addEditMenu();
    addViewMenu();
    addHelpMenu();
    setAcceptDrops(true);
    resize(1280, 800);
    restoreGeometry(QSettings().value(kGeometry).toByteArray());
    restoreState(QSettings().value(kState).toByteArray());
    showTitle();
}

MainWindow::~MainWindow() {
    // An undo stack says that it is clean when it goes.
    disconnect(&stack_.undoStack(), nullptr, this, nullptr);
}

void MainWindow::addParts() {
    verdict_ = new VerdictPanel(this);
    pages_ = new Pages(stack_, session_, this);
    auto* const middle = new QWidget(this);
    auto* const column = new QVBoxLayout(middle);
    column->addWidget(verdict_);
    column->addWidget(pages_, 1);
    setCentralWidget(middle);

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
    QDockWidget* const list = dock(tr("Scenarios"), QStringLiteral("scenarioDock"), scenarios_);
    QDockWidget* const form = dock(tr("Scenario"), QStringLiteral("formDock"), form_);
    const int width = fontMetrics().averageCharWidth() * 52;
    resizeDocks({list, form}, {width, width}, Qt::Horizontal);
    resizeDocks({list, form}, {1, 3}, Qt::Vertical);
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
    connect(&stack_.undoStack(), &QUndoStack::cleanChanged, this, &MainWindow::showTitle);
    connect(&files_, &ProjectFiles::fileChanged, this, [this](const QString& file) {
        if (autosave_) autosave_->setFile(file);
        showTitle();
    });
    connect(&session_, &PlannerSession::predicted, this,
            [this](const std::shared_ptr<const Prediction>& prediction) {
                prediction_ = prediction;
                form_->setResolved(prediction->scenario);
                verdict_->setPrediction(prediction);
                pages_->setPrediction(prediction);
            });
    connect(&session_, &PlannerSession::refused, this,
            [this](const QString& sentence, const QString& field) {
                prediction_.reset();
                pages_->setPrediction(nullptr);
                form_->setMistake(field, sentence);
                verdict_->setRefused(sentence);
            });
    connect(&session_, &PlannerSession::failed, this,
            [this](JobKind, const QString& sentence) { statusBar()->showMessage(sentence); });
    connect(verdict_, &VerdictPanel::adopted, this,
            [this](const QString& flags) { adopt(flags, tr("suggestion")); });
    connect(verdict_, &VerdictPanel::asked, this, &MainWindow::ask);
    connect(pages_, &Pages::adopted, this,
            [this](const PlannedScenario& planned, const QString& what) {
                stack_.edit(planned, {}, what);
            });
}

void MainWindow::showCurrent() {
    form_->setScenario(stack_.current());
    verdict_->setPending(true);
    session_.request(stack_.current());
}

void MainWindow::adopt(const QString& flags, const QString& what) {
    stack_.edit(with_flags(stack_.current(), flags.toStdString()), {}, what);
}

void MainWindow::ask(int question) {
    const ExampleQuestion asked = example_questions()[static_cast<std::size_t>(question)];
    if (asked.flags.empty()) return pages_->showMachines();
    PlannedScenario answer = with_flags(example_scenario(), asked.flags);
    answer.name = asked.text.toStdString();
    answer.notes = "";
    stack_.add(answer);
}

void MainWindow::start(const QString& file) {
    QSettings settings;
    const bool first = !settings.value(kStarted, false).toBool();
    settings.setValue(kStarted, true);
    autosave_ = std::make_unique<Autosave>(stack_, recovery_);
    connect(autosave_.get(), &Autosave::failed, this, &MainWindow::warn);
    if (!file.isEmpty() && openFile(file)) return;
    if (offerRecovered()) return;
    if (first) return openExample();
    PlannedScenario scenario = example_scenario();
    scenario.name = tr("Scenario").toStdString();
    scenario.notes.clear();
    files_.start(scenario);
}

void MainWindow::openExample() {
    QStringList questions;
    for (const ExampleQuestion& question : example_questions()) questions << question.text;
    verdict_->setQuestions(questions);
    files_.start(example_scenario());
}

bool MainWindow::offerRecovered() {
    for (const Recovered& found : Autosave::find(recovery_)) {
        const QString of = found.file.isEmpty() ? tr("a project that was not saved") : found.file;
        const auto answer = QMessageBox::question(
            this, tr("Recover?"),
            tr("The planner ended without saving changes of %1. Open them?").arg(of));
        if (answer != QMessageBox::Yes) {
            Autosave::forget(found);
            continue;
        }
        files_.recover(found.project, found.file);
        if (autosave_->write()) Autosave::forget(found);
        return true;
    }
    return false;
}

bool MainWindow::openFile(const QString& file) {
    try {
        files_.open(file);
        verdict_->setQuestions({});
        return true;
    } catch (const InputError& error) {
        ProjectFiles::forgetRecent(file);
        warn(QString::fromUtf8(error.what()));
        return false;
    }
}

bool MainWindow::saveFile(const QString& file) {
    finishEditing();
    try {
        files_.save(file);
        statusBar()->showMessage(tr("Saved %1").arg(file), 5000);
        return true;
    } catch (const InputError& error) {
        warn(QString::fromUtf8(error.what()));
        return false;
    }
}

void MainWindow::warn(const QString& sentence) {
    // Not modal: what was typed stays within reach.
    auto* const box = new QMessageBox(QMessageBox::Warning, tr("Sluice planner"), sentence,
                                      QMessageBox::Ok, this);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setTextInteractionFlags(Qt::TextSelectableByMouse);
    box->setModal(false);
    box->show();
}

void MainWindow::showTitle() {
    const QString name =
        files_.file().isEmpty() ? tr("not saved") : QFileInfo(files_.file()).fileName();
    setWindowTitle(tr("%1[*] - Sluice planner").arg(name));
    setWindowModified(stack_.isDirty());
}

void MainWindow::finishEditing() {
    // An editor in a table or list hands over what was typed when it loses the focus.
    const QWidget* const editor = focusWidget();
    if (editor == nullptr || editor->parentWidget() == nullptr) return;
    auto* const view = qobject_cast<QAbstractItemView*>(editor->parentWidget()->parentWidget());
    if (view != nullptr && view->viewport() == editor->parentWidget()) view->setFocus();
}

bool MainWindow::mayClose() {
    finishEditing();
    if (!stack_.isDirty()) return true;
    const auto answer = QMessageBox::question(
        this, tr("Save?"), tr("The project has changes that are not saved."),
        QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, QMessageBox::Save);
    if (answer == QMessageBox::Save) return save();
    return answer == QMessageBox::Discard;
}

void MainWindow::closeEvent(QCloseEvent* event) {
    if (!mayClose()) return event->ignore();
    QSettings settings;
    settings.setValue(kGeometry, saveGeometry());
    settings.setValue(kState, saveState());
    autosave_.reset();
    event->accept();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
    if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
    const QList<QUrl> urls = event->mimeData()->urls();
    if (urls.isEmpty() || !urls.front().isLocalFile()) return;
    event->acceptProposedAction();
    const QString file = urls.front().toLocalFile();
    try {
        const JsonObject root =
            QFileInfo(file).isDir()
                ? JsonObject::parse("{}", file.toStdString())
                : JsonObject::parse(read_text_file(file.toStdString()), file.toStdString());
        if (root.has("format")) {
            if (mayClose()) openFile(file);
        } else if (root.has("schema")) {
            form_->openMachine(file);
        } else {
            form_->openModel(file);
        }
    } catch (const InputError& error) {
        warn(QString::fromUtf8(error.what()));
    }
}

}  // namespace sluice
