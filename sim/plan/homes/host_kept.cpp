// Layers that keep on the host everything that their backward reads (activation offload). They are
// evenly spread over those that do not keep it on the device, so that copies have the time of the
// layers between them.
#include <algorithm>

#include "sim/plan/homes/home_kind.h"

namespace sluice {
namespace {

void place_host_kept(const ModelSpec& model, const TrainingSpec& t, Placement& p) {
    const std::int64_t others = model.layer_count() - t.keep_last_layers;
    const std::int64_t kept = host_kept_layers(model, t);
    for (int layer = 0; layer < others; ++layer) {
        if (layer * kept % others >= kept) continue;
        const std::int32_t turn = p.kept_on_host++;
        for (const Plane plane : {Plane::kept_attention, Plane::kept_feed_forward}) {
            Home& home = p.home(layer, plane);
            home.at = Home::At::host, home.device_places = 2;
            home.turn = home.host_place = turn;
        }
    }
}

}  // namespace

std::int64_t host_kept_layers(const ModelSpec& model, const TrainingSpec& training) {
    return std::min(training.host_kept_layers, model.layer_count() - training.keep_last_layers);
}

TrainingSpec as_kept(const ModelSpec& model, const TrainingSpec& training) {
    TrainingSpec out = training;
    if (training.schedule->ours) out.host_kept_layers = host_kept_layers(model, training);
    return out;
}

HomeKind host_kept_homes() {
    return {.place = place_host_kept,
            .count = LayerCount{"host_kept_layers", &TrainingSpec::host_kept_layers}};
}

}  // namespace sluice
