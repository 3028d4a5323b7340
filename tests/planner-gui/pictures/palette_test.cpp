#include "planner-gui/pictures/palette.h"

#include "tests/catch.h"

namespace sluice {

TEST_CASE("a palette is light or dark as the desktop is", "[pictures]") {
    CHECK_FALSE(Palette(light_palette()).is_dark());
    CHECK(Palette(dark_palette()).is_dark());
    CHECK_FALSE(Palette::light().is_dark());
    CHECK(Palette::dark().is_dark());
}

TEST_CASE("contrast is WCAG's", "[pictures]") {
    CHECK(contrast(Qt::black, Qt::white) == Approx(21));
    CHECK(contrast(Qt::white, Qt::white) == Approx(1));
    // A published pair: #767676 is the lightest grey of 4.5 on white.
    CHECK(contrast(QColor(0x76, 0x76, 0x76), Qt::white) == Approx(4.54).margin(0.005));
}

TEST_CASE("texts and marks are legible on light and dark", "[pictures]") {
    for (const Palette& palette : {Palette::light(), Palette::dark()}) {
        CAPTURE(palette.is_dark());
        CHECK(contrast(palette.text(), palette.window()) >= 7);
        for (const QColor& ground : {palette.window(), palette.plot()}) {
            CHECK(contrast(palette.muted(), ground) >= 4.5);
            CHECK(contrast(palette.waiting(), ground) >= 4.5);
            CHECK(contrast(palette.good(), ground) >= 4.5);
        }
        for (int i = 0; i < kMemoryKindCount; ++i) {
            const auto kind = static_cast<MemoryKind>(i);
            CAPTURE(memory_kind_name(kind));
            CHECK(contrast(palette.memory(kind), Palette::text_on(palette.memory(kind))) >= 4.5);
        }
    }
    for (int i = 0; i < kFamilyCount; ++i) {
        const auto family = static_cast<Family>(i);
        CHECK(contrast(Palette::family(family), Palette::family_text(family)) >= 4.5);
    }
}

TEST_CASE("the scale grows lighter from end to end", "[pictures]") {
    double before = 0;
    for (int i = 0; i <= 100; ++i) {
        const double to_black = contrast(Palette::scale(i / 100.0), Qt::black);
        CHECK(to_black > before);
        before = to_black;
    }
    CHECK(Palette::scale(-1) == Palette::scale(0));
    CHECK(Palette::scale(2) == Palette::scale(1));
}

}  // namespace sluice
