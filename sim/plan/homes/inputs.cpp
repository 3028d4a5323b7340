// Inputs of layers wait for backward on the device or on the host (activation offload), or every
// second one is computed again from the layer below.
#include "sim/plan/homes/home_kind.h"
#include "sim/plan/sizes.h"

namespace sluice {
namespace {

void place_inputs(const ModelSpec&, const TrainingSpec& t, Placement& p) {
    const bool on_host = host_checkpoints(t);
    std::int32_t host_places = 0;
    for (int layer = 0; layer < p.sections.layers; ++layer) {
        Home& home = p.home(layer, Plane::input);
        const bool saved = !t.saves_half() || layer % 2 == 0;
        // Where half of them are saved, the last one is still there when backward needs it.
        const bool leaves = on_host && saved && (!t.saves_half() || layer + 2 < p.sections.layers);
        if (saved) home.memory = leaves ? Tier::host : Tier::device;
        if (on_host)
            home.device_places = 2;
        else if (!saved)
            home.device_places = 1;
        home.turn = layer;
        if (p.input_leaves(layer)) home.host_place = host_places++;
    }
}

/// Inputs of several passes stay on the device. The layer that computes an input again has its
/// weights beside those of the next layer, and one input of all layers is computed at a time.
std::optional<Refusal> inputs_rule(const TrainingSpec& t) {
    if (t.passes > 1 && t.checkpoints == CheckpointPlacement::host)
        return refused(t, "checkpoints",
                       " with {} passes, whose layer inputs stay on the device; give device, or "
                       "--passes 1",
                       t.passes);
    if (t.saves_half() && t.micro_batches() > 1)
        return refused(t, "saved_inputs",
                       " with {} micro-batches, expected one; give all, or a larger --micro-batch",
                       t.micro_batches());
    if (t.saves_half() && t.buffer_depth < 2)
        return refused(
            t, "saved_inputs",
            " with one weight slot, expected two or more; give all, or --buffer-depth 2");
    return std::nullopt;
}

}  // namespace

HomeKind inputs_homes() {
    return {.place = place_inputs,
            .options = {choice_option<&TrainingSpec::checkpoints>(
                            home_option("adam"), "checkpoints",
                            {{"device", CheckpointPlacement::device},
                             {"host", CheckpointPlacement::host}},
                            "memory in which layer inputs wait for backward",
                            "memory in which layer inputs wait for backward (host: activation "
                            "offload)"),
                        choice_option<&TrainingSpec::saved_inputs>(
                            home_option("adam"), "saved_inputs",
                            {{"all", SavedInputs::all}, {"half", SavedInputs::half}},
                            "layer inputs that wait; others are computed again",
                            "layer inputs that wait for backward: all, or half, from which "
                            "backward computes the others again")},
            .rule = inputs_rule,
            .moves = {{"saved_inputs", "loss_chunk_tokens", [](const Asked&) {
                           return std::vector{static_cast<double>(SavedInputs::half)};
                       }}}};
}

}  // namespace sluice
