#include "planner-gui/pictures/palette.h"

namespace sluice {
namespace {

Rgb rgb_of(const QColor& colour) { return Rgb(colour.rgb() & 0xffffffU); }

QPalette palette_from(Rgb window, Rgb base, Rgb button, Rgb text, Rgb highlight) {
    const auto mixed = [](Rgb one, Rgb other, double share) {
        return qcolor(mix(one, other, share));
    };
    QPalette palette(qcolor(text), qcolor(button), mixed(button, text, 0.2),
                     mixed(button, kBlack, 0.4), mixed(button, kBlack, 0.2), qcolor(text),
                     qcolor(text), qcolor(base), qcolor(window));
    palette.setColor(QPalette::AlternateBase, mixed(base, text, 0.05));
    palette.setColor(QPalette::ToolTipBase, mixed(base, text, 0.1));
    palette.setColor(QPalette::ToolTipText, qcolor(text));
    palette.setColor(QPalette::PlaceholderText, mixed(text, base, 0.4));
    palette.setColor(QPalette::Highlight, qcolor(highlight));
    palette.setColor(QPalette::HighlightedText, qcolor(legible_on(highlight)));
    palette.setColor(QPalette::Link, qcolor(highlight));
    for (const QPalette::ColorRole role :
         {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        palette.setColor(QPalette::Disabled, role, mixed(text, window, 0.5));
    palette.setColor(QPalette::Disabled, QPalette::Highlight, mixed(button, text, 0.2));
    return palette;
}

}  // namespace

Colours colours_of(const QPalette& palette) {
    return colours_on(rgb_of(palette.color(QPalette::Base)), rgb_of(palette.color(QPalette::Text)));
}

QPalette dark_palette() {
    const Colours& dark = dark_colours();
    return palette_from(Rgb(0x2b2b2e), dark.window, Rgb(0x3a3a3e), dark.text, kSkyBlue);
}

QPalette check_box_palette(QPalette palette) {
    constexpr int kDarker = 140;  // percent: the outline, by the role Window
    const Rgb outline = mix(rgb_of(palette.color(QPalette::Window)),
                            rgb_of(palette.color(QPalette::WindowText)), 0.6);
    palette.setColor(QPalette::Window, qcolor(outline).lighter(kDarker));
    return palette;
}

QPalette light_palette() {
    const Colours& light = light_colours();
    return palette_from(Rgb(0xf3f3f3), light.window, Rgb(0xe8e8e8), light.text, kBlue);
}

}  // namespace sluice
