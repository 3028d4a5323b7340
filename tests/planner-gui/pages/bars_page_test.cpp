#include "planner-gui/pages/bars_page.h"

#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>

#include "planner-gui/pictures/palette.h"
#include "sim/answers/search/sensitivity.h"
#include "sim/report/answers/answer_reports.h"
#include "tests/catch.h"
#include "tests/planner-gui/pages/shown_page.h"
#include "tests/planner-gui/predicted.h"

namespace sluice {
namespace {

using test::middle_of;
using test::show;

constexpr const char* kSmallMachine = "rtx-3090-64gb";

std::shared_ptr<const Sensitivity> gains() {
    return std::make_shared<Sensitivity>([] {
        return sensitivity(read_model("llama-3.2-1b"), read_machine_profile(kSmallMachine),
                           test::machine_of(kSmallMachine), {}, "");
    }());
}

}  // namespace

TEST_CASE("sensitivity page: what is adopted is what was shown", "[pages]") {
    const std::unique_ptr<BarsPage> owner(sensitivity_page());
    BarsPage& page = *owner;
    CHECK(page.svg().isEmpty());
    const auto all = gains();
    page.setAnswer([all](ByteUnits) { return sensitivity_answer(*all); });
    show(page);
    auto* const bars = page.findChild<PictureView*>();
    auto* const table = page.findChild<QTableView*>();
    QPushButton* adopt = nullptr;
    for (QPushButton* const button : page.findChildren<QPushButton*>())
        if (button->text() == QStringLiteral("A&dopt")) adopt = button;
    REQUIRE(adopt != nullptr);
    CHECK(!adopt->isEnabled());
    QSignalSpy adopted(&page, &BarsPage::adopted);
    qsizetype expected = 0;
    for (int i = 0; i < static_cast<int>(all->upgrades.size()); ++i) {
        const Upgrade& upgrade = all->upgrades[static_cast<std::size_t>(i)];
        const bool possible = !upgrade.machine_settings.empty();
        expected += possible ? 1 : 0;
        QTest::mouseClick(bars, Qt::LeftButton, {}, middle_of(*bars, i));
        CHECK(adopted.size() == expected - (possible ? 1 : 0));  // a click selects
        QTest::mouseDClick(bars, Qt::LeftButton, {}, middle_of(*bars, i));
        CHECK(adopted.size() == expected);
        CHECK(adopt->isEnabled() == possible);
        CHECK(table->currentIndex().row() == i);
        if (possible) CHECK(adopted.back().front().toInt() == i);
    }
    CHECK(expected >= 2);
    CHECK(page.csv().count(QLatin1Char('\n')) == static_cast<qsizetype>(all->upgrades.size()) + 1);
    CHECK(page.csv().contains(QStringLiteral("machine_settings")));  // for programs alone
    CHECK(table->model()->columnCount() == 6);
    for (const Upgrade& upgrade : all->upgrades)
        CHECK(page.svg().contains(QByteArray::fromStdString(">" + upgrade.name + "</text>")));
    auto* const note = page.findChild<OutdatedNote*>();
    page.setOutdated(true);
    CHECK(note->isVisible());
    const QSignalSpy asked(&page, &BarsPage::requested);
    QTest::keyClick(note->button(), Qt::Key_Space);
    CHECK(asked.size() == 1);
    page.setAnswer({});
    CHECK(!note->isVisible());  // nothing is shown that could be outdated
    page.setOutdated(true);
    CHECK(!note->isVisible());
    CHECK(table->model()->rowCount() == 0);
    CHECK(page.csv().isEmpty());
}

TEST_CASE("sensitivity's bars: painted in light and dark, and with nothing to show", "[pages]") {
    for (const QPalette& colours : {light_palette(), dark_palette()}) {
        PictureView bars(QStringLiteral("bars"));
        bars.setPalette(colours);
        bars.resize(600, 300);
        const int empty = test::painted_pixels(bars.grab().toImage());
        bars.setPicture([all = gains()](const PictureSpace& space) {
            return bars_picture(upgrade_bars(*all), space);
        });
        CHECK(test::painted_pixels(bars.grab().toImage()) > empty + 1000);
    }
}

}  // namespace sluice
