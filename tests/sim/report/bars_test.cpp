// Are bars as long as their values, with bands at their ends?
#include "sim/report/bars.h"

#include "sim/report/picture.h"
#include "tests/catch.h"

namespace sluice {
namespace {

BarChart chart_of(std::vector<Bar> bars) {
    BarChart chart;
    chart.groups = {{"", std::move(bars)}};
    return chart;
}

/// The bars: rectangles with a tooltip.
std::vector<Box> bars_in(const Picture& picture) {
    std::vector<Box> boxes;
    for (const Shape& shape : picture.shapes)
        if (!shape.tooltip.empty()) boxes.push_back(box_of(shape));
    return boxes;
}

Box label_in(const Picture& picture, const std::string& text) {
    for (const Shape& shape : picture.shapes)
        if (const auto* words = std::get_if<Words>(&shape.form); words && words->text == text)
            return box_of(shape);
    FAIL("no label " << text);
    return {};
}

/// Horizontal lines in the colour of text.
std::vector<Box> bands_in(const Picture& picture) {
    std::vector<Box> boxes;
    for (const Shape& shape : picture.shapes)
        if (std::holds_alternative<Path>(shape.form) && shape.stroke == paint(Role::text) &&
            box_of(shape).height == 0)
            boxes.push_back(box_of(shape));
    return boxes;
}

}  // namespace

TEST_CASE("bars: lengths are proportional to values, bands lie at their ends", "[report]") {
    const BarChart chart = chart_of({{"one", 100, 80, 120, "first", "", paint(Role::other), "tip"},
                                     {"two", 50, 50, 50, "second", "", paint(Role::other), "tip"}});
    const Picture picture = bars_picture(chart, {800});
    const std::vector<Box> bars = bars_in(picture), bands = bands_in(picture);
    REQUIRE(bars.size() == 2);
    CHECK(bars[0].width == Approx(2 * bars[1].width));
    REQUIRE(bands.size() == 1);
    CHECK(bands[0].width == Approx(0.4 * bars[0].width));
    CHECK(bands[0].centre().x == Approx(bars[0].right()));
    // Everything is within the width, the longest bar's label too.
    CHECK(bars[0].x >= text_width("two", 13));
    CHECK(label_in(picture, "first").right() <= 800);
    CHECK(label_in(picture, "first").x > bands[0].right());
    CHECK(bars[1].bottom() <= picture.height);
    CHECK(id_at(picture, {5, bars[1].centre().y}) == 1);
    CHECK(id_at(picture, {10, picture.height + 5}) == kNoId);
    CHECK(picture.keys.ids == std::vector<int>{0, 1});
}

TEST_CASE("bars: a loss lies to the left of 0; no bars, narrow width and no gain are no mistake",
          "[report]") {
    BarChart chart = chart_of({{"gain", 0.3, 0.2, 0.4, "", "", paint(Role::other), "tip"},
                               {"loss", -0.1, -0.2, -0.05, "", "", paint(Role::other), "tip"}});
    chart.percent = true;
    const std::vector<Box> bars = bars_in(bars_picture(chart, {600}));
    REQUIRE(bars.size() == 2);
    CHECK(bars[1].right() == Approx(bars[0].x));
    CHECK(bars[0].width == Approx(3 * bars[1].width));
    CHECK(bars_in(bars_picture(BarChart(), {600})).empty());
    CHECK(bars_in(bars_picture(chart, {1})).size() == 2);
    chart = chart_of({{"nothing", 0, 0, 0, "", "", paint(Role::other), "tip"}});
    CHECK(bars_in(bars_picture(chart, {600}))[0].width == Approx(0).margin(1e-9));
}

TEST_CASE("bars: what does not fit is grey and says why, on the bar or beyond", "[report]") {
    const BarChart chart = chart_of(
        {{"small", 10, 9, 11, "10", "device short 10.0 GB", paint(Role::other), "tip"},
         {"large", 1000, 900, 1100, "1,000", "host short 1.0 GB", paint(Role::other), "tip"}});
    const Picture picture = bars_picture(chart, {900});
    const std::vector<Box> bars = bars_in(picture);
    CHECK(bands_in(picture).empty());
    CHECK(label_in(picture, "does not fit: device short 10.0 GB").x > bars[0].right());
    CHECK(label_in(picture, "does not fit: host short 1.0 GB").right() < bars[1].right());
    for (const Shape& shape : picture.shapes)
        if (!shape.tooltip.empty()) CHECK(shape.fill == paint(Role::misfit));
}

}  // namespace sluice
