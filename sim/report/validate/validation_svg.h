// Which pictures show a validation? Parts of a page, or files of their own.
#pragma once

#include <string>

#include "sim/answers/validate/validation.h"

namespace sluice {

/// An <svg> element: predicted over measured tokens/s on logarithmic axes, with the diagonal and
/// lines at +-5%; a colour a group.
std::string scatter_svg(const Validation& validation);

/// An <svg> element: the error of tokens/s as a bar a run, and where the predicted 5-95% band is.
std::string error_bars_svg(const Validation& validation);

/// The scatter as a file.
std::string validation_svg(const Validation& validation);

/// The colour of a run's group.
const char* group_colour(const Validation& validation, const std::string& group);

}  // namespace sluice
