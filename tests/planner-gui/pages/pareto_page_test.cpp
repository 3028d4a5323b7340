#include "planner-gui/pages/pareto_page.h"

#include <QComboBox>
#include <QLabel>
#include <QPushButton>
#include <QScrollBar>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTableView>
#include <QTest>
#include <algorithm>

#include "planner-gui/pages/picture_view.h"
#include "planner-gui/pictures/palette.h"
#include "tests/catch.h"
#include "tests/planner-gui/pages/shown_page.h"
#include "tests/planner-gui/pareto_example.h"

namespace sluice {
namespace {

void show(ParetoPage& page) {
    page.resize(1200, 800);
    page.show();
    for (const MachineSystem& row : example_rows()) page.addRow(row);
    QTest::qWait(1);
    page.grab();
}

/// The number of pixels in the colour of the picture's front.
int blue_pixels(ParetoPage& page) {
    return test::pixels_of(page.grab().toImage(), qcolor(colours_of(page.palette()).pointed_out));
}

}  // namespace

TEST_CASE("pareto: rows arrive, Run and Stop", "[pages]") {
    ParetoPage page;
    const QSignalSpy asked(&page, &ParetoPage::requested);
    const QSignalSpy stopped(&page, &ParetoPage::stopRequested);
    show(page);
    auto* const run = page.findChildren<QPushButton*>().first();
    QTest::mouseClick(run, Qt::LeftButton);
    CHECK(asked.count() == 1);
    page.start(5);
    QTest::mouseClick(run, Qt::LeftButton);
    CHECK(stopped.count() == 1);
    CHECK(page.rows().size() == 6);  // of before
    page.addRow(example_rows().front());
    CHECK(page.rows().size() == 1);
    page.addRow(example_rows().back());
    CHECK(page.rows().size() == 2);
    page.setBusy(false);
    CHECK_FALSE(page.isBusy());
}

TEST_CASE("pareto: a speed that is typed names the cheapest machine that reaches it", "[pages]") {
    ParetoPage page;
    show(page);
    const QLabel* cheapest = nullptr;
    for (const QLabel* const label : page.findChildren<QLabel*>())
        if (label->text().contains(QStringLiteral("The least $ an hour: slow"))) cheapest = label;
    REQUIRE(cheapest != nullptr);
    auto* const least = page.findChild<QSpinBox*>();
    least->setFocus();
    least->selectAll();
    QTest::keyClicks(least, QStringLiteral("1500"));
    CHECK(cheapest->text().startsWith(QStringLiteral("At 1,500 tokens/s or more, the least")));
    QTest::keyClicks(least, QStringLiteral("0"));
    CHECK(cheapest->text().startsWith(QStringLiteral("None reaches 15,000")));
}

TEST_CASE("pareto: a click on a point and a row of the table select alike", "[pages]") {
    ParetoPage page;
    show(page);
    const QSignalSpy adopted(&page, &ParetoPage::adopted);
    PictureView* const chart = page.chart();
    QTest::mouseClick(chart, Qt::LeftButton, {}, test::middle_of(*chart, 1));
    REQUIRE(chart->selected() == 1);
    auto* const table = page.findChild<QTableView*>();
    CHECK(table->model()->index(table->currentIndex().row(), 0).data().toString() ==
          QStringLiteral("beaten"));
    QTest::keyClick(chart, Qt::Key_Left);  // the next cheaper
    CHECK(chart->selected() == 0);
    QTest::keyClick(chart, Qt::Key_Return);
    REQUIRE(adopted.count() == 1);
    CHECK(adopted.first()[0].toInt() == 0);
    for (int i = 0; i < table->model()->rowCount(); ++i)
        if (table->model()->index(i, 0).data().toString() == QStringLiteral("unpriced"))
            table->selectRow(i);
    CHECK(chart->selected() == kNoId);  // listed, but not in the picture
}

TEST_CASE("pareto: all columns are in sight in a small window, also with long reasons", "[pages]") {
    ParetoPage page;
    const MachineSystem row =
        does_not_fit(example_row("h200-pcie5-16vcpu-128gib", 123'456, 12.34, "accelerate-offload"));
    page.addRow(row);
    show(page);
    auto* const table = page.findChild<QTableView*>();
    for (const int width : {850, 1200, 2000}) {
        page.resize(width, 500);
        page.grab();
        CHECK(table->horizontalScrollBar()->maximum() == 0);
    }
}

TEST_CASE("pareto: rows of an earlier scenario are marked, and can be made again by a key",
          "[pages]") {
    ParetoPage page;
    auto* const note = page.findChild<OutdatedNote*>();
    page.setOutdated(true);
    show(page);
    CHECK(!note->isVisible());  // there was none
    CHECK(blue_pixels(page) > 50);
    page.setOutdated(true);
    CHECK(note->isVisible());
    CHECK(blue_pixels(page) == 0);  // dimmed
    const QSignalSpy asked(&page, &ParetoPage::requested);
    QTest::keyClick(note->button(), Qt::Key_Space);
    CHECK(asked.count() == 1);
    page.setOutdated(false);
    CHECK(blue_pixels(page) > 50);
    page.setOutdated(true);
    page.start(1);
    CHECK(note->isVisible());
    page.addRow(example_rows().front());
    CHECK(!note->isVisible());
}

TEST_CASE("pareto: cost by the hour or by tokens, csv and svg", "[pages]") {
    ParetoPage page;
    show(page);
    CHECK(page.axis() == CostAxis::usd_per_hour);
    const QPoint by_hour = test::middle_of(*page.chart(), 0);
    page.findChild<QComboBox*>()->setCurrentIndex(1);
    CHECK(page.axis() == CostAxis::usd_per_million_tokens);
    page.grab();
    CHECK(test::middle_of(*page.chart(), 0) != by_hour);
    CHECK(page.csv().toStdString() ==
          to_csv(pareto_table(example_rows(), CostAxis::usd_per_hour, ByteUnits::decimal)));
    CHECK_THAT(page.svg().toStdString(), ContainsSubstring("$ per million tokens"));
}

TEST_CASE("pareto: where nothing fits, the picture says so and has no axes", "[pages]") {
    ParetoPage page;
    page.resize(1200, 800);
    page.show();
    page.addRow(does_not_fit(example_rows().front()));
    CHECK(page.chart()->picture().shapes.empty());
    CHECK(test::says(page, QStringLiteral("0 fit and have a price.")));
    page.addRow(example_rows().front());
    CHECK(page.svg().contains("$ an hour"));
    CHECK(page.svg().contains("tokens/s"));
}

}  // namespace sluice
