#include <algorithm>
#include <array>

#include "sim/validate/validation_svg.h"

namespace sluice {

const char* group_colour(const Validation& validation, const std::string& group) {
    // Okabe and Ito's colours, as in the picture of a step; those that are legible as dots on
    // white.
    constexpr std::array<const char*, 6> kColours = {"#0072b2", "#d55e00", "#009e73",
                                                     "#cc79a7", "#e69f00", "#56b4e9"};
    const std::vector<std::string> groups = group_names(validation.runs);
    const auto at = std::find(groups.begin(), groups.end(), group) - groups.begin();
    return kColours[static_cast<std::size_t>(at) % kColours.size()];
}

}  // namespace sluice
