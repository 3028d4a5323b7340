// Which shapes has a picture, and how does it look as SVG on light and dark grounds?
#include "sim/report/picture.h"

#include <cmath>

#include "sim/plan/step_plan.h"
#include "sim/report/lane_blocks.h"
#include "sim/report/to_svg.h"
#include "tests/catch.h"
#include "tests/sim/report/xml_nesting.h"

namespace sluice {
namespace {

Picture two_things() {
    Picture picture;
    picture.width = picture.height = 100;
    picture.title = "a <b>";
    picture.rectangle({10, 10, 30, 30}, paint(Role::pointed_out), 1, "one");
    picture.rectangle({20, 20, 40, 40}, {}, 2, "two");
    picture.words({50, 50}, "words & \"more\"", 10);
    picture.reach = 5;
    return picture;
}

}  // namespace

TEST_CASE("picture: the topmost thing is found, or the nearest within reach", "[report]") {
    const Picture picture = two_things();
    CHECK(id_at(picture, {15, 15}) == 1);
    CHECK(id_at(picture, {30, 30}) == 2);
    CHECK(id_at(picture, {62, 30}) == 2);
    CHECK(id_at(picture, {70, 30}) == kNoId);
    CHECK(tooltip_at(picture, {30, 30}) == "two");
    CHECK(tooltip_at(picture, {6, 15}) == "one");
    CHECK(tooltip_at(picture, {90, 90}).empty());
    CHECK(place_of(picture, 2) == Box{20, 20, 40, 40});
    CHECK_FALSE(place_of(picture, 3));
}

TEST_CASE("picture: as SVG it is well-formed, and on dark ground it is dark", "[report]") {
    const std::string light = to_svg(two_things()), dark = to_svg(two_things(), dark_colours());
    for (const std::string& svg : {light, dark}) CHECK(nesting_error(svg).value_or("") == "");
    CHECK_THAT(light, ContainsSubstring("words &amp; &quot;more&quot;</text>") &&
                          ContainsSubstring("<title>one</title>") &&
                          ContainsSubstring("fill=\"#0072b2\"") &&
                          ContainsSubstring("aria-label=\"a &lt;b&gt;\""));
    CHECK_THAT(dark, ContainsSubstring("fill=\"#1e1e20\"") && ContainsSubstring("#56b4e9"));
}

TEST_CASE("picture: lines of a hatching stay within their box, and meet those of the next",
          "[report]") {
    const Box box{3, 5, 20, 12};
    const auto lines = hatching_lines({box, 8});
    REQUIRE(!lines.empty());
    for (const auto& [from, to] : lines) {
        CHECK((box.contains(from) && box.contains(to)));
        CHECK(std::fmod(from.x + from.y, 8) == Approx(0).margin(1e-9));
        CHECK(from.x + from.y == Approx(to.x + to.y));
    }
}

TEST_CASE("colours: contrast is WCAG's", "[report]") {
    CHECK(contrast(kBlack, kWhite) == Approx(21));
    CHECK(contrast(kWhite, kWhite) == Approx(1));
    // A published pair: #767676 is the lightest grey of 4.5 on white.
    CHECK(contrast(Rgb(0x767676), kWhite) == Approx(4.54).margin(0.005));
}

TEST_CASE("colours: texts and marks are legible on light and dark", "[report]") {
    for (const Colours& colours : {light_colours(), dark_colours()}) {
        CAPTURE(colours.dark);
        CHECK(contrast(colours.text, colours.window) >= 7);
        for (const Rgb& ground : {colours.window, colours.plot}) {
            CHECK(contrast(colours.muted, ground) >= 4.5);
            CHECK(contrast(colours.waiting, ground) >= 4.5);
            CHECK(contrast(colours.good, ground) >= 4.5);
        }
        const auto legible = [&](Paint fill) {
            return contrast(colours.of(fill), colours.of(text_on(fill))) >= 4.5;
        };
        for (int i = 0; i < kMemoryKindCount; ++i)
            CHECK(legible(memory_paint(static_cast<MemoryKind>(i))));
        for (int i = 0; i < kFamilyCount; ++i) CHECK(legible(family_paint(static_cast<Family>(i))));
    }
}

TEST_CASE("colours: the scale grows lighter from end to end", "[report]") {
    const Colours& colours = light_colours();
    double before = 0;
    for (int i = 0; i <= 100; ++i) {
        const double to_black = contrast(colours.of(scale_paint(i / 100.0)), kBlack);
        CHECK(to_black > before);
        before = to_black;
    }
    CHECK(colours.of(scale_paint(-1)) == colours.of(scale_paint(0)));
    CHECK(colours.of(scale_paint(2)) == colours.of(scale_paint(1)));
}

}  // namespace sluice
