// The last layers, or all, keep on the device everything that their backward reads.
#include "sim/plan/homes/home_kind.h"

namespace sluice {
namespace {

void place_kept(const ModelSpec& model, const TrainingSpec& t, Placement& p) {
    const bool all = t.recompute == Recompute::none;
    const std::int64_t first = all ? 0 : model.layer_count() - t.keep_last_layers;
    for (int layer = 0; layer < p.sections.layers; ++layer) {
        // A number of gate and up takes so many bits wherever it is kept.
        Home& kept = p.home(layer, Plane::kept_feed_forward);
        if (t.kept_bits == 8) kept.form = Form::codes_8_bit;
        if (layer >= first) kept.at = p.home(layer, Plane::kept_attention).at = Home::At::device;
    }
}

}  // namespace

HomeKind kept_homes() {
    return {.place = place_kept,
            .count = LayerCount{"keep_last_layers", &TrainingSpec::keep_last_layers}};
}

}  // namespace sluice
