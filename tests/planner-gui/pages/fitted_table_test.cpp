#include "planner-gui/pages/fitted_table.h"

#include <QStandardItemModel>
#include <memory>

#include "tests/catch.h"

namespace sluice {

TEST_CASE("fitted table: the widest columns give way", "[pages]") {
    // 100 stays, the other two share 400 - 100.
    CHECK(fitted_widths({{300, 50}, {100, 50}, {200, 50}}, 400) == std::vector{150, 100, 150});
    CHECK(fitted_widths({{300, 50}, {100, 50}, {200, 50}}, 600) == std::vector{300, 100, 200});
    // Too narrow: the longest words decide, and the table scrolls.
    CHECK(fitted_widths({{300, 50}, {100, 60}, {200, 70}}, 90) == std::vector{50, 60, 70});
    // A long word takes its room from the other columns.
    CHECK(fitted_widths({{300, 200}, {100, 50}, {200, 50}}, 400) == std::vector{200, 100, 100});
}

TEST_CASE("fitted table: in a narrow view words and numbers stay whole", "[pages]") {
    QStandardItemModel model(1, 3);
    const QString word = QStringLiteral("accelerate"), number = QStringLiteral("1,234,567 GB");
    model.setItem(0, 0, new QStandardItem(word + QStringLiteral("-offload")));
    model.setItem(0, 1, new QStandardItem(number));
    model.item(0, 1)->setTextAlignment(Qt::AlignRight);
    model.setItem(0, 2, new QStandardItem(QStringLiteral("many short words that may wrap")));
    const std::unique_ptr<QTableView> view(table_view(&model, QStringLiteral("narrow")));
    view->resize(320, 200);
    view->show();
    fit_columns(view.get());
    const QFontMetrics metrics = view->fontMetrics();
    CHECK(view->columnWidth(0) > metrics.horizontalAdvance(word));
    CHECK(view->columnWidth(1) > metrics.horizontalAdvance(number));
    CHECK(view->columnWidth(2) <
          metrics.horizontalAdvance(QStringLiteral("many short words that may wrap")));
    CHECK(view->rowHeight(0) > 2 * metrics.height());

    view->resize(1000, 200);
    fit_columns(view.get());
    CHECK(view->columnWidth(2) >
          metrics.horizontalAdvance(QStringLiteral("many short words that may wrap")));
    CHECK(view->rowHeight(0) < 2 * metrics.height());
}

}  // namespace sluice
