// How does the state of one precision become that of another?
#pragma once

#include "engine/optimizer/adamw.h"

namespace sluice {

/// Gives the moments and scales of `to` the values of those of `from`, rounded to the nearest code
/// (moment_codes.h); a second moment above zero stays so. Both have as many elements. The planes of
/// the masters are not touched.
void convert_moments(const ParameterBlock& from, const ParameterBlock& to);

/// Gives the lower plane of `to` that of `from`, rounded to the nearest with the same upper plane,
/// which both share.
void convert_low_planes(const ParameterBlock& from, const ParameterBlock& to);

}  // namespace sluice
