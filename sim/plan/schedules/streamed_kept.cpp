// Which tensors of a layer wait for its backward, and where?
#include <algorithm>

#include "sim/plan/schedules/schedules.h"
#include "sim/plan/schedules/streamed.h"

namespace sluice {

bool keeps_everything(const ModelSpec& model, const TrainingSpec& training, int layer) {
    return training.recompute == Recompute::none ||
           layer >= model.layer_count() - training.keep_last_layers ||
           keeps_on_host(model, training, layer);
}

std::int64_t host_kept_layers(const ModelSpec& model, const TrainingSpec& training) {
    return std::min(training.host_kept_layers, model.layer_count() - training.keep_last_layers);
}

TrainingSpec as_kept(const ModelSpec& model, const TrainingSpec& training) {
    TrainingSpec out = training;
    if (training.schedule->ours) out.host_kept_layers = host_kept_layers(model, training);
    return out;
}

bool keeps_on_host(const ModelSpec& model, const TrainingSpec& training, int layer) {
    const std::int64_t others = model.layer_count() - training.keep_last_layers;
    const std::int64_t kept = host_kept_layers(model, training);
    return layer < others && layer * kept % others < kept;
}

CopiesOfAPass::CopiesOfAPass(const TrainingSpec& training)
    : micro_batches_(training.micro_batches_of_a_pass()) {
    // The two places of what comes back take a sixteenth of what a pass has.
    constexpr std::int64_t kMost = 32;
    const std::int64_t between = micro_batches_ - 2;
    if (micro_batches_ > kMost) largest_ = (between + kMost - 3) / (kMost - 2);
}

std::int64_t CopiesOfAPass::of(std::int64_t j) const {
    const std::int64_t turn = j % micro_batches_, last = micro_batches_ - 1;
    if (turn == 0 || largest_ == 1) return turn;
    return 1 + (turn - 1) / largest_ + (turn == last && (turn - 1) % largest_ != 0 ? 1 : 0);
}

std::int64_t CopiesOfAPass::place_of(std::int64_t j) const {
    const std::int64_t turn = j % micro_batches_;
    return turn == 0 || turn + 1 == micro_batches_ ? 0 : (turn - 1) % largest_;
}

std::int64_t kept_turn(const ModelSpec& model, const TrainingSpec& training, Direction direction,
                       int layer, std::int64_t micro_batch) {
    const std::int64_t others = model.layer_count() - training.keep_last_layers;
    const std::int64_t kept = host_kept_layers(model, training);
    const std::int64_t lower = layer * kept / others;
    const std::int64_t before = direction == Direction::forward ? lower : kept - 1 - lower;
    const CopiesOfAPass copies(training);
    return before * copies.count() + copies.of(micro_batch);
}

Recompute recompute_of(const ModelSpec& model, const TrainingSpec& training, int layer) {
    if (keeps_everything(model, training, layer)) return Recompute::none;
    const int layers = model.layer_count();
    // The order in which layers lose the output: where half of the inputs are saved, attention of a
    // layer that has one would run twice more.
    int place = layer;
    if (training.saves_half()) place = layer / 2 + (saves_input(training, layer) ? layers / 2 : 0);
    const bool keeps = place >= layers - training.keep_attention_layers;
    return keeps ? Recompute::keep_attention : training.recompute;
}

bool saves_input(const TrainingSpec& training, int layer) {
    return !training.saves_half() || layer % 2 == 0;
}

bool computes_input(const ModelSpec& model, const TrainingSpec& training, int layer) {
    return !saves_input(training, layer) && layer + 1 < model.layer_count();
}

bool input_leaves(const ModelSpec& model, const TrainingSpec& training, int layer) {
    if (!host_checkpoints(training) || !saves_input(training, layer)) return false;
    if (layer == 0 && !training.resident_embedding()) return false;
    return !training.saves_half() || layer + 2 < model.layer_count();
}

KeptBytes kept_bytes(const ModelSpec& model, const TrainingSpec& training, int layer) {
    const ActivationBytes a = activation_bytes_per_token(model, model.layer(layer));
    if (keeps_everything(model, training, layer)) {
        if (training.kept_bits == 16)
            return {a.attention_kept, a.feed_forward_kept, a.feed_forward_kept};
        const double others = a.feed_forward_kept - a.gate_up;
        return {a.attention_kept, others + a.gate_up_8_bit, others};
    }
    return {recompute_of(model, training, layer) == Recompute::full ? 0 : a.attention_output};
}

}  // namespace sluice
