// Which program executes a schedule today, and does it train that model on that machine?
#pragma once

#include <string>
#include <string_view>

#include "sim/specs/machine/machine_spec.h"
#include "sim/specs/model/model_spec.h"
#include "sim/specs/scenario/training_spec.h"

namespace sluice {

struct RunsToday {
    std::string program;  ///< "sluice-train"
    std::string why_not;  ///< "sluice-train has no latent attention"; empty: it runs
    std::string source;   ///< of both, with the date on which it was read

    bool runs() const { return why_not.empty(); }
};

/// By the record of the training's schedule: the GPU, the model and the settings decide.
RunsToday runs_today(const TrainingSpec& training, const ModelSpec& model,
                     const MachineSpec& machine);
/// With default settings.
RunsToday runs_today(Schedule schedule, const ModelSpec& model, const MachineSpec& machine);

/// The feature that sluice-train lacks for such a layer ("latent attention"), or "".
std::string missing_in_trainer(const ModelSpec& model, const LayerSpec& layer);
/// The same for all layers. GPUs of all makers are alike.
std::string missing_in_trainer(const ModelSpec& model, std::string_view gpu_maker);
/// Settings that sluice-train refuses for that model or on that GPU, or "".
std::string setting_missing_in_trainer(const TrainingSpec& training, const ModelSpec& model,
                                       const MachineSpec& machine);
/// Whether sluice-train attends within documents on NVIDIA's GPUs of that compute capability
/// ("9.0") in the planned memory.
bool attends_within_documents(std::string_view compute_capability);
/// Whether it trains experts there: libtorch 2.11 has grouped products for Hopper and for
/// Blackwell's data centre GPUs alone.
bool multiplies_experts(std::string_view compute_capability);

}  // namespace sluice
