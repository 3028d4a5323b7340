#include <fmt/format.h>

#include "sim/plan/homes/home_kind.h"

namespace sluice {

const std::vector<HomeKind>& home_kinds() {
#define SLUICE_HOME_KIND(name) name##_homes(),
    static const std::vector<HomeKind> kKinds = {SLUICE_HOME_KINDS(SLUICE_HOME_KIND)};
#undef SLUICE_HOME_KIND
    return kKinds;
}

HomeKind::Most layers_on_host(const ModelSpec& model, const TrainingSpec& training) {
    const std::int64_t layers = model.layer_count() - training.resident_layers;
    return {layers, fmt::format("the {} layers on the host ({} less --resident-layers {})", layers,
                                model.layer_count(), training.resident_layers)};
}

}  // namespace sluice
