// Where does each part of the training live, and what did a change of that gain? Stacks of device
// and host by home, a strip of layers, and the step before and after, as plain values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner-gui/pictures/byte_units.h"
#include "sim/plan/placement.h"
#include "sim/plan/step.h"
#include "sim/report/picture.h"
#include "sim/report/table.h"

namespace sluice {

/// The one option of homes (home_options()) that two predictions differ by, with its value in
/// `before`; nothing if they differ in anything else or in nothing.
std::optional<Setting> moved_home(const TimedPlan& before, const TimedPlan& now);

/// "2.24 s a step, was 2.27 s with resident layers 12"; `before` may be null.
std::string home_words(const TimedPlan& now, const TimedPlan* before);

/// A cell for each layer, whose id is the layer, and below them device and host by home with their
/// table. Fills the width. Without homes of layers: no cells.
Picture homes_picture(const TimedPlan& report, const Placement& homes, ByteUnits units,
                      const PictureSpace& space);
/// Empty for schedules in which all layers live alike.
Placement homes_of(const ModelSpec& model, const TrainingSpec& training);

/// Each memory by home, at its peak.
Table homes_table(const TimedPlan& report);

/// How many first layers are resident once `layer` is the last of them; without it, if it already
/// is.
std::int64_t resident_up_to(int layer, const TrainingSpec& training);

}  // namespace sluice
