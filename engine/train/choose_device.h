// Which device trains, and in which precision?
#pragma once

#include <memory>

#include "engine/device/device.h"
#include "engine/machine/host_facts.h"
#include "engine/train/train_settings.h"

namespace sluice {

/// `auto` is the first GPU, or else the CPU. Throws InputError.
std::unique_ptr<Device> choose_device(const TrainSettings& settings, const HostFacts& host);

/// Type of activations. Throws InputError where the device has no such arithmetic.
DType choose_precision(const TrainSettings& settings, const DeviceFacts& device);

}  // namespace sluice
