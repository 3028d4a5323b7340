// How does a picture become a file or a part of a page?
#pragma once

#include <string>

#include "sim/report/colours.h"
#include "sim/report/picture.h"

namespace sluice {

/// An <svg> element, which is a file, too. It needs no other file, and neither patterns nor styles.
std::string to_svg(const Picture& picture, const Colours& colours = light_colours());

}  // namespace sluice
