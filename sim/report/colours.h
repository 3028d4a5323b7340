// Which colour does each meaning have on light and on dark ground? Okabe and Ito's colours
// (https://jfly.uni-koeln.de/color/), which all kinds of colour vision tell apart, and greys.
#pragma once

#include <cstdint>
#include <string>

#include "sim/plan/step_plan.h"
#include "sim/report/picture.h"

namespace sluice {

struct Rgb {
    std::uint8_t red = 0, green = 0, blue = 0;
    constexpr Rgb() = default;
    /// 0x0072b2
    constexpr explicit Rgb(std::uint32_t number)
        : red(static_cast<std::uint8_t>(number >> 16U)),
          green(static_cast<std::uint8_t>(number >> 8U)),
          blue(static_cast<std::uint8_t>(number)) {}
    bool operator==(const Rgb&) const = default;
};

inline constexpr Rgb kBlue{0x0072b2}, kSkyBlue{0x56b4e9}, kGreen{0x009e73}, kYellow{0xf0e442},
    kOrange{0xe69f00}, kVermilion{0xd55e00}, kPurple{0xcc79a7}, kMiddleGrey{0x999999},
    kBrown{0x8c564b}, kDarkGrey{0x444444}, kBlack{0x000000}, kWhite{0xffffff};

/// "#0072b2"
std::string hex(Rgb colour);
/// A mix of both colours with the share `share` of `other`.
Rgb mix(Rgb one, Rgb other, double share);
/// Contrast of two opaque colours, 1 to 21: (L1 + 0.05) / (L2 + 0.05) of their relative luminances,
/// L1 the larger (WCAG 2.1, 1.4.3).
double contrast(Rgb one, Rgb other);
/// Black or white, whichever has more contrast with `ground`.
Rgb legible_on(Rgb ground);

/// The colours of all meanings on one ground.
struct Colours {
    bool dark = false;
    Rgb window, plot, grid, axis, text;
    Rgb muted;  ///< contrast 4.5 or more
    Rgb pointed_out, misfit, beaten, waiting, good;

    /// The colour of a paint, without its opacity.
    Rgb of(const Paint& paint) const;
};
/// The dark theme if the text is lighter than the window.
Colours colours_on(Rgb window, Rgb text);
/// The theme of files and prints: on white.
const Colours& light_colours();
const Colours& dark_colours();

inline Paint memory_paint(MemoryKind kind) {
    return {.role = Role::memory, .index = static_cast<int>(kind)};
}

}  // namespace sluice
