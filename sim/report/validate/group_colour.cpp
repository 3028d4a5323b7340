#include <algorithm>

#include "sim/report/colours.h"
#include "sim/report/validate/validation_svg.h"

namespace sluice {

const char* group_colour(const Validation& validation, const std::string& group) {
    const std::vector<std::string> groups = group_names(validation.runs);
    const auto at = std::find(groups.begin(), groups.end(), group) - groups.begin();
    return kSeriesColours[static_cast<std::size_t>(at) % kSeriesColours.size()];
}

}  // namespace sluice
