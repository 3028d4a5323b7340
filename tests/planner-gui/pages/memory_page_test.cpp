#include "planner-gui/pages/memory_page.h"

#include <QImage>
#include <QTest>

#include "planner-gui/pages/memory_view.h"
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

MemoryLayout layout_of(const MemoryPage& page) {
    const Palette palette(page.view()->palette());
    return MemoryPainter(page.view()->picture(), palette, page.view()->units(), page.view()->font(),
                         page.view())
        .layout(page.view()->width(), page.view()->height());
}

}  // namespace

TEST_CASE("memory that fits has no shortage in the picture", "[pages]") {
    MemoryPage page;
    page.setPalette(light_palette());
    page.setReport(fitting());
    show(page);
    CHECK(says(page, QStringLiteral(": fits")));
    const MemoryLayout layout = layout_of(page);
    REQUIRE(layout.bars.size() == 2);
    CHECK(layout.height <= page.view()->height() + 1);
    const QImage image = page.view()->grab().toImage();
    CHECK(pixels_of(image, Palette::light().waiting()) == 0);
    // Checkpoints take 16.4 of 150.8 GB of the bar.
    const double expected = layout.bars[0].width() * layout.bars[0].height() * 16.4e9 /
                            static_cast<double>(layout.full[0]);
    CHECK(pixels_of(image, Palette::light().memory(MemoryKind::checkpoints), layout.bars[0]) ==
          Approx(expected).epsilon(0.25));  // its name covers some
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
        const MemoryLayout layout = layout_of(page);
        const QImage image = page.view()->grab().toImage();
        const QColor red = (dark ? Palette::dark() : Palette::light()).waiting();
        const double there =
            layout.bars[0].left() + layout.bars[0].width() *
                                        static_cast<double>(too_large()->plan.fit.device.usable) /
                                        static_cast<double>(layout.full[0]);
        QRectF before = layout.bars[0], past = layout.bars[0];
        before.setRight(there - 4);
        past.setLeft(there + 4);
        CHECK(pixels_of(image, red, before) == 0);
        CHECK(pixels_of(image, red, past) > 1000);
        CHECK(pixels_of(image, red, layout.curve) > 1000);
    }
}

TEST_CASE("tooltips of memory say kind, free bytes and the moment", "[pages]") {
    MemoryPage page;
    page.setReport(fitting());
    show(page);
    const MemoryLayout layout = layout_of(page);
    const QRectF& device = layout.bars[0];
    const auto at = [&](double bytes) {
        return QPointF(device.left() + device.width() * bytes / static_cast<double>(layout.full[0]),
                       device.center().y());
    };
    CHECK(page.view()->tooltip_at(at(10e9)).contains(QStringLiteral("checkpoints")));
    CHECK(page.view()->tooltip_at(at(100e9)).contains(QStringLiteral("free")));
    CHECK(page.view()->tooltip_at(at(100e9)).contains(QStringLiteral("125.1 GB")));
    page.setByteUnits(ByteUnits::binary);
    CHECK(page.view()->tooltip_at(at(100e9)).contains(QStringLiteral("GiB")));
    CHECK(page.view()->tooltip_at(layout.curve.center()).contains(QStringLiteral("all")));
    CHECK(page.view()->tooltip_at(layout.host[0].center()).contains(QStringLiteral("loading")));
    CHECK(page.view()->tooltip_at({0, 0}).isEmpty());
    QTest::keyClick(page.view(), Qt::Key_Right);  // moves along the curve
    page.setReport(nullptr);
    CHECK(says(page, QStringLiteral("No prediction: the form says")));
    CHECK(page.view()->tooltip_at({50, 50}).isEmpty());
    page.view()->grab();
}

TEST_CASE("memory is exported as a picture and as a table", "[pages]") {
    MemoryPage page;
    CHECK(page.svg().isEmpty());
    CHECK(page.csv().isEmpty());
    page.setReport(fitting());
    CHECK(page.svg().contains("24.8 GB of 149.9 GB"));
    CHECK(page.csv() == memory_csv(*fitting()));
    CHECK(pixels_of(drawn(page.svg()), Palette::light().memory(MemoryKind::checkpoints)) > 10'000);
}

TEST_CASE("a model of 400 layers in many micro-batches is shown", "[pages]") {
    TrainingSpec training = test::batch_of(64);
    training.micro_batch = 1;
    const auto report =
        test::predicted("dense:layers=400,hidden=1024", "h200-sxm-pcie5-1.5tb", training);
    MemoryPage page;
    page.setReport(report);
    show(page);
    const MemoryLayout layout = layout_of(page);
    CHECK(page.view()->tooltip_at(layout.curve.center()).contains(QStringLiteral("checkpoints")));
    CHECK(most_memory(page.view()->picture().curve).bytes == report->plan.fit.device.peak.bytes);
}

}  // namespace sluice
