// Some layers, or all, keep attention's output on the device; their backward computes the rest.
#include "sim/plan/homes/home_kind.h"

namespace sluice {
namespace {

void place_kept_attention(const ModelSpec& model, const TrainingSpec& t, Placement& p) {
    const int layers = model.layer_count();
    for (int layer = 0; layer < layers; ++layer) {
        // The order in which layers lose the output: where half of the inputs are saved, attention
        // of a layer that has one would run twice more.
        const bool saved = p.home(layer, Plane::input).exists();
        const int rank = t.saves_half() ? layer / 2 + (saved ? layers / 2 : 0) : layer;
        Home& home = p.home(layer, Plane::kept_attention);
        if (!home.exists() &&
            (t.recompute == Recompute::keep_attention || rank >= layers - t.keep_attention_layers))
            home = {Tier::device};
    }
}

std::optional<Refusal> kept_attention_rule(const TrainingSpec& t) {
    if (t.recompute == Recompute::full) return std::nullopt;
    return refused(
        t, "keep_attention_layers",
        " with --recompute {}, by which all layers keep attention's output; leave it out",
        option_text(t, training_option("recompute")));
}

bool keeps_attention_alone(const Placement& homes, int layer) {
    return homes.recompute(layer) == Recompute::keep_attention;
}

}  // namespace

HomeKind kept_attention_homes() {
    return {
        .place = place_kept_attention,
        .options = {layers_option<&TrainingSpec::keep_attention_layers>(
            "kept_bits", "keep_attention_layers", "last layers that keep the output of attention",
            "last layers that keep the output of attention (selective recomputation), which "
            "takes most of the time of long sequences; with saved_inputs half, layers with a "
            "saved input first")},
        .layers = &TrainingSpec::keep_attention_layers,
        .rule = kept_attention_rule,
        .moves = {{"keep_attention_layers", "saved_inputs"}},
        .shown = ShownHome{keeps_attention_alone, "attention's output on the device", 0.45, true}};
}

}  // namespace sluice
