// Inputs of layers wait for backward on the device or on the host (activation offload), or every
// second one is computed again from the layer below.
#include "sim/plan/homes/home_kind.h"
#include "sim/plan/sizes.h"

namespace sluice {
namespace {

void place_inputs(const ModelSpec&, const TrainingSpec& t, Placement& p) {
    const bool on_host = host_checkpoints(t);
    std::int32_t host_places = 0;
    for (int layer = 0; layer < p.sections.layers; ++layer) {
        Home& home = p.home(layer, Plane::input);
        const bool saved = !t.saves_half() || layer % 2 == 0;
        // Where half of them are saved, the last one is still there when backward needs it.
        const bool leaves = on_host && saved && (!t.saves_half() || layer + 2 < p.sections.layers);
        if (saved) home.at = leaves ? Home::At::host : Home::At::device;
        if (on_host)
            home.device_places = 2;
        else if (!saved)
            home.device_places = 1;
        home.turn = layer;
        if (p.input_leaves(layer)) home.host_place = host_places++;
    }
}

}  // namespace

HomeKind inputs_homes() { return {.place = place_inputs}; }

}  // namespace sluice
