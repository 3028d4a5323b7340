// The first layers on the host whose states visit the device, which updates them with exact
// clipping (optimizer-state paging). The optimizer on the host needs the time of their forward for
// the others.
//
// Each has a place on the device that what some of the last layers keep for backward has in
// between: backward has read that when the states come, and forward writes it when they have left.
#include <algorithm>
#include <cmath>

#include "sim/plan/homes/home_kind.h"
#include "sim/plan/sizes.h"

namespace sluice {
namespace {

void place_visiting(const ModelSpec&, const TrainingSpec& t, Placement& p) {
    p.visits.first = static_cast<int>(t.resident_layers);
    p.visits.count = static_cast<int>(t.visiting_layers);
    for (int layer = p.visits.first; layer < p.visits.first + p.visits.count; ++layer)
        p.update(layer).by = Updater::By::gpu;
}

/// Bytes of the layer that keeps the most in a pass.
double most_kept(const ModelSpec& model, const TrainingSpec& t, const Placement& p) {
    double most = 0;
    for (int layer = 0; layer < p.sections.layers; ++layer)
        most = std::max(most, kept_bytes(model, p, layer).all());
    return most * tokens(t) / static_cast<double>(t.passes);
}

/// Precondition: kept tensors have been placed.
void share_places(const ModelSpec& model, const TrainingSpec& t, Placement& p) {
    Visits& v = p.visits;
    if (v.count == 0) return;
    const double kept = p.activation_scale() * most_kept(model, t, p);
    v.bytes_of_states = state_bytes(t) / kBf16 * largest_layer_bytes(model);
    if (kept > 0) v.layers = static_cast<std::int32_t>(std::ceil(v.bytes_of_states / kept));
    v.bytes_with_kept = std::max(v.bytes_of_states, v.layers * kept);
    for (int visit = 0; visit < v.count; ++visit) {
        const std::int64_t first =
            p.sections.layers - static_cast<std::int64_t>(v.layers) * (v.count - visit);
        bool all_kept = v.layers > 0 && first >= 0;
        for (auto layer = first; all_kept && layer < first + v.layers; ++layer)
            all_kept = p.home(static_cast<int>(layer), Plane::kept_feed_forward).on_device();
        v.first_kept.push_back(all_kept ? std::optional(static_cast<int>(first)) : std::nullopt);
    }
}

/// An update before the norm is known gains nothing by it; the optimizer on the host writes codes.
std::optional<Refusal> visiting_rule(const TrainingSpec& t) {
    if (auto why = clips_exactly(t, "visiting_layers")) return why;
    if (!t.streams_codes()) return std::nullopt;
    return refused(
        t, "visiting_layers",
        " with --stream-weights fp8, whose codes the optimizer on the host writes; leave "
        "one of them out");
}

}  // namespace

HomeKind visiting_homes() {
    return {
        .place = place_visiting,
        .finish = share_places,
        .options = {layers_option<&TrainingSpec::visiting_layers>(
                        "adam", "visiting_layers",
                        "layers that the GPU updates, if --clipping is auto or exact",
                        "first layers on the host that the GPU updates (clipping auto or exact): "
                        "their weights and states come during backward and leave beside the "
                        "next forward (optimizer-state paging)")
                        .varied_over({0, 2, 4, 8, 16})},
        .layers = &TrainingSpec::visiting_layers,
        .most = layers_on_host,
        .updated_by_gpu = "visiting",
        .rule = visiting_rule,
        .moves = {{"visiting_layers", "resident_tables"}},
        .shown =
            ShownHome{[](const Placement& homes, int layer) { return homes.is_visiting(layer); },
                      "on the host, visit the device, which updates them", 0.7}};
}

}  // namespace sluice
