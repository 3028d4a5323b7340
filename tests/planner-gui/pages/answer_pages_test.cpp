// Pages of comparison, sensitivity and validation, driven with real predictions.
#include <QApplication>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QMimeData>
#include <QPushButton>
#include <QSignalSpy>
#include <QTabWidget>
#include <QTableView>
#include <QTest>

#include "planner-gui/pages/adoption_foot.h"
#include "planner-gui/pages/bar_chart_view.h"
#include "planner-gui/pages/compare_page.h"
#include "planner-gui/pages/outdated_note.h"
#include "planner-gui/pages/scatter_view.h"
#include "planner-gui/pages/sensitivity_page.h"
#include "planner-gui/pages/validation_page.h"
#include "planner-gui/pictures/palette.h"
#include "planner-gui/pictures/tornado.h"
#include "sim/compare/comparison_report.h"
#include "sim/model/read_model.h"
#include "sim/report/format.h"
#include "sim/simulate/predict.h"
#include "sim/validate/validation_report.h"
#include "tests/catch.h"
#include "tests/planner-gui/predicted.h"

namespace sluice {
namespace {

constexpr const char* kMachine = "h200-pcie5-16vcpu-128gib";

MachineSpec machine() { return resolve_machine(read_machine_profile(kMachine)); }

ComparedScenario scenario(const QString& name, std::int64_t batch) {
    TrainingSpec training;
    training.batch = batch;
    ComparedScenario out;
    out.name = name;
    out.report = test::predicted("qwen2.5-7b", kMachine, training);
    return out;
}

std::shared_ptr<const Comparison> comparison() {
    return std::make_shared<Comparison>(test::simulated([] {
        return compare(read_model("qwen2.5-7b"), machine(), {},
                       {Schedule::streamed, Schedule::megatrain});
    }));
}

std::shared_ptr<const Sensitivity> gains() {
    return std::make_shared<Sensitivity>(test::simulated([] {
        return sensitivity(read_model("qwen2.5-7b"), read_machine_profile(kMachine), machine(), {},
                           "");
    }));
}

std::shared_ptr<const Validation> held_out() {
    const std::string folder =
        std::string(SLUICE_SOURCE_DIR) + "/validation/" + kMachine + "/held-out";
    return std::make_shared<Validation>(test::simulated([&] {
        return validate(
            read_measured_runs({folder + "/7b-batch-8.json", folder + "/7b-batch-32.json"}, {}),
            machine());
    }));
}

void show(QWidget& page) {
    page.resize(1000, 700);
    page.show();
    QApplication::processEvents();
}

QPoint middle_of(const BarChartView& bars, int bar) {
    return bars.placed().bars[static_cast<std::size_t>(bar)].row.center().toPoint();
}

int different_pixels(const QImage& image) {
    int count = 0;
    for (int y = 0; y < image.height(); ++y)
        for (int x = 0; x < image.width(); ++x) count += image.pixel(x, y) != image.pixel(0, 0);
    return count;
}

template <typename Widget>
Widget* named(const QWidget& page, const char* name) {
    for (Widget* const widget : page.findChildren<Widget*>())
        if (widget->accessibleName() == QLatin1StringView(name)) return widget;
    return nullptr;
}

constexpr const char* kScenarioTable = "Scenarios side by side";
constexpr const char* kScenarioBars = "Tokens per second of each scenario";
constexpr const char* kSystemBars = "Tokens per second of each system";

}  // namespace

TEST_CASE("compare page: scenarios side by side, only the differences, exports", "[pages]") {
    ComparePage page;
    CHECK(page.svg().isEmpty());
    CHECK(page.csv().isEmpty());
    page.setScenarios(
        {scenario(QStringLiteral("small"), 8), scenario(QStringLiteral("large"), 64)});
    show(page);
    const QTableView* const table = named<QTableView>(page, kScenarioTable);
    REQUIRE(table != nullptr);
    const int all = table->model()->rowCount();
    page.setOnlyDifferences(true);
    CHECK(table->model()->rowCount() < all);
    CHECK(table->model()->rowCount() > 0);
    CHECK(page.svg().contains("large"));
    CHECK(page.csv().contains(QStringLiteral("Batch,8,64\n")));

    QSignalSpy chosen(&page, &ComparePage::scenarioActivated);
    auto* const bars = named<BarChartView>(page, kScenarioBars);
    REQUIRE(bars != nullptr);
    QTest::mouseClick(bars, Qt::LeftButton, {}, middle_of(*bars, 1));
    CHECK(chosen.isEmpty());  // a click selects
    QTest::mouseDClick(bars, Qt::LeftButton, {}, middle_of(*bars, 1));
    REQUIRE(chosen.size() == 1);
    CHECK(chosen.front().front().toInt() == 1);
    // One scenario has nothing to differ from.
    page.setScenarios({scenario(QStringLiteral("alone"), 8)});
    CHECK(table->model()->rowCount() > 10);
}

TEST_CASE("compare page: systems of one model on one machine", "[pages]") {
    ComparePage page;
    page.findChild<QTabWidget*>()->setCurrentIndex(1);
    show(page);
    CHECK(page.svg().isEmpty());
    QSignalSpy asked(&page, &ComparePage::compareRequested);
    auto* const button = page.findChild<QPushButton*>();
    QTest::keyClick(button, Qt::Key_Space);
    CHECK(asked.size() == 1);
    page.setBusy(true);
    CHECK(!button->isEnabled());
    page.setBusy(false);

    const auto systems = comparison();
    page.setComparison(systems);
    QApplication::processEvents();
    const QTableView* const table = named<QTableView>(page, "Systems");
    REQUIRE(table != nullptr);
    CHECK(table->model()->rowCount() == 2);
    CHECK(page.csv().toStdString() == comparison_csv({systems.get(), 1}));
    CHECK(page.svg().toStdString() == comparison_svg({systems.get(), 1}));
    QSignalSpy chosen(&page, &ComparePage::adopt);
    auto* const bars = named<BarChartView>(page, kSystemBars);
    REQUIRE(bars != nullptr);
    QTest::keyClick(bars, Qt::Key_End);
    CHECK(table->currentIndex().row() == 1);
    QTest::keyClick(bars, Qt::Key_Return);
    REQUIRE(chosen.size() == 1);
    CHECK(chosen.front().front() == QStringLiteral("--schedule megatrain"));
    const auto* const foot = page.findChild<AdoptionFoot*>();
    CHECK_THAT(foot->words().toStdString(), ContainsSubstring("megatrain"));
    QTest::keyClick(foot->button(), Qt::Key_Space);
    CHECK(chosen.size() == 2);

    // Once the scenario is another, the systems are marked and can be compared anew.
    auto* const note = page.findChild<OutdatedNote*>();
    CHECK(!note->isVisible());
    page.setOutdated(true);
    CHECK(note->isVisible());
    QTest::keyClick(note->button(), Qt::Key_Space);
    CHECK(asked.size() == 2);
    page.setComparison(systems);
    CHECK(!note->isVisible());
}

TEST_CASE("sensitivity page: what is adopted is what was shown", "[pages]") {
    SensitivityPage page;
    CHECK(page.svg().isEmpty());
    const auto all = gains();
    page.setSensitivity(all);
    show(page);
    auto* const bars = page.findChild<BarChartView*>();
    auto* const table = page.findChild<QTableView*>();
    QPushButton* adopt = nullptr;
    for (QPushButton* const button : page.findChildren<QPushButton*>())
        if (button->text() == QStringLiteral("A&dopt")) adopt = button;
    REQUIRE(adopt != nullptr);
    CHECK(!adopt->isEnabled());
    QSignalSpy adopted(&page, &SensitivityPage::adopt);
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
        if (!possible) continue;
        const QString flags = adopted.back().front().toString();
        for (const std::string& setting : upgrade.machine_settings)
            CHECK_THAT(flags.toStdString(), ContainsSubstring("--set " + setting));
        CHECK(adopted.back().at(1).toString().toStdString() == upgrade.name);
    }
    CHECK(expected >= 2);
    CHECK(page.csv().count(QLatin1Char('\n')) == static_cast<qsizetype>(all->upgrades.size()) + 1);
    CHECK(page.svg().toStdString() == sensitivity_svg(*all));
    auto* const note = page.findChild<OutdatedNote*>();
    page.setOutdated(true);
    CHECK(note->isVisible());
    const QSignalSpy asked(&page, &SensitivityPage::sensitivityRequested);
    QTest::keyClick(note->button(), Qt::Key_Space);
    CHECK(asked.size() == 1);
    page.setSensitivity(nullptr);
    CHECK(!note->isVisible());  // nothing is shown that could be outdated
    page.setOutdated(true);
    CHECK(!note->isVisible());
    CHECK(table->model()->rowCount() == 0);
    CHECK(page.csv().isEmpty());
}

