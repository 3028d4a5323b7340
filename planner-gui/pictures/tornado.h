// What does each upgrade gain, as bars around 0 with the largest above, and what is said of it?
#pragma once

#include <QString>

#include "planner-gui/pictures/bar_chart.h"
#include "sim/answers/search/sensitivity.h"

namespace sluice {

/// A bar an upgrade, in their order; grey where its band reaches 0 or less. Placed by place_bars().
BarChart tornado_chart(const Sensitivity& sensitivity);

/// What limits then: "GPU compute".
QString successor_text(const Upgrade& upgrade);

/// "+1.2%"; no "-0.0%".
QString gain_text(double gain);

/// What the machine is bound by, what gains most, and what limits then.
QString sensitivity_sentence(const Sensitivity& sensitivity);
/// The gain of one, with which settings, and what limits then.
QString upgrade_sentence(const Upgrade& upgrade);

}  // namespace sluice
