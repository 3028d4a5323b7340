// Drives the window as a person does: keys in fields, clicks on buttons; waits for predictions.
#pragma once

#include <QAbstractButton>
#include <QApplication>
#include <QComboBox>
#include <QLineEdit>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>

#include "planner-gui/window/main_window.h"
#include "planner-gui/window/scenario_form.h"
#include "planner-gui/window/verdict_panel.h"
#include "tests/catch.h"
#include "tests/planner-gui/wait_until.h"

namespace sluice::test {

/// A window with settings and recovery files of its own.
class WindowDriver {
  public:
    WindowDriver() {
        QSettings::setDefaultFormat(QSettings::IniFormat);
        QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, folder.path());
        QCoreApplication::setOrganizationName(QStringLiteral("sluice"));
        QCoreApplication::setApplicationName(QStringLiteral("sluice-planner-test"));
        window = std::make_unique<MainWindow>(folder.filePath(QStringLiteral("recovery")));
        window->show();
    }

    QLineEdit* line(const char* field) const {
        QWidget* const editor = window->form().row(QString::fromLatin1(field))->editor();
        if (auto* const combo = qobject_cast<QComboBox*>(editor)) return combo->lineEdit();
        return qobject_cast<QLineEdit*>(editor);
    }

    /// Replaces what stands in a field, key by key.
    void type(const char* field, const char* text) const {
        QLineEdit* const editor = line(field);
        REQUIRE(editor != nullptr);
        editor->setFocus();
        editor->selectAll();
        QTest::keyClick(editor, Qt::Key_Delete);
        QTest::keyClicks(editor, QString::fromLatin1(text));
    }

    /// The prediction of what the stack shows, complete.
    std::shared_ptr<const ScenarioAnswer> settled() const {
        REQUIRE(wait_until([&] {
            const auto now = window->prediction();
            return now != nullptr && ask_the_same(now->planned, window->stack().current()) &&
                   now->stage == PredictionStage::remedies;
        }));
        return window->prediction();
    }

    /// Opens it in place of what is there; returns its prediction, complete.
    std::shared_ptr<const ScenarioAnswer> open(const PlannedScenario& planned) const {
        window->files().start(planned);
        return settled();
    }
    std::shared_ptr<const ScenarioAnswer> openExample() const {
        window->openExample();
        return settled();
    }

    /// Starts a job and waits for its end.
    template <typename Start>
    void finish(JobKind kind, Start start) const {
        bool done = false;
        const auto seen = QObject::connect(&window->session(), &PlannerSession::finished,
                                           [&](JobKind one) { done = done || one == kind; });
        start();
        REQUIRE(wait_until([&] { return done; }));
        QObject::disconnect(seen);
    }

    /// The path of a file of this name in the folder.
    QString file(const char* name) const { return folder.filePath(QString::fromLatin1(name)); }

    QTemporaryDir folder;
    std::unique_ptr<MainWindow> window;
};

}  // namespace sluice::test
