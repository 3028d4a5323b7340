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

}  // namespace

HomeKind visiting_homes() {
    return {.place = place_visiting,
            .finish = share_places,
            .count = LayerCount{"visiting_layers", &TrainingSpec::visiting_layers},
            .most = layers_on_host};
}

}  // namespace sluice
