// Which pictures show a validation?
#pragma once

#include "sim/answers/validate/validation.h"
#include "sim/report/bars.h"

namespace sluice {

/// Predicted over measured tokens/s on logarithmic axes, with the diagonal and lines at +-5%; a
/// colour a group; names of the runs that are most wrong. The id of a point is its place among the
/// runs. Fills the space. Precondition: a run at least.
Picture scatter_picture(const Validation& validation, const PictureSpace& space = {730, 760});

/// Name, measured, predicted and their difference, a line each.
std::string run_tooltip(const RunComparison& run);

/// The error of tokens/s as a bar a run, and the predicted 5-95% band.
BarChart error_bars(const Validation& validation);

}  // namespace sluice
