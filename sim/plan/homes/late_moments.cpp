// Layers on the host whose moments the optimizer updates after their parameters, beside the next
// backward, with exact clipping (split AdamW). Such layers are evenly spread; the head is one if
// any layer is.
#include <fmt/ranges.h>

#include "sim/plan/homes/home_kind.h"
#include "sim/specs/scenario/state_precision.h"

namespace sluice {
namespace {

void place_late_moments(const ModelSpec&, const TrainingSpec& t, Placement& p) {
    int first = 0;
    while (first < p.sections.layers && p.update(first).by == Updater::By::gpu) ++first;
    for (int layer = first; layer < p.sections.layers; ++layer)
        p.update(layer).moments_later =
            evenly_chosen(t.late_moment_layers, p.sections.layers - first, layer - first);
    p.update(p.sections.head()).moments_later = t.late_moment_layers > 0;
}

HomeKind::Most most_late_moments(const ModelSpec& model, const TrainingSpec& t) {
    std::int64_t layers = model.layer_count();
    std::vector<std::string_view> others;
    for (const HomeKind& kind : home_kinds()) {
        if (kind.updated_by_gpu == nullptr) continue;
        layers -= t.*kind.layers;
        others.emplace_back(kind.updated_by_gpu);
    }
    return {layers, fmt::format("the {} layers that are {} {}", layers,
                                others.size() > 1 ? "neither" : "not", fmt::join(others, " nor "))};
}

/// Before the norm is known, weights and moments are updated at once; scales of moments need both.
std::optional<Refusal> late_moments_rule(const TrainingSpec& t) {
    if (auto why = clips_exactly(t, "late_moment_layers")) return why;
    if (!state_precision(t.state_bytes).has_scales()) return std::nullopt;
    return refused(t, "late_moment_layers",
                   " with --state-bytes {}, whose moments have scales; leave it out, or give "
                   "--state-bytes 12 or 8",
                   t.state_bytes);
}

}  // namespace

HomeKind late_moments_homes() {
    return {.place = place_late_moments,
            .options = {layers_option<&TrainingSpec::late_moment_layers>(
                            "adam", "late_moment_layers",
                            "layers whose moments wait, if --clipping is auto or exact",
                            "other layers on the host, evenly spread, whose weights are updated "
                            "beside the next forward, but the moments only beside the next "
                            "backward (clipping auto or exact, 12 or 8 state bytes)")
                            .varied_over({0, 4, 8, 16, 32})},
            .layers = &TrainingSpec::late_moment_layers,
            .most = most_late_moments,
            .takes_all = true,
            .rule = late_moments_rule,
            .shown = ShownHome{
                [](const Placement& homes, int layer) { return homes.update(layer).moments_later; },
                ", their moments beside the next backward"}};
}

}  // namespace sluice
