// Where is each layer of the streamed schedule between its uses, and what of it waits for backward?
#pragma once

#include <vector>

#include "sim/specs/model/model_spec.h"
#include "sim/specs/scenario/training_spec.h"

namespace sluice {

struct LayerHome {
    /// Tensors that wait for backward, which computes all others again: none but the input, the
    /// output of attention too, or all, on the device or on the host.
    enum class Keeps : std::uint8_t { nothing, attention, all, all_on_host };
    bool resident = false;  ///< weights and states are on the device, not on the host
    bool deferred = false;  ///< the update runs beside the next forward
    Keeps keeps = Keeps::nothing;
    bool operator==(const LayerHome&) const = default;
};

/// One a layer; none for schedules in which all layers live alike.
std::vector<LayerHome> layer_homes(const ModelSpec& model, const TrainingSpec& training);

}  // namespace sluice
