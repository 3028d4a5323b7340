// Which words tell why a run goes on no longer, or goes on after something odd?
#pragma once

#include <string>

#include "engine/machine/nvml.h"
#include "engine/watch/step_record.h"

namespace sluice {

/// Of a step whose loss or gradient is not finite.
std::string divergence_words(const StepRecord& record);
std::string spike_words(const StepRecord& record, double deviations);
/// "; the driver reports Xid 79 (...)", of a GPU that has just failed, which may be null; "" if the
/// driver says nothing.
std::string driver_words(const Nvml* gpu);

}  // namespace sluice
