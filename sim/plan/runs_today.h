// Which program executes a schedule today, and does it train that model on that machine?
#pragma once

#include <string>

#include "sim/specs/machine/machine_spec.h"
#include "sim/specs/model/model_spec.h"
#include "sim/specs/scenario/schedule.h"

namespace sluice {

struct RunsToday {
    std::string program;  ///< "sluice-train"
    std::string why_not;  ///< "sluice-train has no mixture of experts"; empty: it runs
    std::string source;   ///< of both, with the date on which it was read

    bool runs() const { return why_not.empty(); }
};

/// By the schedule's record: the GPU's maker and the model decide.
RunsToday runs_today(Schedule schedule, const ModelSpec& model, const MachineSpec& machine);

/// What sluice-train lacks for such a layer ("mixture of experts"), or "".
std::string missing_in_trainer(const ModelSpec& model, const LayerSpec& layer);
/// The same for all layers. GPUs of all makers are alike.
std::string missing_in_trainer(const ModelSpec& model, std::string_view gpu_maker);

}  // namespace sluice
