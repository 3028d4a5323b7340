// Which folders do names of the Hugging Face Hub mean on the command line?
#pragma once

#include "engine/cli/train_flags.h"

namespace sluice {

/// --model and --load with the folders that were downloaded under these names, which it says.
/// Throws InputError for a --load that is no file, no folder and not downloaded.
TrainFlags with_downloads(TrainFlags flags);

}  // namespace sluice
