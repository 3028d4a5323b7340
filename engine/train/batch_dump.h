// Which tokens did each step train on? For tests of the order of data.
#pragma once

#include <string>

#include "engine/data/batch_sampler.h"

namespace sluice {

/// Appends inputs and targets as raw int32. Throws InputError if `file` cannot be written.
void append_batch(const std::string& file, const Batch& batch);

}  // namespace sluice
