// GB or GiB: whatever the window shows follows the menu View, sentences of the libraries too.
#include <QAction>
#include <QLabel>
#include <QPushButton>
#include <QRegularExpression>
#include <QTableView>

#include "planner-gui/pages/bars_page.h"
#include "planner-gui/pages/compare_page.h"
#include "planner-gui/pages/pareto_page.h"
#include "planner-gui/window/pages.h"
#include "tests/planner-gui/end_to_end/person.h"
#include "tests/planner-gui/small_scenario.h"

using namespace sluice;
using test::WindowDriver;

namespace {

/// All words below a widget.
QStringList words(const QWidget& in) {
    QStringList out;
    for (const QLabel* const label : in.findChildren<QLabel*>()) out << label->text();
    for (const QPushButton* const button : in.findChildren<QPushButton*>())
        out << button->toolTip();
    for (const QTableView* const table : in.findChildren<QTableView*>()) {
        const QAbstractItemModel& model = *table->model();
        for (int row = 0; row < model.rowCount(); ++row)
            for (int column = 0; column < model.columnCount(); ++column)
                for (const int role : {Qt::DisplayRole, Qt::ToolTipRole})
                    out << model.index(row, column).data(role).toString();
    }
    return out;
}

QStringList words_with(MainWindow& window, const char* pattern) {
    QStringList shown = words(window.verdict()) + words(window.pages());
    // Memory is sold in GB.
    shown.removeIf([](const QString& one) {
        return one.startsWith(QStringLiteral("the price of")) ||
               one.contains(QStringLiteral("have a known price"));
    });
    return shown.filter(QRegularExpression(QString::fromLatin1(pattern)));
}

/// Bytes, not bytes a second.
constexpr const char* kDecimal = "[0-9] [MGT]B(?!/s)\\b";
constexpr const char* kBinary = "[0-9] [MGT]iB\\b";

}  // namespace

TEST_CASE("units: all that is shown follows the menu", "[window]") {
    const WindowDriver driver;
    MainWindow& window = *driver.window;
    PlannedScenario short_of = test::small_scenario();
    short_of.model.layers = "3";
    short_of.machine.host_memory = "10GB";
    driver.open(short_of);
    Pages& pages = window.pages();
    pages.setCurrentWidget(&pages.compare());
    driver.finish(JobKind::compare, [&] { Q_EMIT pages.compare().systems().requested(); });
    driver.finish(JobKind::machines, [&] { pages.showMachines(); });

    const qsizetype decimal = words_with(window, kDecimal).size();
    CHECK(decimal > 100);
    CHECK(words_with(window, kBinary).isEmpty());
    CHECK(test::shown(window, "headline").endsWith(QStringLiteral(" GB of host memory")));
    test::choose(window, "Bytes in GiB");
    INFO(words_with(window, kDecimal).join(QLatin1Char('\n')).toStdString());
    CHECK(words_with(window, kDecimal).isEmpty());
    CHECK(words_with(window, kBinary).size() == decimal);
    CHECK(test::shown(window, "headline").endsWith(QStringLiteral(" GiB of host memory")));
    CHECK(driver.line("host_memory")->placeholderText() == QStringLiteral("9.3 GiB"));
    // Typed text stays as it was typed.
    CHECK(driver.line("host_memory")->text() == QStringLiteral("10GB"));
    const auto buttons = window.verdict().findChildren<QPushButton*>(QStringLiteral("suggestion"));
    const auto more = std::find_if(buttons.begin(), buttons.end(), [](const QPushButton* button) {
        return button->text().startsWith(QStringLiteral("Host memory"));
    });
    REQUIRE(more != buttons.end());
    CHECK((*more)->toolTip().contains(QStringLiteral("GiB of host memory")));
    test::choose(window, "Bytes in GB");
    CHECK(words_with(window, kBinary).isEmpty());
    CHECK(words_with(window, kDecimal).size() == decimal);
}
