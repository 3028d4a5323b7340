#include "planner-gui/pages/page_parts.h"

#include <QApplication>
#include <QCheckBox>
#include <QScrollBar>
#include <QStyle>
#include <QStyleOption>
#include <QTest>
#include <QVBoxLayout>

#include "planner-gui/pages/picture_view.h"
#include "planner-gui/pictures/palette.h"
#include "sim/report/bars.h"
#include "tests/catch.h"

namespace sluice {

TEST_CASE("page parts: keys go along a row or a column", "[pages]") {
    const auto selected_by_key = [](int key, int now, int count, Qt::Orientation along) {
        KeyOrder order;
        order.ids.resize(static_cast<std::size_t>(count));
        order.along = along == Qt::Vertical ? KeyOrder::Along::down : KeyOrder::Along::right;
        return next_place(order, now, key);
    };
    CHECK(selected_by_key(Qt::Key_Down, -1, 3, Qt::Vertical) == 0);
    CHECK(selected_by_key(Qt::Key_Down, 2, 3, Qt::Vertical) == 2);
    CHECK(selected_by_key(Qt::Key_Up, 2, 3, Qt::Vertical) == 1);
    CHECK(selected_by_key(Qt::Key_Right, 1, 3, Qt::Vertical) == std::nullopt);
    CHECK(selected_by_key(Qt::Key_Right, 1, 3, Qt::Horizontal) == 2);
    CHECK(selected_by_key(Qt::Key_Up, 0, 3, Qt::Horizontal) == 1);
    CHECK(selected_by_key(Qt::Key_Left, -1, 3, Qt::Horizontal) == 2);
    CHECK(selected_by_key(Qt::Key_Home, 2, 3, Qt::Horizontal) == 0);
    CHECK(selected_by_key(Qt::Key_End, -1, 3, Qt::Vertical) == 2);
    CHECK(selected_by_key(Qt::Key_A, 1, 3, Qt::Vertical) == std::nullopt);
    CHECK(selected_by_key(Qt::Key_Home, -1, 0, Qt::Vertical) == std::nullopt);
}

TEST_CASE("page parts: bars get the height that they need where there is room", "[pages]") {
    QWidget page;
    auto* const column = new QVBoxLayout(&page);
    auto* const bars = new PictureView(QStringLiteral("bars"));
    auto* const area = new FittedArea(bars);
    column->addWidget(area);
    column->addStretch(1);
    page.resize(600, 600);
    page.show();
    const auto show_bars = [&](std::size_t count) {
        BarChart chart;
        chart.groups.resize(1);
        chart.groups.front().bars.resize(count);
        bars->setPicture([chart](const PictureSpace& space) { return bars_picture(chart, space); });
        QTest::qWait(1);  // geometry, then what it changes
    };
    show_bars(5);
    CHECK(area->height() == bars->minimumHeight());
    show_bars(200);
    CHECK(area->height() <= 600);
    CHECK(area->verticalScrollBar()->maximum() > 0);
}

TEST_CASE("page parts: a warning has its colour in light and dark", "[pages]") {
    QWidget page;
    QLabel* const label = text_label(QStringLiteral("Shortage"));
    label->setParent(&page);
    colour_as_warning(label, &page);
    REQUIRE(light_colours().waiting != dark_colours().waiting);
    for (const QPalette& palette : {dark_palette(), light_palette(), dark_palette()}) {
        page.setPalette(palette);
        CHECK(label->palette().color(QPalette::WindowText) == qcolor(colours_of(palette).waiting));
    }
}

TEST_CASE("page parts: the outline of a check box is seen in light and dark", "[pages]") {
    const QPalette before = QApplication::palette();
    QApplication::setStyle(QStringLiteral("Fusion"));
    for (const QPalette& palette : {dark_palette(), light_palette()}) {
        use_palette(palette);
        QWidget page;
        QCheckBox box(QString(), &page);
        page.resize(60, 60);
        box.resize(60, 60);
        page.show();
        const QImage image = page.grab().toImage();
        const auto rgb = [&](QPoint at) { return Rgb(image.pixel(at) & 0xffffffU); };
        QStyleOptionButton option;
        option.initFrom(&box);
        const QRect square =
            box.style()->subElementRect(QStyle::SE_CheckBoxIndicator, &option, &box);
        const QPoint edge(square.left(), square.center().y());
        // WCAG 2.1 asks for 3:1 around a control.
        CHECK(contrast(rgb(edge), rgb({50, 5})) >= 3);
    }
    use_palette(before);
}

}  // namespace sluice
