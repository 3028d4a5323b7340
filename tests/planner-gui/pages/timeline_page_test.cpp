#include "planner-gui/pages/timeline_page.h"

#include <QAbstractButton>
#include <QImage>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTest>
#include <QWheelEvent>

#include "planner-gui/pages/timeline_view.h"
#include "planner-gui/pictures/palette.h"
#include "sim/answers/validate/compare_run.h"
#include "sim/base/format.h"
#include "sim/report/report.h"
#include "tests/catch.h"
#include "tests/planner-gui/pages/shown_page.h"
#include "tests/planner-gui/predicted.h"

namespace sluice {
namespace {

using test::drawn;
using test::pixels_of;
using test::says;
using test::show;

std::shared_ptr<const TimedPlan> example() {
    static const auto report =
        test::predicted("qwen2.5-14b", "h200-sxm-pcie5-1.5tb", test::batch_of(8));
    return report;
}

void turn_wheel(TimelineView& view, QPointF at, int angle) {
    QWheelEvent event(at, view.mapToGlobal(at), {}, {0, angle}, Qt::NoButton, Qt::NoModifier,
                      Qt::NoScrollPhase, false);
    QCoreApplication::sendEvent(&view, &event);
}

}  // namespace

TEST_CASE("the timeline shows all of a step, then what is zoomed and panned to", "[pages]") {
    TimelinePage page;
    page.setReport(example());
    show(page);
    TimelineView& view = *page.view();
    const Seconds step = example()->step.seconds;
    CHECK(view.time_view().begin == 0);
    CHECK(view.time_view().end == Approx(step));

    const QPointF at(view.time_view().left + 300, 100);
    const Seconds under = view.time_view().x_to_time(at.x());
    turn_wheel(view, at, 360);
    CHECK(view.time_view().length() < step / 1.5);
    CHECK(view.time_view().x_to_time(at.x()) == Approx(under));
    QTest::keyClick(&view, Qt::Key_0);
    CHECK(view.time_view().length() == Approx(step));
    QTest::keyClick(&view, Qt::Key_Plus);
    QTest::keyClick(&view, Qt::Key_Plus);
    const TimeView near = view.time_view();
    QTest::keyClick(&view, Qt::Key_Right);
    CHECK(view.time_view().begin > near.begin);
    CHECK(view.time_view().length() == Approx(near.length()));
    QTest::keyClick(&view, Qt::Key_Left);
    CHECK(view.time_view().begin == Approx(near.begin));
    QTest::keyClick(&view, Qt::Key_Minus);
    CHECK(view.time_view().length() > near.length());
    QTest::keyClick(&view, Qt::Key_End);
    CHECK(view.time_view().end == Approx(step));
    auto* const bar = page.findChild<QScrollBar*>();
    REQUIRE(bar != nullptr);
    CHECK(bar->value() == bar->maximum());
    bar->setValue(0);
    CHECK(view.time_view().begin == 0);
}

TEST_CASE("dragging pans, a click selects", "[pages]") {
    TimelinePage page;
    page.setReport(example());
    show(page);
    TimelineView& view = *page.view();
    view.zoom(4);
    const TimeView before = view.time_view();
    const TimelineLayout layout = view.layout_now();
    const QPoint at(static_cast<int>(layout.plot_left + 400),
                    static_cast<int>(layout.row_tops[1] + layout.row_height / 2));
    QTest::mousePress(&view, Qt::LeftButton, Qt::NoModifier, at);
    QMouseEvent drag(QEvent::MouseMove, at - QPoint(200, 0), view.mapToGlobal(at - QPoint(200, 0)),
                     Qt::NoButton, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(&view, &drag);
    QTest::mouseRelease(&view, Qt::LeftButton, Qt::NoModifier, at - QPoint(200, 0));
    CHECK(view.time_view().begin == Approx(before.begin + before.seconds_of(200)));
    CHECK_FALSE(view.selected_place());

    const Block& block = view.timeline().rows()[1].blocks[20];
    view.select_place(TimelinePlace{1, 20});
    view.select_place(std::nullopt);
    const int x = static_cast<int>(view.time_view().time_to_x((block.start + block.end) / 2));
    QTest::mouseClick(&view, Qt::LeftButton, Qt::NoModifier, QPoint(x, at.y()));
    REQUIRE(view.selected_place());
    CHECK(view.timeline().operation(*view.selected_place()) == block.first);
    CHECK(says(page, view.words()));
}

TEST_CASE("keys select operations, which the page then describes", "[pages]") {
    TimelinePage page;
    page.setReport(example());
    show(page);
    TimelineView& view = *page.view();
    QTest::keyClick(&view, Qt::Key_Period);
    REQUIRE(view.selected_place());
    CHECK(view.timeline().rows()[view.selected_place()->row].lane.work == Work::compute);
    const TimelinePlace first = *view.selected_place();
    QTest::keyClick(&view, Qt::Key_Period);
    CHECK(view.selected_place()->block == first.block + 1);
    CHECK(says(page, QStringLiteral("lane compute, predicted")));
    QTest::keyClick(&view, Qt::Key_Comma);
    CHECK(*view.selected_place() == first);
    QTest::keyClick(&view, Qt::Key_Down);
    CHECK(view.selected_place()->row == first.row + 1);
    CHECK(says(page, QStringLiteral("lane copies from the GPU")));
    QTest::keyClick(&view, Qt::Key_Return);
    const Block& block = view.timeline().block(*view.selected_place());
    CHECK(view.time_view().length() == Approx(1.2 * (block.end - block.start)).epsilon(0.2));
    QTest::keyClick(&view, Qt::Key_Escape);
    CHECK_FALSE(view.selected_place());
}

TEST_CASE("tooltips say what runs there, in the units asked for", "[pages]") {
    TimelinePage page;
    page.setReport(example());
    show(page);
    TimelineView& view = *page.view();
    const TimelineLayout layout = view.layout_now();
    const Block& copy = view.timeline().rows()[0].blocks[10];
    const QPointF at(view.time_view().time_to_x((copy.start + copy.end) / 2),
                     layout.row_tops[0] + 3);
    CHECK(view.tooltipAt(at).contains(QStringLiteral("GB/s")));
    CHECK(view.tooltipAt(at).contains(QStringLiteral("waits for")));
    page.setByteUnits(ByteUnits::binary);
    CHECK(view.tooltipAt(at).contains(QStringLiteral("GiB/s")));
    const WaitBlock& wait = view.timeline().rows()[1].waits.back();
    const QPointF pause(view.time_view().time_to_x((wait.start + wait.end) / 2),
                        layout.row_tops[1] + 3);
    CHECK(view.tooltipAt(pause).contains(QStringLiteral("compute waits")));
    CHECK(view.tooltipAt({at.x(), layout.axis_y + 5}).isEmpty());
    CHECK(view.tooltipAt({2, 2}).isEmpty());
}

TEST_CASE("waiting is visible in light and in dark", "[pages]") {
    for (const bool dark : {false, true}) {
        CAPTURE(dark);
        TimelinePage page;
        page.setPalette(dark ? dark_palette() : light_palette());
        page.setReport(example());
        show(page);
        const QImage image = page.view()->grab().toImage();
        const Colours& colours = dark ? dark_colours() : light_colours();
        CHECK(pixels_of(image, qcolor(colours.waiting)) > 2000);
        CHECK(pixels_of(image, qcolor(colours.of(family_paint(Family::backward)))) > 5000);
        CHECK(image.pixelColor(2, image.height() - 3) == qcolor(colours.window));
    }
}

TEST_CASE("a measured step is laid under, and taken away", "[pages]") {
    const auto runs = read_measured_runs(
        {SLUICE_SOURCE_DIR "/validation/h200-pcie5-16vcpu-128gib/held-out/7b-batch-8.json"},
        std::nullopt);
    const RunComparison run = [&] {
        return compare_run(runs.runs.front(), test::machine_of("h200-pcie5-16vcpu-128gib"));
    }();
    REQUIRE(run.measured);
    const auto measured = std::make_shared<const TimedPlan>(*run.measured);
    TimelinePage page;
    QSignalSpy wanted(&page, &TimelinePage::measuredReportWanted);
    QSignalSpy taken(&page, &TimelinePage::measuredTakenAway);
    page.setReport(std::make_shared<const TimedPlan>(run.predicted));
    show(page);
    const std::size_t rows = page.view()->timeline().rows().size();
    QAbstractButton *lay = nullptr, *take = nullptr;
    for (auto* const button : page.findChildren<QAbstractButton*>()) {
        if (button->text().contains(QStringLiteral("report below"))) lay = button;
        if (button->text().contains(QStringLiteral("Remove the measured"))) take = button;
    }
    REQUIRE(lay != nullptr);
    REQUIRE(take != nullptr);
    CHECK(take->isHidden());
    lay->click();
    CHECK(wanted.count() == 1);

    page.setMeasured(measured);
    CHECK(page.view()->timeline().rows().size() == 2 * rows);
    CHECK(says(page, QStringLiteral("measured ") +
                         QString::fromStdString(format_seconds(measured->step.seconds))));
    CHECK_FALSE(says(page, QStringLiteral("different plans")));
    CHECK(page.csv().contains(QStringLiteral("\nmeasured,")));
    CHECK(pixels_of(drawn(page.svg()), qcolor(light_colours().of(family_paint(Family::update)))) >
          10'000);

    const QString taken_away = QStringLiteral("belongs to another scenario");
    page.setScenario(example());
    CHECK(!page.view()->timeline().has_measured());
    CHECK(says(page, taken_away));
    page.setReport(example());
    page.setScenario(example());
    CHECK(says(page, taken_away));  // keys that follow each other are a scenario each
    page.hide();
    page.show();
    CHECK(!says(page, taken_away));
    page.setMeasured(measured);
    page.setReport(example());  // of another model
    CHECK(says(page, QStringLiteral("different plans")));
    take->click();
    CHECK(taken.count() == 1);
    CHECK_FALSE(page.view()->timeline().has_measured());
    CHECK_FALSE(says(page, QStringLiteral("different plans")));
}

TEST_CASE("an exported timeline shows what is on the screen, under what the step is", "[pages]") {
    TimelinePage page;
    CHECK(page.svg().isEmpty());
    page.setReport(example());
    const std::string whole = page.svg().toStdString();
    CHECK_THAT(whole, ContainsSubstring(timeline_header(*example()).lines.front() + "<"));
    CHECK_THAT(whole, ContainsSubstring("<title>forward 0"));
    page.view()->zoom(100);
    CHECK_THAT(page.svg().toStdString(), !ContainsSubstring("<title>forward 0"));
    CHECK(page.csv().count(QLatin1Char('\n')) ==
          static_cast<qsizetype>(example()->step.intervals.size()) + 1);
    page.setReport(nullptr);
    show(page);  // paints that there is nothing
    CHECK(says(page, QStringLiteral("No prediction: the form says")));
    QTest::keyClick(page.view(), Qt::Key_Period);
    QTest::keyClick(page.view(), Qt::Key_Plus);
    CHECK_FALSE(page.view()->selected_place());
}

}  // namespace sluice
