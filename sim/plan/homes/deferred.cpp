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

/// The norm is known after the last gradient.
std::optional<Refusal> deferred_rule(const TrainingSpec& t) {
    if (auto why = trains_layers(t, "deferred_layers")) return why;
    if (t.clipping != Clipping::exact) return std::nullopt;
    return refused(t, "deferred_layers",
                   " with --clipping exact, which defers all updates; leave it out, or give "
                   "--clipping auto");
}

}  // namespace

HomeKind deferred_homes() {
    return {.place = place_deferred,
            .options = {layers_option<&TrainingSpec::deferred_layers>(
                            "adam", "deferred_layers",
                            "layers whose updates run beside the next forward",
                            "layers on the host, evenly spread, whose updates run beside the next "
                            "forward in its order; their gradients wait on the host")
                            .varied_over({0, 2, 4, 8, 16})},
            .layers = &TrainingSpec::deferred_layers,
            .most = layers_on_host,
            .rule = deferred_rule,
            .moves = {{"deferred_layers", "resident_tables"}},
            .shown = ShownHome{[](const Placement& homes, int layer) {
                                   return homes.update(layer).beside_forward;
                               },
                               ", updated beside the next forward"}};
}

}  // namespace sluice
