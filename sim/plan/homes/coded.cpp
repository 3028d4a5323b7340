// Weights in FP8. The device casts them for each pass, or for the first layers once a step and
// keeps the codes; or the optimizer on the host writes codes, which alone come to the device.
#include "sim/plan/homes/home_kind.h"

namespace sluice {
namespace {

void place_coded(const ModelSpec&, const TrainingSpec& t, Placement& p) {
    for (int layer = 0; layer < p.sections.layers; ++layer) {
        Home& weights = p.home(layer, Plane::weights);
        if (t.streams_codes() && weights.on_host()) weights.form = Form::e4m3;
        if (layer < t.weight_code_layers)
            p.home(layer, Plane::codes) = {Home::At::device, Form::e4m3};
    }
}

}  // namespace

HomeKind coded_homes() {
    return {.place = place_coded,
            .count = LayerCount{"weight_code_layers", &TrainingSpec::weight_code_layers}};
}

}  // namespace sluice
