#include "planner-gui/pages/validation_page.h"

#include <fmt/format.h>

#include <QSignalSpy>
#include <QTableView>
#include <QTest>

#include "planner-gui/pages/picture_view.h"
#include "planner-gui/pictures/palette.h"
#include "sim/report/answers/answer_reports.h"
#include "tests/catch.h"
#include "tests/planner-gui/dropped.h"
#include "tests/planner-gui/pages/shown_page.h"
#include "tests/planner-gui/predicted.h"

namespace sluice {
namespace {

using test::show;

constexpr const char* kMeasuredMachine = "h200-pcie5-16vcpu-128gib";

std::shared_ptr<const Validation> held_out() {
    const auto file = [](const char* name) {
        return fmt::format("{}/validation/{}/held-out/{}.json", SLUICE_SOURCE_DIR, kMeasuredMachine,
                           name);
    };
    return std::make_shared<Validation>([&] {
        return validate(read_measured_runs({file("7b-batch-8"), file("7b-batch-32")}, {}),
                        test::machine_of(kMeasuredMachine));
    }());
}

}  // namespace

TEST_CASE("validation page: runs in the picture and in the table are the same", "[pages]") {
    ValidationPage page;
    const auto validation = held_out();
    page.setValidation(validation);
    show(page);
    auto* const scatter = page.findChild<PictureView*>();
    auto* const table = page.findChild<QTableView*>();
    CHECK(table->model()->rowCount() == 2);
    table->sortByColumn(1, Qt::AscendingOrder);  // the shorter step first
    QSignalSpy activated(&page, &ValidationPage::runActivated);
    for (int i = 0; i < 2; ++i) {
        QTest::mouseClick(scatter, Qt::LeftButton, {}, test::middle_of(*scatter, i));
        CHECK(scatter->selected() == i);
        const RunComparison& run = validation->runs[static_cast<std::size_t>(i)];
        const QString name = table->currentIndex().siblingAtColumn(0).data().toString();
        CHECK(name.toStdString() == run.run.name);
        QTest::keyClick(scatter, Qt::Key_Return);
        CHECK(activated.back().front().toInt() == i);
    }
    QTest::keyClick(scatter, Qt::Key_Left);
    QTest::keyClick(scatter, Qt::Key_Left);
    const double slowest =
        std::min(validation->runs[0].run.tokens_per_s(), validation->runs[1].run.tokens_per_s());
    CHECK(validation->runs[static_cast<std::size_t>(scatter->selected())].run.tokens_per_s() ==
          slowest);
    CHECK(page.csv().toStdString() == validation_csv(*validation));
    CHECK(page.svg().startsWith("<svg"));
}

TEST_CASE("validation page: dropped files are asked for, other things are not", "[pages]") {
    ValidationPage page;
    show(page);
    QSignalSpy chosen(&page, &ValidationPage::filesChosen);
    CHECK(!test::drop(page, QList{QUrl(QStringLiteral("https://example.org/a.json"))}));
    CHECK(chosen.isEmpty());
    CHECK(test::drop(page, {QUrl::fromLocalFile(QStringLiteral("/runs/a.json")),
                            QUrl::fromLocalFile(QStringLiteral("/runs/more"))}));
    REQUIRE(chosen.size() == 1);
    CHECK(chosen.front().front().toStringList() ==
          QStringList{QStringLiteral("/runs/a.json"), QStringLiteral("/runs/more")});
}

TEST_CASE("validation's picture: painted in light and dark, and with nothing to show", "[pages]") {
    for (const QPalette& colours : {light_palette(), dark_palette()}) {
        PictureView scatter(QStringLiteral("scatter"));
        scatter.setPalette(colours);
        scatter.resize(400, 400);
        CHECK(test::painted_pixels(scatter.grab().toImage()) == 0);
        scatter.setPicture(
            [all = held_out()](const PictureSpace& space) { return scatter_picture(*all, space); });
        CHECK(test::painted_pixels(scatter.grab().toImage()) > 1000);
    }
}

}  // namespace sluice
