// How do numbers change over the steps of a run? Lines over one axis.
#pragma once

#include <string>
#include <vector>

#include "sim/report/chart_parts.h"

namespace sluice {

struct StepCurve {
    std::string name;  ///< in the legend
    std::vector<Point>
        points;           ///< x ascending; those with a y that is not finite interrupt the line
    bool dotted = false;  ///< few points, each with a dot
};

struct StepCurves {
    std::string title, subtitle;
    std::vector<StepCurve> curves;
    TickLabel label;             ///< of values
    std::vector<double> levels;  ///< dashed lines, as for what was predicted
    bool logarithmic = false;    ///< if all values are above 0 and differ much
};

/// At least one point gives axes; the legend names the curves if there are several.
Picture step_curves_picture(const StepCurves& chart, const PictureSpace& space = {});

}  // namespace sluice
