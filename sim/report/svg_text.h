// Which words does the picture of a step carry, and how much room do they take?
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/report/svg_geometry.h"

namespace sluice {

/// Text as XML content or attribute; control characters, which XML cannot hold, become spaces.
std::string escape_xml(std::string_view text);

/// Pixels that a sans-serif font of `size` pixels takes at most for ordinary text. Fonts differ: on
/// the safe side.
double text_width(std::string_view text, double size);

/// Lines no wider than `width` pixels, broken at spaces, or within a word that is wider alone.
std::vector<std::string> wrap_text(std::string_view text, double size, double width);

/// What a block is, when, how long, how many bytes at which rate. Precondition: the block is of
/// this report.
std::string operation_tooltip(const TimedPlan& report, const Block& block);

/// What ended last among what the operation waited for on other lanes; -1 where it waits for
/// nothing.
OperationId last_wait(const TimedPlan& report, OperationId id);

/// How long compute waits and for what.
std::string pause_tooltip(const TimedPlan& report, const Block& pause);

/// "weights in 12" where it fits into `width` pixels, else "12" (or, outside layers, "weights in"),
/// else nothing. Nothing for several operations.
std::string text_inside(const TimedPlan& report, const Block& block, double size, double width);

}  // namespace sluice