TEST_CASE("validation page: runs in the picture and in the table are the same", "[pages]") {
    ValidationPage page;
    const auto validation = held_out();
    page.setValidation(validation);
    show(page);
    auto* const scatter = page.findChild<ScatterView*>();
    auto* const table = page.findChild<QTableView*>();
    CHECK(table->model()->rowCount() == 2);
    table->sortByColumn(1, Qt::AscendingOrder);  // the shorter step first
    QSignalSpy activated(&page, &ValidationPage::runActivated);
    for (const ScatterPoint& point : scatter->placed().points) {
        QTest::mouseClick(scatter, Qt::LeftButton, {}, point.at.toPoint());
        CHECK(scatter->selected() == point.run);
        const RunComparison& run = validation->runs[static_cast<std::size_t>(point.run)];
        const QString name = table->currentIndex().siblingAtColumn(0).data().toString();
        CHECK(name.toStdString() == run.run.name);
        QTest::keyClick(scatter, Qt::Key_Return);
        CHECK(activated.back().front().toInt() == point.run);
    }
    QTest::keyClick(scatter, Qt::Key_Left);
    QTest::keyClick(scatter, Qt::Key_Left);
    const double slowest =
        std::min(validation->runs[0].run.tokens_per_s(), validation->runs[1].run.tokens_per_s());
    CHECK(validation->runs[static_cast<std::size_t>(scatter->selected())].run.tokens_per_s() ==
          slowest);
    CHECK(page.csv().toStdString() == validation_csv(*validation));
    CHECK(page.svg().startsWith("<?xml"));
}

