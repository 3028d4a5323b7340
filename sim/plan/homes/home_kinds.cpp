#include <algorithm>

#include "sim/plan/homes/home_kind.h"

namespace sluice {

const std::vector<HomeKind>& home_kinds() {
#define SLUICE_HOME_KIND(name) name##_homes(),
    static const std::vector<HomeKind> kKinds = {SLUICE_HOME_KINDS(SLUICE_HOME_KIND)};
#undef SLUICE_HOME_KIND
    return kKinds;
}

const std::vector<Option>& home_options() {
    static const std::vector<Option> kOptions = [] {
        std::vector<Option> out;
        for (const HomeKind& kind : home_kinds())
            out.insert(out.end(), kind.options.begin(), kind.options.end());
        return out;
    }();
    return kOptions;
}

std::optional<Refusal> home_refusal(const TrainingSpec& training) {
    static const TrainingSpec kStandard;
    const auto is_set = [&](const Option& one) { return one.get(training) != one.get(kStandard); };
    for (const HomeKind& kind : home_kinds())
        if (kind.rule != nullptr && std::ranges::any_of(kind.options, is_set))
            if (std::optional<Refusal> why = kind.rule(training)) return why;
    return std::nullopt;
}

HomeKind::Most layers_on_host(const ModelSpec& model, const TrainingSpec& training) {
    const std::int64_t layers = model.layer_count() - training.resident_layers;
    return {layers, fmt::format("the {} layers on the host ({} less --resident-layers {})", layers,
                                model.layer_count(), training.resident_layers)};
}

std::optional<Refusal> trains_layers(const TrainingSpec& training, const char* field) {
    if (training.adapter_rank == 0) return std::nullopt;
    return refused(
        training, field,
        " with --adapter-rank {}, expected 0: frozen layers have no updates; leave one of "
        "them out",
        training.adapter_rank);
}

std::optional<Refusal> clips_exactly(const TrainingSpec& training, const char* field) {
    if (auto why = trains_layers(training, field)) return why;
    if (training.updates_after_norm()) return std::nullopt;
    return refused(training, field,
                   " with --clipping {}, expected 0; leave it out, or give --clipping auto",
                   option_text(training, training_option("clipping")));
}

}  // namespace sluice
