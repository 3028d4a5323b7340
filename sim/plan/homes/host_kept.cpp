// Layers that keep on the host everything that their backward reads (activation offload). They are
// evenly spread over those that do not keep it on the device, so that copies have the time of the
// layers between them.
#include <algorithm>

#include "sim/plan/homes/home_kind.h"

namespace sluice {
namespace {

void place_host_kept(const ModelSpec& model, const TrainingSpec& t, Placement& p) {
    const std::int64_t others = model.layer_count() - t.keep_last_layers;
    const std::int64_t kept = std::min(t.host_kept_layers, others);
    for (int layer = 0; layer < others; ++layer) {
        if (layer * kept % others >= kept) continue;
        const std::int32_t turn = p.kept_on_host++;
        for (const Plane plane : {Plane::kept_attention, Plane::kept_feed_forward}) {
            Home& home = p.home(layer, plane);
            home.memory = Tier::host, home.device_places = 2;
            home.turn = home.host_place = turn;
        }
    }
}

/// Nothing is left to keep where all layers recompute nothing; an input that is computed again
/// reads what the layer below keeps, which must be there.
std::optional<Refusal> host_kept_rule(const TrainingSpec& t) {
    const bool none = t.recompute == Recompute::none;
    if (!none && !t.saves_half()) return std::nullopt;
    return refused(t, "host_kept_layers", " with {}, expected 0; leave it out, or give {}",
                   none ? "--recompute none" : "--saved-inputs half",
                   none ? "--recompute full" : "--saved-inputs all");
}

}  // namespace

TrainingSpec as_kept(const ModelSpec& model, const TrainingSpec& training) {
    TrainingSpec out = training;
    if (training.schedule->ours)
        out.host_kept_layers =
            std::min(training.host_kept_layers, model.layer_count() - training.keep_last_layers);
    return out;
}

HomeKind host_kept_homes() {
    return {.place = place_host_kept,
            .options = {layers_option<&TrainingSpec::host_kept_layers>(
                "kept_bits", "host_kept_layers",
                "further layers whose activations wait on the host (offload)",
                "further layers, evenly spread, that recompute nothing, at most as many as "
                "keep_last_layers leaves; what they keep for backward waits on the host "
                "(activation offload)")},
            .layers = &TrainingSpec::host_kept_layers,
            .rule = host_kept_rule,
            .moves = {{"host_kept_layers", "resident_layers"}}};
}

}  // namespace sluice
