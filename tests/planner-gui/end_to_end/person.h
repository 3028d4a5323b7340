// What a person does beside typing: menus, file dialogs, answers to questions.
#pragma once

#include <QAbstractItemView>
#include <QAction>
#include <QCompleter>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QLineEdit>
#include <QMenuBar>
#include <QMessageBox>
#include <QProcess>
#include <QPushButton>
#include <QTest>
#include <QTimer>
#include <nlohmann/json.hpp>

#include "planner-gui/window/main_window.h"
#include "tests/catch.h"
#include "tests/planner-gui/window/window_driver.h"

namespace sluice::test {

inline QAction* find_action(const QList<QAction*>& actions, const QString& text) {
    for (QAction* const action : actions) {
        if (action->text().remove(QLatin1Char('&')) == text) return action;
        if (action->menu() == nullptr) continue;
        if (QAction* const found = find_action(action->menu()->actions(), text)) return found;
    }
    return nullptr;
}

/// Chooses an entry of the menus; a dialog for a file that opens gets this name.
inline void choose(MainWindow& window, const char* entry, const QString& file = {}) {
    QAction* const action = find_action(window.menuBar()->actions(), QString::fromLatin1(entry));
    REQUIRE(action != nullptr);
    REQUIRE(action->isEnabled());
    bool answered = file.isEmpty();
    int attempts = 0;
    QTimer poll;
    QObject::connect(&poll, &QTimer::timeout, [&] {
        auto* const dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
        if (dialog == nullptr || answered) return;
        auto* const name = dialog->findChild<QLineEdit*>(QStringLiteral("fileNameEdit"));
        auto* const buttons = dialog->findChild<QDialogButtonBox*>();
        if (++attempts > 50 || name == nullptr || buttons == nullptr) return dialog->reject();
        // Its folder is not typed: the dialog would complete its parts as it finds them.
        dialog->setDirectory(QFileInfo(file).path());
        name->selectAll();
        QTest::keyClicks(name, QFileInfo(file).fileName());
        if (name->completer() != nullptr) name->completer()->popup()->hide();
        const bool saves = dialog->acceptMode() == QFileDialog::AcceptSave;
        QPushButton* const accept =
            buttons->button(saves ? QDialogButtonBox::Save : QDialogButtonBox::Open);
        if (!accept->isEnabled()) return;
        QTest::mouseClick(accept, Qt::LeftButton);
        answered = dialog->result() == QDialog::Accepted;
    });
    poll.start(20);
    action->trigger();
    INFO(entry);
    CHECK(answered);
}

/// The text of the label of this name.
inline QString shown(const MainWindow& window, const char* name) {
    auto* const label = window.findChild<QLabel*>(QString::fromLatin1(name));
    REQUIRE(label != nullptr);
    return label->text();
}

inline nlohmann::json printed_json(const QStringList& arguments) {
    QProcess process;
    process.start(QStringLiteral(SLUICE_BINARY), arguments);
    REQUIRE(process.waitForFinished(120'000));
    INFO(process.readAllStandardError().toStdString());
    REQUIRE(process.exitCode() == 0);
    return nlohmann::json::parse(process.readAllStandardOutput().toStdString());
}

}  // namespace sluice::test
