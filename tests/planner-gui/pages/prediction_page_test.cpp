#include "planner-gui/pages/prediction_page.h"

#include <QImage>
#include <QTest>

#include "planner-gui/pages/picture_view.h"
#include "planner-gui/pictures/memory_stack.h"
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

struct MemoryPage : PredictionPage {
    MemoryPage() : PredictionPage({{}, memory_picture, memory_table}) {}
};

std::shared_ptr<const TimedPlan> fitting() {
    static const auto report =
        test::predicted("qwen2.5-14b", "h200-sxm-pcie5-1.5tb", test::batch_of(32));
    return report;
}
std::shared_ptr<const TimedPlan> too_large() {
    static const auto report =
        test::predicted("qwen2.5-72b", "h200-pcie5-16vcpu-128gib", test::batch_of(256, 2048));
    return report;
}

const Picture& picture_of(const MemoryPage& page) { return page.view()->picture(); }

/// The part whose tooltip begins so.
Box part(const MemoryPage& page, const std::string& words) {
    for (const Shape& shape : picture_of(page).shapes)
        if (shape.tooltip.starts_with(words)) return box_of(shape);
    FAIL("no part " << words);
    return {};
}
QRectF rect_of(const Box& box) { return {box.x, box.y, box.width, box.height}; }
QPointF middle_of(const Box& box) { return {box.centre().x, box.centre().y}; }
/// The curve's plot.
QRectF curve_of(const MemoryPage& page) {
    return rect_of(*place_of(picture_of(page), 0)).united(rect_of(*place_of(picture_of(page), 99)));
}

}  // namespace

TEST_CASE("memory that fits has no shortage in the picture", "[pages]") {
    MemoryPage page;
    page.setPalette(light_palette());
    page.setReport(fitting());
    show(page);
    CHECK(says(page, QStringLiteral(": fits")));
    CHECK(picture_of(page).height <= page.view()->height() + 1);
    const QImage image = page.view()->grab().toImage();
    CHECK(pixels_of(image, qcolor(light_colours().waiting)) == 0);
    // Checkpoints take 16.4 of the 24.8 GB in use.
    const QRectF checkpoints = rect_of(part(page, "checkpoints\ndevice: 16.4 GB"));
    const double width = checkpoints.width() * 24.8 / 16.4;
    CHECK(part(page, "free\ndevice").width > 4 * width);
    CHECK(
        pixels_of(image, qcolor(light_colours().of(memory_paint(MemoryKind::checkpoints))),
                  checkpoints) ==
        Approx(checkpoints.width() * checkpoints.height()).epsilon(0.25));  // its name covers some
}

TEST_CASE("a shortage is drawn past the line of what there is", "[pages]") {
    for (const bool dark : {false, true}) {
        CAPTURE(dark);
        MemoryPage page;
        page.setPalette(dark ? dark_palette() : light_palette());
        page.setReport(too_large());
        show(page);
        CHECK(says(page, QStringLiteral("does not fit")));
        CHECK(says(page, QString::fromStdString(shortages(too_large()->plan).front())));
        const QImage image = page.view()->grab().toImage();
        const QColor red = qcolor((dark ? dark_colours() : light_colours()).waiting);
        const QRectF bar = rect_of(part(page, "free\ndevice"));
        double there = 0;  // the thick line of what there is
        for (const Shape& shape : picture_of(page).shapes)
            if (shape.stroke_width == 3 && there == 0) there = box_of(shape).x;
        REQUIRE(there > bar.left());
        QRectF before = bar, past = bar;
        before.setRight(there - 4);
        past.setLeft(there + 4);
        CHECK(pixels_of(image, red, before) == 0);
        CHECK(pixels_of(image, red, past) > 500);
        CHECK(pixels_of(image, red, curve_of(page)) > 500);
    }
}

TEST_CASE("tooltips of memory say kind, free bytes and the moment", "[pages]") {
    MemoryPage page;
    page.setReport(fitting());
    show(page);
    const auto at = [&](const Box& box) { return page.view()->tooltipAt(middle_of(box)); };
    CHECK(at(part(page, "checkpoints\ndevice")).contains(QStringLiteral("of all: 66%")));
    const Box bar = part(page, "free\ndevice");
    const auto free = page.view()->tooltipAt({bar.x + 0.6 * bar.width, bar.centre().y});
    CHECK(free.contains(QStringLiteral("free")));
    CHECK(free.contains(QStringLiteral("125.1 GB")));
    page.setByteUnits(ByteUnits::binary);
    CHECK(at(part(page, "checkpoints")).contains(QStringLiteral("GiB")));
    CHECK(page.view()->tooltipAt(curve_of(page).center()).contains(QStringLiteral("all: ")));
    CHECK(at(part(page, "loading")).contains(QStringLiteral("host: ")));
    CHECK(page.view()->tooltipAt({0, 0}).isEmpty());
    QTest::keyClick(page.view(), Qt::Key_Right);  // moves along the curve
    CHECK(page.view()->selected() == 0);
    QTest::keyClick(page.view(), Qt::Key_Right);
    CHECK(page.view()->selected() == 1);
    CHECK(page.view()->accessibleDescription().startsWith(QStringLiteral("at ")));
    page.setReport(nullptr);
    CHECK(says(page, QStringLiteral("No prediction: the form says")));
    CHECK(page.view()->tooltipAt({50, 50}).isEmpty());
    page.view()->grab();
}

TEST_CASE("memory is exported as a picture and as a table", "[pages]") {
    MemoryPage page;
    CHECK(page.svg().isEmpty());
    CHECK(page.csv().isEmpty());
    page.setReport(fitting());
    CHECK(page.svg().contains("24.8 GB of 149.9 GB"));
    CHECK(page.csv().toStdString() == to_csv(memory_table(*fitting())));
    CHECK(pixels_of(drawn(page.svg()),
                    qcolor(light_colours().of(memory_paint(MemoryKind::checkpoints)))) > 10'000);
}

TEST_CASE("a model of 400 layers in many micro-batches is shown", "[pages]") {
    TrainingSpec training = test::batch_of(64);
    training.micro_batch = 1;
    const auto report =
        test::predicted("dense:layers=400,hidden=1024", "h200-sxm-pcie5-1.5tb", training);
    MemoryPage page;
    page.setReport(report);
    show(page);
    CHECK(page.view()->tooltipAt(curve_of(page).center()).contains(QStringLiteral("checkpoints")));
    CHECK(most_memory(memory_over_step(*report, Tier::device)).bytes ==
          report->plan.fit.device().peak.bytes);
}

}  // namespace sluice
