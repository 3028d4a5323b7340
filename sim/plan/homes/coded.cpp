// Weights in FP8. The device casts them for each pass, or for the first layers once a step and
// keeps the codes; or the optimizer on the host writes codes, which alone come to the device.
// Frozen layers have codes alone, wherever they are, in FP8 or in a form that is decoded.
#include <algorithm>

#include "sim/plan/homes/home_kind.h"

namespace sluice {
namespace {

void place_coded(const ModelSpec&, const TrainingSpec& t, Placement& p) {
    for (int layer = 0; layer < p.sections.layers; ++layer) {
        Home& weights = p.home(layer, Plane::weights);
        if (t.freezes_codes())
            weights.form = t.frozen_form();
        else if (t.streams_codes() && weights.on_host())
            weights.form = Form::e4m3;
        if (layer < t.weight_code_layers) p.home(layer, Plane::codes) = {Tier::device, Form::e4m3};
    }
}

std::optional<Refusal> coded_rule(const TrainingSpec& t) {
    if (t.frozen_weights != Form::bf16 && t.adapter_rank == 0)
        return refused(t, "frozen_weights",
                       ", expected computed where --adapter-rank is 0, which trains all weights");
    if (!t.streams_codes() && t.weight_code_layers == 0) return std::nullopt;
    const char* const field = t.streams_codes() ? "stream_weights" : "weight_code_layers";
    if (t.frozen_weights != Form::bf16)
        return refused(t, field,
                       " with --frozen-weights {}, of which no other codes are kept; "
                       "leave it out",
                       weight_form(t.frozen_weights).name);
    if (t.freezes_codes())
        return refused(t, field,
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

/// Those of products, and the forms that these do not read themselves.
const std::vector<Form>& frozen_forms() {
    static const std::vector<Form> kForms = [] {
        std::vector<Form> out = {Form::bf16};
        for (const WeightForm& form : weight_forms())
            if (form.decoded_from > 0) out.push_back(form.form);
        return out;
    }();
    return kForms;
}

Option frozen_option() {
    Option out = choice_option<&TrainingSpec::frozen_weights>(
        home_option("recompute"), "frozen_weights", {{"computed", Form::bf16}},
        "form of frozen weights beside adapters",
        "form of frozen layers beside adapters; computed: as products read them; nf4: "
        "4 bits a weight as in QLoRA, from which each product has bf16 made");
    out.get = [](const TrainingSpec& t) {
        return static_cast<double>(std::ranges::find(frozen_forms(), t.frozen_weights) -
                                   frozen_forms().begin());
    };
    out.set = [](TrainingSpec& t, double value) {
        t.frozen_weights = frozen_forms()[static_cast<std::size_t>(value)];
    };
    for (std::size_t i = 1; i < frozen_forms().size(); ++i)
        out.choices.push_back({weight_form(frozen_forms()[i]).name, static_cast<int>(i)});
    out.high = static_cast<double>(out.choices.size()) - 1;
    return out;
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
                            "takes a byte a weight of host memory"),
                        frozen_option()},
            .layers = &TrainingSpec::weight_code_layers,
            .rule = coded_rule,
            .moves = {{"weight_code_layers", "resident_tables"},
                      {"weight_code_layers", "micro_batch", all_layers, Effect::takes_memory}}};
}

}  // namespace sluice
