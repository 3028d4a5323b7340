// How fast are this host's optimizer and copies today?
#pragma once

#include <optional>

#include "engine/memory/parameter_store.h"
#include "engine/run/step_buffers.h"
#include "sim/plan/host_rates.h"

namespace sluice {

/// Fewer parameters are updated from caches: with gradients they are 0.9 GB at 12 bytes.
inline constexpr std::int64_t kLeastProbed = std::int64_t{64} << 20;

/// Measures for about a second, each rate alone, as a calibration does: AdamW on the layers that
/// are on the host, one after another, so that they come from memory, and copies of one layer's
/// weights. Empty if these layers have fewer than `least` parameters. `gradients`: page-locked
/// memory for those of a layer; null: some is allocated meanwhile. Preconditions: all parameters,
/// moments, gradients and device buffers are zero, and stay so; no lane is at work.
std::optional<HostRates> probe_host(const ParameterStore& store, const StepBuffers& buffers,
                                    char* gradients, ThreadPool& pool, Device& device,
                                    std::int64_t least = kLeastProbed);

}  // namespace sluice
