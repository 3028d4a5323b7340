// Layers on the host whose updates run beside the next forward. Such layers are evenly spread, so
// that the optimizer has work during the whole of backward and of forward.
#include "sim/plan/homes/home_kind.h"

namespace sluice {
namespace {

void place_deferred(const ModelSpec&, const TrainingSpec& t, Placement& p) {
    const auto first = static_cast<int>(t.resident_layers);
    for (int layer = first; layer < p.sections.layers; ++layer)
        p.update(layer).beside_forward =
            evenly_chosen(t.deferred_layers, p.sections.layers - first, layer - first);
}

}  // namespace

HomeKind deferred_homes() {
    return {.place = place_deferred,
            .count = LayerCount{"deferred_layers", &TrainingSpec::deferred_layers},
            .most = layers_on_host};
}

}  // namespace sluice
