// The window's files: open, recover, save, drop.
#include <QAbstractItemView>
#include <QDropEvent>
#include <QFileInfo>
#include <QMessageBox>
#include <QMimeData>
#include <QPushButton>
#include <QStatusBar>

#include "planner-gui/pictures/answer_words.h"
#include "planner-gui/session/example.h"
#include "planner-gui/window/exports.h"
#include "planner-gui/window/file_dialogs.h"
#include "planner-gui/window/main_window.h"
#include "planner-gui/window/pages.h"
#include "planner-gui/window/scenario_form.h"
#include "sim/base/json_object.h"

namespace sluice {

void MainWindow::start(const QString& file) {
    autosave_ = std::make_unique<Autosave>(stack_, recovery_);
    connect(autosave_.get(), &Autosave::failed, this, &MainWindow::warn);
    if (!file.isEmpty() && openFile(file)) return;
    for (const Recovered& found : Autosave::find(recovery_))
        if (offer(found)) return;
    openEmpty();
    showStart(true);
}

void MainWindow::chooseProject() {
    if (!mayClose()) return;
    const QString file = choose_to_open(this, tr("Open a project or an exported page"),
                                        tr("Projects and pages (*.json *.html);;All files (*)"));
    if (!file.isEmpty()) openFile(file);
}

void MainWindow::openEmpty() {
    PlannedScenario scenario = example_scenario();
    scenario.name = automatic_name(scenario);
    scenario.notes.clear();
    files_.start(scenario);
}

void MainWindow::openExample() { files_.start(example_scenario()); }

bool MainWindow::offer(const Recovered& found) {
    const QString of = found.file.isEmpty() ? tr("a project that was not saved") : found.file;
    const auto answer = QMessageBox::question(
        this, tr("Recover?"),
        tr("The planner ended without saving changes of %1. Open them? No keeps them for another "
           "time.")
            .arg(of),
        QMessageBox::Yes | QMessageBox::No | QMessageBox::Discard, QMessageBox::Yes);
    if (answer == QMessageBox::Discard) Autosave::forget(found);
    if (answer != QMessageBox::Yes) return false;
    files_.recover(found);
    if (autosave_ != nullptr && autosave_->write()) Autosave::forget(found);
    return true;
}

bool MainWindow::openFile(const QString& file) {
    const QFileInfo info(file);
    for (const Recovered& found : Autosave::find(recovery_)) {
        const bool newer = !info.exists() || found.written > info.lastModified();
        if (found.file == info.absoluteFilePath() && newer && offer(found)) return true;
    }
    try {
        files_.open(file);
        return true;
    } catch (const InputError& error) {
        ProjectFiles::forgetRecent(file);
        warn(QString::fromUtf8(error.what()));
        return false;
    }
}

bool MainWindow::save() { return files_.file().isEmpty() ? saveAs() : saveFile(files_.file()); }

bool MainWindow::saveAs() {
    const QString proposed =
        files_.file().isEmpty()
            ? safe_file_name(qtext(stack_.current().name)) + QStringLiteral(".json")
            : files_.file();
    const QString file = choose_to_save(this, tr("Save the project"),
                                        {{QStringLiteral("json"), tr("Project")}}, proposed);
    return !file.isEmpty() && saveFile(file);
}

bool MainWindow::saveFile(const QString& file) {
    finishEditing();
    if (is_write_protected(file)) return ask_for_another(this, file) && saveAs();
    if (QFileInfo(file).absoluteFilePath() == files_.file() && files_.changedOnDisk()) {
        constexpr int kSaveAs = 0, kOverwrite = 1, kReload = 2;
        const int answer = sluice::ask(
            this, tr("Changed on disk"),
            tr("Another program changed %1 on disk after it was opened or saved here.").arg(file),
            {tr("Save &as..."), tr("&Overwrite the file"), tr("&Reload, drop the changes here")});
        if (answer == kSaveAs) return saveAs();
        if (answer == kReload) openFile(file);
        if (answer != kOverwrite) return false;
    }
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
    // Not modal, so that the user can reach the form.
    auto* const box = new QMessageBox(QMessageBox::Warning, tr("Sluice planner"),
                                      without_flags(sentence), QMessageBox::Ok, this);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setTextFormat(Qt::PlainText);
    box->setTextInteractionFlags(Qt::TextSelectableByMouse);
    box->setModal(false);
    box->show();
}

void MainWindow::finishEditing() {
    // An editor in a table or list commits its text when it loses the focus.
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

bool MainWindow::mayDropReport() {
    close_once_written_ = false;
    if (!exports_->isWriting()) return true;
    QMessageBox box(QMessageBox::Question, tr("Close?"), tr("The report is still being written."),
                    QMessageBox::NoButton, this);
    QPushButton* const wait = box.addButton(tr("&Wait"), QMessageBox::AcceptRole);
    wait->setToolTip(tr("The window closes once it is written"));
    QPushButton* const discard = box.addButton(tr("&Discard"), QMessageBox::DestructiveRole);
    box.setDefaultButton(wait);
    box.setEscapeButton(wait);
    bool failed = false;
    connect(exports_, &Exports::failed, &box, [&failed] { failed = true; });
    box.exec();
    if (box.clickedButton() == discard) return true;
    close_once_written_ = exports_->isWriting();
    return !close_once_written_ && !failed;
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
            form_->enter(QStringLiteral("machine"), file);
        } else {
            form_->enter(QStringLiteral("model"), file);
        }
    } catch (const InputError& error) {
        warn(QString::fromUtf8(error.what()));
    }
}

}  // namespace sluice
