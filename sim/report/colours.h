// Which colour does a picture give to what? Shared by the SVG writers and the planner. Okabe and
// Ito's colours (https://jfly.uni-koeln.de/color/), which people with any colour vision tell apart,
// and greys.
#pragma once

#include <array>

#include "sim/plan/memory_plan.h"
#include "sim/report/svg_geometry.h"

namespace sluice {

inline constexpr const char* kBlue = "#0072b2";
inline constexpr const char* kSkyBlue = "#56b4e9";
inline constexpr const char* kGreen = "#009e73";
inline constexpr const char* kYellow = "#f0e442";
inline constexpr const char* kOrange = "#e69f00";
inline constexpr const char* kVermilion = "#d55e00";
inline constexpr const char* kPurple = "#cc79a7";
inline constexpr const char* kMiddleGrey = "#999999";
inline constexpr const char* kDarkGrey = "#444444";

// What is pointed out, the others, what does not fit, what another beats in all respects.
inline constexpr const char* kPointedOut = kBlue;
inline constexpr const char* kOtherBar = kOrange;
inline constexpr const char* kMisfitBar = "#dddddd";
inline constexpr const char* kBeaten = "#bbbbbb";

/// Compute waits.
inline constexpr const char* kWaiting = "#c00000";

/// What operations of a family look like: a block, and text in it.
struct FamilyColours {
    const char* name;
    const char* fill;
    const char* text;
};
/// In the order of Family.
inline constexpr std::array<FamilyColours, kFamilyCount> kFamilyColours = {
    {{"weights in", kSkyBlue, "#000"},
     {"checkpoints", kYellow, "#000"},
     {"forward", kBlue, "#fff"},
     {"recompute + backward", kGreen, "#000"},
     {"loss", kPurple, "#000"},
     {"gradients", kOrange, "#000"},
     {"optimizer update", kVermilion, "#000"},
     {"other", kMiddleGrey, "#000"}}};
inline constexpr const FamilyColours& family_colours(Family family) {
    return kFamilyColours[static_cast<std::size_t>(family)];
}

/// In the order of MemoryKind.
inline constexpr std::array<const char*, kMemoryKindCount> kMemoryColours = {
    kSkyBlue, kOrange, kYellow, kGreen, kPurple, kMiddleGrey, kVermilion, kBlue, kDarkGrey};

/// One after another, for series that have no colour of their own; each is legible as a dot on
/// white.
inline constexpr std::array<const char*, 7> kSeriesColours = {
    kBlue, kVermilion, kGreen, kPurple, kOrange, kSkyBlue, kMiddleGrey};

}  // namespace sluice
