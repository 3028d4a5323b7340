// Does the window speak of its fields and not of flags, and does a key reach every tooltip?
#include <QAbstractItemView>
#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QMessageBox>
#include <QPushButton>
#include <QRegularExpression>
#include <QTableView>
#include <QToolTip>

#include "planner-gui/models/table_model.h"
#include "planner-gui/pages/bars_page.h"
#include "planner-gui/pages/compare_page.h"
#include "planner-gui/pages/keyboard_tips.h"
#include "planner-gui/session/example.h"
#include "planner-gui/window/help_window.h"
#include "planner-gui/window/pages.h"
#include "planner-gui/window/start_page.h"
#include "sim/specs/scenario/changed_scenario.h"
#include "tests/planner-gui/end_to_end/person.h"
#include "tests/planner-gui/window/window_driver.h"

using namespace sluice;
using test::WindowDriver;

namespace {

bool in_help(const QWidget* widget) {
    for (; widget != nullptr; widget = widget->parentWidget())
        if (qobject_cast<const HelpWindow*>(widget) != nullptr) return true;
    return false;
}

void add_cells(const QAbstractItemModel& model, QStringList& out) {
    for (int column = 0; column < model.columnCount(); ++column) {
        for (const int role : {Qt::DisplayRole, Qt::ToolTipRole})
            out << model.headerData(column, Qt::Horizontal, role).toString();
        for (int row = 0; row < model.rowCount(); ++row)
            for (const int role : {Qt::DisplayRole, Qt::ToolTipRole})
                out << model.index(row, column).data(role).toString();
    }
}

/// All that the window shows or could show without another answer, but for its help.
QStringList words_of(const MainWindow& window) {
    QStringList out;
    for (const QWidget* const widget : window.findChildren<QWidget*>()) {
        if (in_help(widget)) continue;
        out << widget->toolTip() << widget->accessibleName() << widget->accessibleDescription();
        if (const auto* const label = qobject_cast<const QLabel*>(widget)) out << label->text();
        if (const auto* const button = qobject_cast<const QAbstractButton*>(widget))
            out << button->text();
        if (const auto* const line = qobject_cast<const QLineEdit*>(widget))
            out << line->placeholderText();
        if (const auto* const combo = qobject_cast<const QComboBox*>(widget))
            for (int i = 0; i < combo->count(); ++i)
                out << combo->itemText(i) << combo->itemData(i, Qt::ToolTipRole).toString();
    }
    for (const TableModel* const model : window.findChildren<TableModel*>()) add_cells(*model, out);
    return out;
}

void check_words(const MainWindow& window, const char* when) {
    INFO(when);
    static const QRegularExpression flags(
        QStringLiteral(R"((^|[\s("'`<])--?[a-z][a-z-]+|\./dev |`sluice|sluice [a-z]+ -)"));
    int seen = 0;
    for (const QString& words : words_of(window)) {
        seen += words.isEmpty() ? 0 : 1;
        INFO(words.toStdString());
        CHECK(!flags.match(words).hasMatch());
    }
    CHECK(seen > 300);
}

bool takes_tab(const QWidget& widget) {
    return (widget.focusPolicy() & Qt::TabFocus) != 0 || !widget.isEnabled();
}

/// Whether the Tab key reaches it, or something beside it or around it that says the same.
bool is_reached(const QWidget& widget) {
    if (takes_tab(widget)) return true;
    for (const QWidget* around = widget.parentWidget(); around != nullptr && !around->isWindow();
         around = around->parentWidget())
        for (const QWidget* const other : around->findChildren<QWidget*>())
            if (other->toolTip() == widget.toolTip() && takes_tab(*other)) return true;
    return false;
}

}  // namespace

TEST_CASE("words: the window names fields, not flags, in whatever it shows", "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    driver.openExample();
    check_words(window, "the example");
    window.stack().add(with_settings(example_scenario(), {{"host_memory", "1TB"}}));
    driver.settled();
    check_words(window, "it does not fit");
    PlannedScenario bought = example_scenario();
    bought.model.model = "qwen2.5-14b";
    bought.machine.machine = "b200-sxm";
    bought.money["ownership"] = "buy";
    window.stack().add(bought);
    driver.settled();
    check_words(window, "bought");
    Pages& pages = window.pages();
    pages.setCurrentWidget(&pages.compare());
    driver.finish(JobKind::compare, [&] { Q_EMIT pages.compare().systems().requested(); });
    driver.finish(JobKind::sensitivity, [&] { Q_EMIT pages.sensitivity().requested(); });
    check_words(window, "systems and upgrades");
    for (const auto& [field, text] : {std::pair("batch", "many"),
                                      {"host_memory", "12"},
                                      {"offer", "nobody"},
                                      {"years", "-1"},
                                      {"machine", "my-pc"}}) {
        window.stack().add(with_value(example_scenario(), field, text));
        FieldRow* const row = window.form().row(QString::fromLatin1(field));
        REQUIRE(test::wait_until([&] { return !row->mistake().isEmpty(); }));
        check_words(window, field);
    }
    window.stack().setSaved();
}

TEST_CASE("tips: a key reaches every tooltip", "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    driver.openExample();
    int tips = 0;
    for (const QWidget* const widget : window.findChildren<QWidget*>()) {
        if (widget->toolTip().isEmpty() || in_help(widget)) continue;
        ++tips;
        INFO(widget->metaObject()->className() << ' ' << widget->objectName().toStdString() << ": "
                                               << widget->toolTip().toStdString());
        CHECK(is_reached(*widget));
    }
    CHECK(tips > 50);
}

TEST_CASE("tips: what the Tab key reaches shows its tooltip, and so does a cell", "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    driver.openExample();
    window.activateWindow();
    REQUIRE(test::wait_until([&] { return window.isActiveWindow(); }));
    auto* const confidence = window.verdict().findChild<QLabel*>(QStringLiteral("confidence"));
    confidence->setFocus(Qt::TabFocusReason);
    CHECK(test::wait_until([&] { return QToolTip::text() == confidence->toolTip(); }));
    QToolTip::hideText();
    // With the mouse, the keyboard's place is no question.
    confidence->clearFocus();
    confidence->setFocus(Qt::MouseFocusReason);

    window.pages().setCurrentIndex(3);  // Money
    QTableView* table = nullptr;
    for (auto* const one : window.pages().currentWidget()->findChildren<QTableView*>()) table = one;
    REQUIRE(table != nullptr);
    table->setFocus();
    table->selectRow(0);
    QTest::keyClick(table, Qt::Key_Right);
    const QString tip = keyboard_tip(*table);
    CHECK(tip.startsWith(table->currentIndex().data(Qt::ToolTipRole).toString()));
    CHECK(test::wait_until([&] { return QToolTip::isVisible(); }));
}
