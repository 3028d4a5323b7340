// How does a run go on from adapters that --load names?
#pragma once

#include "engine/cli/train_flags.h"

namespace sluice {

/// Training goes on from the adapters of a --load that holds some: --load becomes their base, and
/// their rank and linear layers, and, where nothing else is given, their scale and dropout, are
/// those of the run. Throws InputError if other ones are given, or the base is not here.
TrainFlags with_loaded_adapters(TrainFlags flags);

}  // namespace sluice
