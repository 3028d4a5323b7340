// The first layers, and head and embedding if asked for, whose weights and states stay on the
// device, which updates them. There is no copy on the host. The first layers are resident: their
// updates come last in backward and are needed first in the next forward, so that no other layers
// keep the GPU waiting as long.
#include "sim/plan/homes/home_kind.h"

namespace sluice {
namespace {

void place_resident(const ModelSpec&, const TrainingSpec& t, Placement& p) {
    const auto stays = [&](int section) {
        p.home(section, Plane::weights) = p.home(section, Plane::states) = {Home::At::device};
        p.update(section).by = Updater::By::gpu;
    };
    for (int layer = 0; layer < t.resident_layers; ++layer) stays(layer);
    if (t.resident_head()) stays(p.sections.head());
    if (t.resident_embedding()) stays(p.sections.embedding());
}

}  // namespace

HomeKind resident_homes() {
    return {.place = place_resident,
            .count = LayerCount{"resident_layers", &TrainingSpec::resident_layers}};
}

}  // namespace sluice