TEST_CASE("validation page: dropped files are asked for, other things are not", "[pages]") {
    ValidationPage page;
    show(page);
    QSignalSpy chosen(&page, &ValidationPage::filesChosen);
    const auto drop = [&](const QList<QUrl>& urls) {
        QMimeData data;
        data.setUrls(urls);
        QDragEnterEvent enter(QPoint(5, 5), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&page, &enter);
        if (!enter.isAccepted()) return;
        QDropEvent event(QPointF(5, 5), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&page, &event);
    };
    drop({QUrl(QStringLiteral("https://example.org/a.json"))});
    CHECK(chosen.isEmpty());
    drop({QUrl::fromLocalFile(QStringLiteral("/runs/a.json")),
          QUrl::fromLocalFile(QStringLiteral("/runs/more"))});
    REQUIRE(chosen.size() == 1);
    CHECK(chosen.front().front().toStringList() ==
          QStringList{QStringLiteral("/runs/a.json"), QStringLiteral("/runs/more")});
}

TEST_CASE("answer pages: painted in light and dark, and with nothing to show", "[pages]") {
    const auto all = gains();
    const auto validation = held_out();
    for (const QPalette& colours : {light_palette(), dark_palette()}) {
        BarChartView bars(QStringLiteral("bars"));
        bars.setPalette(colours);
        bars.resize(600, 300);
        const int empty = different_pixels(bars.grab().toImage());
        bars.setChart(tornado_chart(*all));
        CHECK(different_pixels(bars.grab().toImage()) > empty + 1000);
        ScatterView scatter;
        scatter.setPalette(colours);
        scatter.resize(400, 400);
        CHECK(different_pixels(scatter.grab().toImage()) == 0);
        scatter.setValidation(validation);
        CHECK(different_pixels(scatter.grab().toImage()) > 1000);
    }
}

TEST_CASE("compare page: 200 scenarios are laid out, each with a bar and a column", "[pages]") {
    ComparePage page;
    const ComparedScenario one = scenario(QStringLiteral("scenario"), 8);
    show(page);
    page.setScenarios(std::vector<ComparedScenario>(200, one));
    QApplication::processEvents();
    CHECK(named<BarChartView>(page, kScenarioBars)->placed().bars.size() == 200);
    CHECK(named<QTableView>(page, kScenarioTable)->model()->columnCount() == 200);
}

}  // namespace sluice
