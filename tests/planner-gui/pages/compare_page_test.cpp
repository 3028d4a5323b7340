#include "planner-gui/pages/compare_page.h"

#include <QApplication>
#include <QCheckBox>
#include <QPushButton>
#include <QSignalSpy>
#include <QTabWidget>
#include <QTableView>
#include <QTest>

#include "planner-gui/pages/bars_page.h"
#include "sim/answers/compare/comparison.h"
#include "sim/report/answers/answer_reports.h"
#include "tests/catch.h"
#include "tests/planner-gui/pages/shown_page.h"
#include "tests/planner-gui/predicted.h"

namespace sluice {
namespace {

using test::middle_of;
using test::named;
using test::show;

constexpr const char* kMachine = "h200-pcie5-16vcpu-128gib";
constexpr const char* kScenarioTable = "Scenarios side by side";
constexpr const char* kScenarioBars = "Tokens per second of each scenario";
constexpr const char* kSystemBars = "Tokens per second of each system";

ComparedScenario scenario(const QString& name, std::int64_t batch) {
    ComparedScenario out;
    out.name = name;
    out.report = test::predicted("qwen2.5-7b", kMachine, test::batch_of(batch));
    return out;
}

std::shared_ptr<const Comparison> comparison() {
    return std::make_shared<Comparison>([] {
        return compare(read_model("qwen2.5-7b"), test::machine_of(kMachine), {},
                       {{Schedule("streamed"), Schedule("megatrain")}});
    }());
}

}  // namespace

TEST_CASE("compare page: scenarios side by side, only the differences, exports", "[pages]") {
    ComparePage page;
    CHECK(page.svg().isEmpty());
    CHECK(page.csv().isEmpty());
    page.scenarios().setScenarios(
        {scenario(QStringLiteral("small"), 8), scenario(QStringLiteral("large"), 64)});
    show(page);
    const QTableView* const table = named<QTableView>(page, kScenarioTable);
    REQUIRE(table != nullptr);
    const int all = table->model()->rowCount();
    page.scenarios().findChild<QCheckBox*>()->click();
    CHECK(table->model()->rowCount() < all);
    CHECK(table->model()->rowCount() > 0);
    CHECK(page.svg().contains("large"));
    CHECK(page.csv().contains(QStringLiteral("Batch,8,64\n")));

    QSignalSpy chosen(&page.scenarios(), &ScenariosPart::scenarioActivated);
    auto* const bars = named<PictureView>(page, kScenarioBars);
    REQUIRE(bars != nullptr);
    QTest::mouseClick(bars, Qt::LeftButton, {}, middle_of(*bars, 1));
    CHECK(chosen.isEmpty());  // a click selects
    QTest::mouseDClick(bars, Qt::LeftButton, {}, middle_of(*bars, 1));
    REQUIRE(chosen.size() == 1);
    CHECK(chosen.front().front().toInt() == 1);
    // One scenario has nothing to differ from.
    page.scenarios().setScenarios({scenario(QStringLiteral("alone"), 8)});
    CHECK(table->model()->rowCount() > 10);
}

TEST_CASE("compare page: systems of one model on one machine", "[pages]") {
    ComparePage page;
    page.findChild<QTabWidget*>()->setCurrentIndex(1);
    show(page);
    CHECK(page.svg().isEmpty());
    QSignalSpy asked(&page.systems(), &BarsPage::requested);
    auto* const button = page.systems().findChild<QPushButton*>();
    QTest::keyClick(button, Qt::Key_Space);
    CHECK(asked.size() == 1);
    page.systems().setBusy(true);
    CHECK(!button->isEnabled());
    page.systems().setBusy(false);

    const auto systems = comparison();
    page.systems().setAnswer(
        [systems](ByteUnits units) { return systems_answer(*systems, units); });
    QApplication::processEvents();
    const QTableView* const table = named<QTableView>(page, "Systems");
    REQUIRE(table != nullptr);
    CHECK(table->model()->rowCount() == 2);
    CHECK(page.csv().toStdString() == comparison_csv({systems.get(), 1}));
    for (const ComparedSystem& system : systems->systems)
        CHECK(page.svg().contains(QByteArray::fromStdString(">" + system.name + "</text>")));
    QSignalSpy chosen(&page.systems(), &BarsPage::adopted);
    auto* const bars = named<PictureView>(page, kSystemBars);
    REQUIRE(bars != nullptr);
    QTest::keyClick(bars, Qt::Key_End);
    CHECK(table->currentIndex().row() == 1);
    QTest::keyClick(bars, Qt::Key_Return);
    REQUIRE(chosen.size() == 1);
    CHECK(chosen.front().front().toInt() == 1);
    CHECK_THAT(page.systems().selectedWords().toStdString(), ContainsSubstring("megatrain"));
    QTest::keyClick(page.systems().findChild<PictureTable*>()->adoptButton(), Qt::Key_Space);
    CHECK(chosen.size() == 2);

    // Once the scenario is another, the systems are marked and can be compared again.
    auto* const note = page.systems().findChild<OutdatedNote*>();
    CHECK(!note->isVisible());
    page.systems().setOutdated(true);
    CHECK(note->isVisible());
    QTest::keyClick(note->button(), Qt::Key_Space);
    CHECK(asked.size() == 2);
    page.systems().setAnswer(
        [systems](ByteUnits units) { return systems_answer(*systems, units); });
    CHECK(!note->isVisible());

    // Other settings of the systems are asked for at once.
    auto* const of_users = page.systems().findChild<QCheckBox*>();
    CHECK(!page.systems().isOptionChecked());
    QTest::keyClick(of_users, Qt::Key_Space);
    CHECK(page.systems().isOptionChecked());
    CHECK(asked.size() == 3);
}

TEST_CASE("compare page: 200 scenarios are laid out, each with a bar and a column", "[pages]") {
    ComparePage page;
    const ComparedScenario one = scenario(QStringLiteral("scenario"), 8);
    show(page);
    page.scenarios().setScenarios(std::vector<ComparedScenario>(200, one));
    QApplication::processEvents();
    CHECK(named<PictureView>(page, kScenarioBars)->picture().keys.ids.size() == 200);
    CHECK(named<QTableView>(page, kScenarioTable)->model()->columnCount() == 200);
}

}  // namespace sluice
