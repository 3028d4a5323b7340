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
    if (t.adapter_rank == 0)
        return t.adapter_targets != kAllTargets
                   ? refused(t, "adapter_targets",
                             ", expected all where --adapter-rank is 0, which trains all weights")
                   : refused(t, "adapter_dropout_percent",
                             ", expected 0 where --adapter-rank is 0, which trains all weights");
    if (!t.schedule->ours || t.clipping != Clipping::speculative) return std::nullopt;
    return refused(t, "clipping",
                   " with --adapter-rank {}, whose updates follow the norm anyway; give auto or "
                   "exact",
                   t.adapter_rank);
}

Option targets_option() {
    std::vector<Choice> members;
    for (const AdapterTarget& target : kAdapterTargets)
        members.push_back({target.name, static_cast<int>(target.bit)});
    return members_option<&TrainingSpec::adapter_targets>(
               {OptionGroup::task, "state_bytes"}, "adapter_targets", std::move(members),
               "linear layers that have adapters: q,k,v,o,gate,up,down",
               "linear layers of a layer that have adapters")
        .varied_over({kQuery | kValue, kQkv | kOutput, kAllTargets});
}

}  // namespace

HomeKind adapters_homes() {
    return {.place = place_adapters,
            .options = {number_option<&TrainingSpec::adapter_rank>(
                            {OptionGroup::task, "state_bytes"}, "adapter_rank", "", 0, 65'536,
                            "rank of the adapters (LoRA); 0: all weights are trained",
                            "rank of the low-rank adapters (LoRA) of linear layers, which "
                            "alone are trained; 0: all weights are trained")
                            .varied_over({0, 8, 16, 32, 64}),
                        targets_option(),
                        number_option<&TrainingSpec::adapter_dropout_percent>(
                            {OptionGroup::task, "state_bytes"}, "adapter_dropout_percent",
                            "percent", 0, 99, "numbers of adapters' inputs that a step leaves out",
                            "numbers of adapters' inputs that a step leaves out (LoRA dropout), "
                            "drawn by seed, step and place")
                            .varied_over({0, 5, 10})},
            .rule = adapters_rule};
}

}  // namespace sluice
