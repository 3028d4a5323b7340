// Low-rank adapters (LoRA) beside frozen weights. Adapters of all layers are one section, which is
// on the device with its states and gradient and is updated there. All other weights stay where
// they are, without states and gradients.
#include "sim/plan/homes/home_kind.h"

namespace sluice {
namespace {

void place_adapters(const ModelSpec&, const TrainingSpec&, Placement& p) {
    if (!p.sections.adapted) return;
    for (int section = 0; section < p.sections.adapters(); ++section) {
        p.home(section, Plane::states) = {};
        p.update(section).by = Updater::By::none;
    }
    const int adapters = p.sections.adapters();
    p.home(adapters, Plane::weights) = p.home(adapters, Plane::states) = {Tier::device};
    p.update(adapters).by = Updater::By::gpu;
}

/// Nothing is updated before the last gradient, so that nothing is gained by a guess of the norm.
std::optional<Refusal> adapters_rule(const TrainingSpec& t) {
    if (!t.schedule->ours || t.clipping != Clipping::speculative) return std::nullopt;
    return refused(t, "clipping",
                   " with --adapter-rank {}, whose updates follow the norm anyway; give auto or "
                   "exact",
                   t.adapter_rank);
}

}  // namespace

HomeKind adapters_homes() {
    return {.place = place_adapters,
            .options = {number_option<&TrainingSpec::adapter_rank>(
                            {OptionGroup::task, "state_bytes"}, "adapter_rank", "", 0, 65'536,
                            "rank of the adapters (LoRA); 0: all weights are trained",
                            "rank of the low-rank adapters (LoRA) of all linear layers, which "
                            "alone are trained; 0: all weights are trained")
                            .varied_over({0, 8, 16, 32, 64})},
            .rule = adapters_rule};
}

}  // namespace sluice
