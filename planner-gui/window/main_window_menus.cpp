// The window's menus.
#include <QActionGroup>
#include <QApplication>
#include <QClipboard>
#include <QDockWidget>
#include <QMenuBar>
#include <QMessageBox>
#include <QSettings>
#include <QStatusBar>
#include <QStyle>

#include "planner-gui/pictures/palette.h"
#include "planner-gui/window/exports.h"
#include "planner-gui/window/file_dialogs.h"
#include "planner-gui/window/help_window.h"
#include "planner-gui/window/main_window.h"
#include "planner-gui/window/pages.h"
#include "planner-gui/window/scenario_dock.h"
#include "planner-gui/window/scenario_form.h"
#include "planner-gui/window/start_page.h"
#include "planner-gui/window/verdict_panel.h"

namespace sluice {
namespace {

const QString kUnits = QStringLiteral("binaryUnits");
const QString kAppearance = QStringLiteral("appearance");

/// Actions of which one is checked.
template <typename Value, typename Choose>
void add_choices(QMenu& menu, const std::vector<std::pair<QString, Value>>& choices,
                 const Value& now, Choose choose) {
    auto* const group = new QActionGroup(&menu);
    for (const auto& [text, value] : choices) {
        QAction* const action = menu.addAction(text);
        action->setCheckable(true);
        action->setChecked(value == now);
        group->addAction(action);
        QObject::connect(action, &QAction::triggered, &menu,
                         [choose, chosen = value] { choose(chosen); });
    }
}

}  // namespace

void MainWindow::addFileMenu() {
    QMenu* const menu = menuBar()->addMenu(tr("&File"));
    menu->addAction(tr("&New"), QKeySequence::New, this, [this] {
        if (!mayClose()) return;
        openEmpty();
        start_->clear();
        showStart(true);
    });
    menu->addAction(tr("&Open..."), QKeySequence::Open, this, &MainWindow::chooseProject);
    QMenu* const recent = menu->addMenu(tr("Open &recent"));
    connect(recent, &QMenu::aboutToShow, this, [this, recent] { showRecent(*recent); });
    menu->addAction(tr("Open the &example"), this, [this] {
        if (mayClose()) openExample();
    });
    menu->addSeparator();
    menu->addAction(tr("&Save"), QKeySequence::Save, this, &MainWindow::save);
    menu->addAction(tr("Save &as..."), QKeySequence::SaveAs, this, &MainWindow::saveAs);
    addExportMenu(*menu);
    menu->addSeparator();
    menu->addAction(tr("&Quit"), QKeySequence(Qt::CTRL | Qt::Key_Q), this, &QWidget::close);
}

void MainWindow::addExportMenu(QMenu& file) {
    QMenu* const menu = file.addMenu(tr("E&xport"));
    Exports* const exports = exports_ = new Exports(*this, *pages_, session_, stack_);
    connect(exports, &Exports::failed, this, [this](const QString& sentence) {
        close_once_written_ = false;
        statusBar()->clearMessage();
        warn(sentence);
    });
    connect(exports, &Exports::working, this,
            [this](const QString& what) { statusBar()->showMessage(what); });
    connect(exports, &Exports::written, this, [this](const QString& path) {
        statusBar()->showMessage(tr("Wrote %1").arg(path), 10'000);
        if (close_once_written_ && !exports_->isWriting()) close();
    });
    exports->addActions(*menu);
    file.addAction(tr("&Print..."), QKeySequence::Print, exports, &Exports::choosePrinter);
}

void MainWindow::addEditMenu() {
    QMenu* const menu = menuBar()->addMenu(tr("&Edit"));
    QAction* const undo = stack_.undoStack().createUndoAction(this, tr("&Undo"));
    undo->setShortcut(QKeySequence::Undo);
    QAction* const redo = stack_.undoStack().createRedoAction(this, tr("&Redo"));
    redo->setShortcuts(QKeySequence::keyBindings(QKeySequence::Redo));
    menu->addAction(undo);
    menu->addAction(redo);
    menu->addSeparator();
    menu->addAction(tr("&Duplicate scenario"), QKeySequence(Qt::CTRL | Qt::Key_D), this,
                    [this] { stack_.duplicate(stack_.currentIndex()); });
    menu->addAction(tr("Re&name scenario"), QKeySequence(Qt::Key_F2), this,
                    [this] { scenarios_->renameCurrent(); });
    menu->addAction(tr("De&lete scenario"), this, [this] { stack_.remove(stack_.currentIndex()); });
    menu->addSeparator();
    menu->addAction(tr("&Copy as command line"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_C),
                    this, &MainWindow::copyCommand);
}

void MainWindow::copyCommand() {
    const PlannedScenario& now = stack_.current();
    // `sluice predict` has no flags for money.
    const QString line = qtext(command_line(now, now.money.empty() ? "predict" : "cost"));
    QApplication::clipboard()->setText(line);
    statusBar()->showMessage(tr("Copied: %1").arg(line), 10'000);
}

void MainWindow::addViewMenu() {
    QMenu* const menu = menuBar()->addMenu(tr("&View"));
    menu->addAction(tr("S&tart page"), QKeySequence(Qt::ALT | Qt::Key_Home), this,
                    [this] { showStart(true); });
    for (QDockWidget* const dock : findChildren<QDockWidget*>())
        menu->addAction(dock->toggleViewAction());
    menu->addSeparator();
    for (int i = 0; i < pages_->count(); ++i)
        menu->addAction(pages_->tabText(i), QKeySequence(Qt::CTRL | (Qt::Key_1 + i)), this,
                        [this, i] {
                            showStart(false);
                            pages_->setCurrentIndex(i);
                        });
    menu->addSeparator();
    addAppearance(*menu->addMenu(tr("&Appearance")));
    const bool binary = QSettings().value(kUnits, false).toBool();
    const ByteUnits units = binary ? ByteUnits::binary : ByteUnits::decimal;
    add_choices<ByteUnits>(
        *menu, {{tr("Bytes in &GB"), ByteUnits::decimal}, {tr("Bytes in G&iB"), ByteUnits::binary}},
        units, [this](ByteUnits chosen) { setUnits(chosen); });
    setUnits(units);
    menu->addSeparator();
    menu->addAction(tr("&Next scenario"), QKeySequence(Qt::CTRL | Qt::Key_PageDown), this,
                    [this] { stack_.setCurrent(stack_.currentIndex() + 1); });
    menu->addAction(tr("&Previous scenario"), QKeySequence(Qt::CTRL | Qt::Key_PageUp), this,
                    [this] { stack_.setCurrent(stack_.currentIndex() - 1); });
}

void MainWindow::addAppearance(QMenu& menu) {
    static const QPalette desktop = QApplication::palette();
    static const QString desktop_style = QApplication::style()->name();
    const auto apply = [](const QString& appearance) {
        // Desktop styles do not accept another palette as a whole.
        QApplication::setStyle(appearance.isEmpty() ? desktop_style : QStringLiteral("Fusion"));
        use_palette(appearance == QStringLiteral("dark")    ? dark_palette()
                    : appearance == QStringLiteral("light") ? light_palette()
                                                            : desktop);
    };
    const QString now = QSettings().value(kAppearance).toString();
    add_choices<QString>(menu,
                         {{tr("As the &desktop"), QString()},
                          {tr("&Light"), QStringLiteral("light")},
                          {tr("Da&rk"), QStringLiteral("dark")}},
                         now, [apply](const QString& chosen) {
                             QSettings().setValue(kAppearance, chosen);
                             apply(chosen);
                         });
    if (!now.isEmpty()) apply(now);
}

void MainWindow::addHelpMenu() {
    QMenu* const menu = menuBar()->addMenu(tr("&Help"));
    auto* const help = new HelpWindow(this);
    menu->addAction(tr("&Tour"), QKeySequence::HelpContents, help,
                    [help] { help->openPage(QStringLiteral("tour")); });
    menu->addAction(tr("&Words"), help, [help] { help->openPage(QStringLiteral("glossary")); });
    menu->addSeparator();
    menu->addAction(tr("&About"), this, &MainWindow::about);
}

void MainWindow::setUnits(ByteUnits units) {
    QSettings().setValue(kUnits, units == ByteUnits::binary);
    form_->setByteUnits(units);
    verdict_->setByteUnits(units);
    pages_->setByteUnits(units);
}

void MainWindow::showRecent(QMenu& menu) {
    menu.clear();
    for (const QString& file : ProjectFiles::recent())
        // In a title, an ampersand marks no shortcut.
        menu.addAction(QString(file).replace(QLatin1Char('&'), QLatin1String("&&")), this,
                       [this, file] {
                           if (mayClose()) openFile(file);
                       });
    menu.setToolTipsVisible(true);
    if (menu.isEmpty()) menu.addAction(tr("None yet"))->setEnabled(false);
}

void MainWindow::about() {
    QMessageBox::about(
        this, tr("About the sluice planner"),
        tr("<h3>Sluice planner %1</h3><p>Predicts how fast a large language model trains from host "
           "memory on a machine, whether it fits, and what it costs.</p><p>Sluice is under the "
           "Apache License 2.0. The window uses Qt %2, which is under the GNU Lesser General "
           "Public License version 3.</p>")
            .arg(QApplication::applicationVersion(), QString::fromLatin1(qVersion())));
}

}  // namespace sluice
