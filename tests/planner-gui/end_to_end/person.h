// Which actions does a person take apart from typing? Menus, file dialogs, answers to questions.
#pragma once

#include <QAction>
#include <QFileInfo>
#include <QLabel>
#include <QLineEdit>
#include <QMenuBar>
#include <QProcess>
#include <QTest>
#include <nlohmann/json.hpp>

#include "planner-gui/window/field_row.h"
#include "planner-gui/window/main_window.h"
#include "planner-gui/window/start_page.h"
#include "tests/catch.h"
#include "tests/planner-gui/window/answers.h"
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
    if (file.isEmpty()) return action->trigger();
    const FileAnswer answer(file);
    action->trigger();
    INFO(entry);
    CHECK(answer.given());
}

/// The text of the label of this name.
inline QString shown(const MainWindow& window, const char* name) {
    auto* const label = window.findChild<QLabel*>(QString::fromLatin1(name));
    REQUIRE(label != nullptr);
    return label->text();
}

/// Types into a field of the start page, key by key, and leaves the keyboard there.
inline QLineEdit* type(MainWindow& window, const char* field, const char* text) {
    FieldRow* const row = window.startPage().row(field);
    auto* line = qobject_cast<QLineEdit*>(row->editor());
    if (line == nullptr) line = row->editor()->findChild<QLineEdit*>();
    REQUIRE(line != nullptr);
    line->setFocus();
    line->selectAll();
    QTest::keyClicks(line, QString::fromLatin1(text));
    return line;
}

/// The output of `sluice`; the arguments are right.
inline QString printed(const QStringList& arguments) {
    QProcess process;
    process.start(QStringLiteral(SLUICE_BINARY), arguments);
    REQUIRE(process.waitForFinished(-1));
    INFO(process.readAllStandardError().toStdString());
    REQUIRE(process.exitCode() == 0);
    return QString::fromUtf8(process.readAllStandardOutput());
}

inline nlohmann::json printed_json(const QStringList& arguments) {
    return nlohmann::json::parse(printed(arguments).toStdString());
}

}  // namespace sluice::test
