#include "sim/report/colours.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/report/lane_blocks.h"

namespace sluice {
namespace {

/// In the order of Family.
constexpr std::array<Rgb, kFamilyCount> kFamilyColours = {
    kSkyBlue, kYellow, kBlue, kGreen, kPurple, kOrange, kVermilion, kMiddleGrey};
/// In the order of MemoryKind.
constexpr std::array<Rgb, kMemoryKindCount> kMemoryColours = {
    kSkyBlue, kOrange, kYellow, kGreen, kPurple, kMiddleGrey, kVermilion, kBlue, kDarkGrey, kBrown};
/// Each colour is legible as a dot on white.
constexpr std::array<Rgb, 7> kSeriesColours = {kBlue,   kVermilion, kGreen,     kPurple,
                                               kOrange, kSkyBlue,   kMiddleGrey};
/// Ten equidistant colours of viridis (van der Walt and Smith, matplotlib 1.5, CC0). Their
/// lightness increases, so grey prints and all kinds of colour vision keep the order.
constexpr std::array<Rgb, 10> kViridis = {
    Rgb(0x440154), Rgb(0x482878), Rgb(0x3e4a89), Rgb(0x31688e), Rgb(0x26828e),
    Rgb(0x1f9e89), Rgb(0x35b779), Rgb(0x6dcd59), Rgb(0xb4de2c), Rgb(0xfde725)};

template <std::size_t Count>
Rgb nth(const std::array<Rgb, Count>& colours, int index) {
    return colours[static_cast<std::size_t>(index) % Count];
}

/// WCAG 2.1, definition of relative luminance.
double luminance(Rgb colour) {
    const auto linear = [](std::uint8_t byte) {
        const double channel = byte / 255.0;
        return channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(colour.red) + 0.7152 * linear(colour.green) +
           0.0722 * linear(colour.blue);
}

Rgb scale_colour(double share) {
    const double at = std::clamp(std::isnan(share) ? 0.0 : share, 0.0, 1.0) * (kViridis.size() - 1);
    const auto below = std::min(static_cast<std::size_t>(at), kViridis.size() - 2);
    return mix(kViridis[below], kViridis[below + 1], at - static_cast<double>(below));
}

}  // namespace

std::string hex(Rgb colour) {
    return fmt::format("#{:02x}{:02x}{:02x}", colour.red, colour.green, colour.blue);
}

Rgb mix(Rgb one, Rgb other, double share) {
    const auto between = [&](std::uint8_t a, std::uint8_t b) {
        return static_cast<std::uint8_t>(std::lround(a + (b - a) * share));
    };
    Rgb out;
    out.red = between(one.red, other.red);
    out.green = between(one.green, other.green);
    out.blue = between(one.blue, other.blue);
    return out;
}

double contrast(Rgb one, Rgb other) {
    const double a = luminance(one), b = luminance(other);
    return (std::max(a, b) + 0.05) / (std::min(a, b) + 0.05);
}

Rgb legible_on(Rgb ground) {
    return contrast(kBlack, ground) >= contrast(kWhite, ground) ? kBlack : kWhite;
}

Rgb Colours::of(const Paint& paint) const {
    if (paint.text_on) {
        Paint ground = paint;
        ground.text_on = false;
        return legible_on(of(ground));
    }
    switch (paint.role) {
        case Role::none:
        case Role::window:
            return window;
        case Role::plot:
            return plot;
        case Role::grid:
            return grid;
        case Role::axis:
            return axis;
        case Role::text:
            return text;
        case Role::muted:
            return muted;
        case Role::pointed_out:
            return pointed_out;
        case Role::other:
            return kOrange;
        case Role::misfit:
            return misfit;
        case Role::beaten:
            return beaten;
        case Role::waiting:
            return waiting;
        case Role::family:
            return nth(kFamilyColours, paint.index);
        case Role::memory:
            // Dark grey is not visible on a dark ground.
            return dark && paint.index == static_cast<int>(MemoryKind::process)
                       ? Rgb(0xd8d8d8)
                       : nth(kMemoryColours, paint.index);
        case Role::series:
            return nth(kSeriesColours, paint.index);
        case Role::scale:
            return scale_colour(paint.share);
    }
    return text;
}

Colours colours_on(Rgb window, Rgb text) {
    const bool dark = luminance(window) < luminance(text);
    Colours out;
    out.dark = dark;
    out.window = window;
    out.plot = mix(window, text, dark ? 0.07 : 0.055);
    out.grid = mix(window, text, dark ? 0.2 : 0.14);
    out.axis = mix(window, text, 0.55);
    out.text = text;
    out.muted = mix(text, window, 0.27);
    out.pointed_out = dark ? kSkyBlue : kBlue;
    out.misfit = dark ? Rgb(0x4a4a4a) : Rgb(0xdddddd);
    out.beaten = dark ? Rgb(0x777777) : Rgb(0xbbbbbb);
    out.waiting = dark ? Rgb(0xff6b5e) : Rgb(0xc00000);
    out.good = dark ? Rgb(0x2fc49a) : Rgb(0x007656);
    return out;
}

const Colours& light_colours() {
    static const Colours kLight = colours_on(kWhite, Rgb(0x1a1a1a));
    return kLight;
}

const Colours& dark_colours() {
    static const Colours kDark = colours_on(Rgb(0x1e1e20), Rgb(0xf0f0f0));
    return kDark;
}

}  // namespace sluice
