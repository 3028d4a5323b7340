// Weights in FP8. The device casts them for each pass, or for the first layers once a step and
// keeps the codes; or the optimizer on the host writes codes, which alone come to the device.
// Frozen layers have codes alone, wherever they are.
#include "sim/plan/homes/home_kind.h"

namespace sluice {
namespace {

void place_coded(const ModelSpec&, const TrainingSpec& t, Placement& p) {
    for (int layer = 0; layer < p.sections.layers; ++layer) {
        Home& weights = p.home(layer, Plane::weights);
        if (t.freezes_codes() || (t.streams_codes() && weights.on_host()))
            weights.form = Form::e4m3;
        if (layer < t.weight_code_layers) p.home(layer, Plane::codes) = {Tier::device, Form::e4m3};
    }
}

std::optional<Refusal> coded_rule(const TrainingSpec& t) {
    if (t.freezes_codes())
        return refused(t, t.streams_codes() ? "stream_weights" : "weight_code_layers",
                       " with --adapter-rank {} and --compute fp8, which keep codes of all frozen "
                       "layers anyway; leave it out",
                       t.adapter_rank);
    const bool in_layers = t.compute == Compute::fp8;
    if (!in_layers && t.weight_code_layers > 0)
        return refused(t, "weight_code_layers", ", expected 0 where --compute is not fp8");
    if (!in_layers)
        return refused(
            t, "stream_weights",
            ", expected bf16 where --compute is not fp8; leave it out, or give --compute "
            "fp8");
    if (!t.streams_codes() || t.weight_code_layers <= t.resident_layers) return std::nullopt;
    return refused(t, "weight_code_layers",
                   ", expected at most --resident-layers {}: with --stream-weights fp8 all other "
                   "layers arrive as codes",
                   t.resident_layers);
}

std::vector<double> all_layers(const Asked& a) {
    if (a.training.compute != Compute::fp8 || a.training.freezes_codes()) return {};
    return {static_cast<double>(a.model.layer_count())};
}

}  // namespace

HomeKind coded_homes() {
    return {.place = place_coded,
            .options = {layers_option<&TrainingSpec::weight_code_layers>(
                            "recompute", "weight_code_layers",
                            "first layers whose FP8 weights are cast once a step",
                            "first layers whose weights are cast to FP8 once a step (FP8 weights), "
                            "which takes 2 bytes a weight of device memory; others are cast for "
                            "each product"),
                        choice_option<&TrainingSpec::stream_weights>(
                            home_option("recompute"), "stream_weights",
                            {{"bf16", Compute::bf16}, {"fp8", Compute::fp8}},
                            "form of weights that come from the host (FP8 weights)",
                            "form in which weights of layers on the host are copied to the device "
                            "(FP8 weights); fp8: the optimizer writes their codes, too, which "
                            "takes a byte a weight of host memory")},
            .layers = &TrainingSpec::weight_code_layers,
            .rule = coded_rule,
            .moves = {{"weight_code_layers", "resident_tables"},
                      {"weight_code_layers", "micro_batch", all_layers, Effect::takes_memory}}};
}

}  // namespace sluice
