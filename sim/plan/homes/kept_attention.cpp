// Some layers, or all, keep attention's output on the device; their backward computes the rest.
#include "sim/plan/homes/home_kind.h"

namespace sluice {
namespace {

void place_kept_attention(const ModelSpec& model, const TrainingSpec& t, Placement& p) {
    const int layers = model.layer_count();
    for (int layer = 0; layer < layers; ++layer) {
        // The order in which layers lose the output: where half of the inputs are saved, attention
        // of a layer that has one would run twice more.
        const bool saved = p.home(layer, Plane::input).at != Home::At::nowhere;
        const int rank = t.saves_half() ? layer / 2 + (saved ? layers / 2 : 0) : layer;
        Home& home = p.home(layer, Plane::kept_attention);
        if (home.at == Home::At::nowhere &&
            (t.recompute == Recompute::keep_attention || rank >= layers - t.keep_attention_layers))
            home = {Home::At::device};
    }
}

}  // namespace

HomeKind kept_attention_homes() {
    return {.place = place_kept_attention,
            .count = LayerCount{"keep_attention_layers", &TrainingSpec::keep_attention_layers}};
}

}  // namespace sluice
