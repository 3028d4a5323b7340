// Layers on the host whose moments the optimizer updates after their parameters, beside the next
// backward, with exact clipping (split AdamW). Such layers are evenly spread; the head is one if
// any layer is.
#include <fmt/format.h>

#include "sim/plan/homes/home_kind.h"

namespace sluice {
namespace {

void place_late_moments(const ModelSpec&, const TrainingSpec& t, Placement& p) {
    const auto first = static_cast<int>(t.resident_layers + t.visiting_layers);
    for (int layer = first; layer < p.sections.layers; ++layer)
        p.update(layer).moments_later =
            evenly_chosen(t.late_moment_layers, p.sections.layers - first, layer - first);
    p.update(p.sections.head()).moments_later = t.late_moment_layers > 0;
}

HomeKind::Most most_late_moments(const ModelSpec& model, const TrainingSpec& t) {
    const std::int64_t layers = model.layer_count() - t.resident_layers - t.visiting_layers;
    return {layers, fmt::format("the {} layers that are neither resident nor visiting", layers)};
}

}  // namespace

HomeKind late_moments_homes() {
    return {.place = place_late_moments,
            .count = LayerCount{"late_moment_layers", &TrainingSpec::late_moment_layers},
            .most = most_late_moments};
}

}  // namespace sluice
