// Our schedule. Forward over layers: weights arrive ahead in `buffer_depth` slots, only layer
// inputs are kept. A chunked loss. Backward from the last layer: weights arrive again unless still
// in a slot, what it reads is recomputed, gradients leave and the optimizer applies them meanwhile.
//
// The token embedding does not come to the device: the host gathers the rows of the batch's tokens,
// which are layer 0's input, and scatters their gradients. Only the rows that the next batch uses
// are updated between two steps; the others are updated while the next forward runs.
//
//   host_to_device  rows | w0 w1 w2 ...            head |        w.. w1 w0
//   compute                   f0 f1 f2 ...               loss b.. b2 b1 b0 emb
//   device_to_host                                            gh  g.. g2 g1 g0 rows
//   optimizer                                                  uh  u.. u2 u1 u0 rows gather rest
//
// With several `passes`, each takes its part of the batch forward and backward, so that less is
// kept for backward at once. Gradients are summed in fp32 on the device; they leave, and parameters
// are updated, in the last one. Weights come again, except those that the pass before left in
// slots.
//
// Tensors that `host_kept_layers` keep for backward leave after their forward and return before
// their backward, through two buffers in turn.
//
// The first `resident_layers` stay on the device with their states: neither their weights nor their
// gradients travel, and compute updates each right after its backward. `resident_tables` says the
// same of the head, and of the embedding, whose rows the device then gathers and whose gradients it
// sums.
#include <algorithm>

#include "sim/plan/schedules/streamed_operations.h"

namespace sluice {

StreamedPlan Streamed::plan() {
    kernels_ = declare_streamed_kernels(model_, t_, WeightCodes::first, build_);
    if (t_.weight_code_layers > 0)
        kernels_with_codes_ = declare_streamed_kernels(model_, t_, WeightCodes::for_step, build_);
    if (t_.streams_codes())
        kernels_of_arrived_ = declare_streamed_kernels(model_, t_, WeightCodes::arrive, build_);
    head_kernels_ = declare_head_kernels(model_, t_, build_);
    if (t_.resident_embedding()) embedding_kernels_ = declare_embedding_kernels(model_, t_, build_);
    buffers_ = declare_streamed_memory(model_, machine_, t_, build_);
    step_begins();
    for (; pass_ < t_.passes; ++pass_) {
        kept_out_.clear(), kept_in_.clear(), kept_backwards_.clear(), coming_back_.clear();
        forward();
        loss();
        for (int layer = layers_ - 1; layer >= 0; --layer)
            if (keeps_on_host(model_, t_, layer))
                for (const Group& group : copied_groups()) coming_back_.push_back({layer, group});
        for (int layer = layers_ - 1; layer >= 0; --layer) {
            backward(layer);
            if (last_pass()) states_in(layer);
        }
    }
    t_.resident_embedding() ? embedding_on_device() : embedding_on_host();
    late_moments();
    updates_before_next_forward();
    declare_streamed_host_moments(model_, build_);
    if (t_.clipping == Clipping::speculative)
        build_.assume("a step whose clipping factor changes runs twice, which is not counted");
    return {build_.finish(), std::move(buffers_)};
}

void Streamed::weights_in(int layer, Waits waits) {
    LayerState& s = state(layer);
    s.weights_in = build_.add(
        OperationKind::copy_weights_in, layer, std::move(waits),
        copy_operation(arrives_as_codes(t_, layer) ? coded_layer_bytes(model_, model_.layer(layer))
                                                   : kBf16 * parameters(layer)));
    if (s.first_weights_in < 0) s.first_weights_in = s.weights_in;
}

void Streamed::head_weights_in() {
    if (t_.resident_head()) return;
    head_in_ = build_.add(OperationKind::copy_weights_in, layers_, {},
                          copy_operation(head_buffer_bytes(), {buffers_.head_weights}));
}

/// Slots fill before anything is computed.
void Streamed::step_begins() {
    // The device's embedding needs only tokens, which are known early and arrive in microseconds.
    if (t_.resident_embedding()) tokens_in();
    // The rows of the host's embedding are ready last in the step before. One layer's weights go
    // ahead of them, no more: compute could not start before the last of these. Measured on an H200
    // (8 layers of 7B): a second layer ahead of the rows kept compute waiting 10.6 ms longer.
    if (resident_ < layers_) weights_in(resident_, {});
    if (!t_.resident_embedding()) tokens_in();
    const int in_slots = std::min(resident_ + static_cast<int>(t_.buffer_depth), layers_);
    for (int layer = resident_ + 1; layer < in_slots; ++layer) weights_in(layer, {});
    if (in_slots == layers_) head_weights_in();
}

/// Layer l always streams into slot l % depth, free again when layer l - depth has finished.
void Streamed::forward() {
    const int depth = static_cast<int>(t_.buffer_depth);
    for (int layer = 0; layer < layers_; ++layer) {
        const auto [keeping, others] = kernels(layer).forward;
        const bool as_later = keeping == kernels(layer).forward_later.keeping &&
                              others == kernels(layer).forward_later.others;
        for (const Group& group : groups([&](std::int32_t j) {
                 return copies_each(layer) ? in_one_copy(j) : as_later || j > 1;
             }))
            forward_micro_batches(layer, group);
        if (resident(layer)) continue;
        const int next = layer + depth;
        if (next < layers_) weights_in(next, {{state(layer).last_forward}});
        if (next == layers_ - 1 && pass_ == 0) head_weights_in();
    }
}

/// The rows of the batch's tokens and its targets; or its tokens, whose rows the device gathers.
void Streamed::tokens_in() {
    const bool gathers = t_.resident_embedding();
    const double bytes = gathers ? token_index_bytes(model_, t_) : input_bytes(model_, t_);
    const double documents =
        t_.within_documents() ? static_cast<double>(document_begins_bytes(t_)) : 0;
    embeddings_in_ = build_.add(
        OperationKind::copy_embeddings_in, kEmbeddingLayer, {},
        copy_operation(bytes + 4 * tokens(t_) + documents, {gathers ? kNoBuffer : input(0)}));
    if (!gathers) return;
    gather_ =
        build_.add(OperationKind::gather_embeddings, Lane::compute, kEmbeddingLayer,
                   {{embeddings_in_}}, gpu_operation({embedding_kernels_.gather}, {input(0)}));
    if (!input_leaves(model_, t_, 0)) return;
    for (const Group& group : copied_groups()) checkpoint_out(0, group);
}

void Streamed::forward_micro_batches(int layer, const Group& group) {
    const std::int32_t j = group.first;
    Waits waits = {{state(layer).weights_in}};
    if (layer == 0) waits.push_back({embeddings_in_});
    // With two inputs in turn, this layer's output overwrites the input of the layer before.
    if (layer >= 1 && !state(layer - 1).checkpoint_out.empty())
        waits.push_back({state(layer - 1).checkpoint_out[static_cast<std::size_t>(copies_.of(j))]});
    const auto& lists = j == 0 ? kernels(layer).forward : kernels(layer).forward_later;
    Operation op =
        gpu_operation({lists.of(keeps_everything(model_, t_, layer))},
                      {input(layer), buffers_.forward_workspace,
                       layer + 1 < layers_ ? input(layer + 1) : buffers_.hidden_gradient});
    set_micro_batches(op, group);
    op.uses.push_back(kept(Direction::forward, layer, j));
    const bool leaves = keeps_on_host(model_, t_, layer);
    if (leaves && kept_out_.size() >= 2) waits.push_back({kept_out_[kept_out_.size() - 2]});
    // The head's weights may arrive while the last layers in slots run.
    if (layer >= layers_ - static_cast<int>(t_.buffer_depth)) op.uses.push_back(streamed_head());
    state(layer).last_forward =
        build_.add(OperationKind::forward, layer, std::move(waits), std::move(op));
    if (state(layer).first_forward < 0) state(layer).first_forward = state(layer).last_forward;
    if (layer + 1 < layers_ && input_leaves(model_, t_, layer + 1))
        checkpoint_out(layer + 1, group);
    if (leaves) kept_out(layer, group);
}

Operation Streamed::copy_of_checkpoint(const Group& group, BufferId place) const {
    Operation op =
        copy_operation(group.count * micro_batch_tokens(t_) * hidden_bytes(model_), {place});
    set_micro_batches(op, group);
    return op;
}

/// The input of `layer` leaves; layer 0's is the embedding rows, which the host has unless the
/// device gathered them.
void Streamed::checkpoint_out(int layer, const Group& group) {
    state(layer).checkpoint_out.push_back(
        build_.add(OperationKind::copy_checkpoint_out, layer,
                   {{layer == 0 ? gather_ : state(layer - 1).last_forward}},
                   copy_of_checkpoint(group, input(layer))));
}

void Streamed::loss() {
    OperationId last = 0;
    const bool inputs_leave = !state_.back().checkpoint_out.empty();
    for (const Group& group :
         groups([&](std::int32_t j) { return !last_pass() || j + 1 < end(); })) {
        Waits waits = {{head_in_}};
        Operation op =
            gpu_operation(head_kernels_.loss, {buffers_.hidden_gradient, buffers_.head_weights,
                                               buffers_.logits, buffers_.head_gradient});
        set_micro_batches(op, group);
        // The memory of the two inputs in turn is used again, so it waits for the last copies
        // out of them; copies leave in order.
        if (group.first == 0 && inputs_leave) {
            waits.push_back({state_.back().checkpoint_out.back()});
            op.uses.insert(op.uses.end(), {input(0), input(std::min(1, layers_ - 1))});
        }
        if (ends_step(group)) op.kernels.push_back(head_kernels_.finish_gradients);
        last = build_.add(OperationKind::loss, layers_, std::move(waits), std::move(op));
    }
    if (!last_pass()) return;
    if (!t_.resident_head())
        head_out_ = gradients_out(layers_, head_buffer_bytes(), last, {buffers_.head_weights});
    // The gradient of a tied head is not complete.
    if (!model_.tied_embeddings && !updates_wait_for_norm()) update_head(head_out_);
    update_ahead(layers_, static_cast<double>(head_parameters(model_)), head_out_);
}

void Streamed::backward(int layer) {
    LayerState& s = state(layer);
    if (layer + 1 == layers_ || !computes_input(layer + 1)) weights_back(layer);
    if (computes_input(layer)) weights_back(layer - 1);
    for (const Group& group : groups([&](std::int32_t j) {
             return copies_each(layer) ? in_one_copy(j) : !last_pass() || j + 1 < end();
         }))
        backward_micro_batches(layer, group);
    if (!last_pass()) return;
    if (resident(layer)) {
        if (!updates_wait_for_norm()) s.update = update_layer_on_device(layer, {});
        return;
    }
    if (visiting(layer)) return;
    s.gradients_out = gradients_out(layer, kBf16 * parameters(layer), s.last_backward);
    update_ahead(layer, parameters(layer), s.gradients_out);
    if (updates_wait_for_norm() || is_deferred(model_, t_, layer)) return;
    const auto slabs = static_cast<std::size_t>(host_gradient_slabs(t_));
    if (updates_from_slabs_.size() >= slabs)
        build_.wait(s.gradients_out, {*(updates_from_slabs_.end() - slabs)});
    s.update = update(layer, parameters(layer), s.gradients_out);
    updates_from_slabs_.push_back(s.update);
}

/// Weights come again, unless they are still in a slot.
void Streamed::weights_back(int layer) {
    const int depth = static_cast<int>(t_.buffer_depth);
    if (layer < layers_ - depth && !resident(layer))
        weights_in(layer, {{state(layer + depth).last_backward}});
}

void Streamed::backward_micro_batches(int layer, const Group& group) {
    const std::int32_t j = group.first;
    LayerState& s = state(layer);
    Waits waits = {{s.weights_in}};
    const int slabs = static_cast<int>(t_.gradient_slabs);
    if (last_pass() && j == begin() && layer + slabs < layers_)
        waits.push_back({state(layer + slabs).gradients_out});
    const bool keeps = keeps_everything(model_, t_, layer);
    Operation op = gpu_operation(
        {kernels(layer).recompute[recompute(layer)], kernels(layer).backward.of(keeps)},
        {buffers_.backward_workspace, buffers_.hidden_gradient, streamed_head()});
    set_micro_batches(op, group);
    if (computes_input(layer)) {
        op.kernels.insert(op.kernels.begin(),
                          kernels(layer - 1).forward_again[recompute(layer - 1)]);
        op.uses.insert(op.uses.end(),
                       {input(layer - 1), buffers_.kept[static_cast<std::size_t>(layer - 1)]});
        waits.push_back({state(layer - 1).weights_in});
    }
    if (ends_step(group)) {
        op.kernels.push_back(kernels(layer).finish_gradients);
        op.uses.push_back(held_gradients(layer));
    }
    waits.push_back({input_back(layer, group)});
    if (buffers_.coming_back == kNoBuffer) op.uses.push_back(input(layer));
    kept_back(layer);
    const bool comes_back = keeps_on_host(model_, t_, layer);
    if (comes_back) waits.push_back({kept_in_[kept_backwards_.size()]});
    op.uses.push_back(kept(Direction::backward, layer, j));
    s.last_backward = build_.add(OperationKind::backward, layer, std::move(waits), std::move(op));
    backwards_.push_back(s.last_backward);
    if (comes_back) kept_backwards_.push_back(s.last_backward);
}

/// There are two places for checkpoints that come back: each waits until backward has used the one
/// two before. Where half of the inputs are saved, they come back to where they were, after that of
/// two layers above, and before the layer above computes its own. -1 if none comes.
OperationId Streamed::input_back(int layer, const Group& group) {
    if (!host_checkpoints(t_)) return -1;
    if (!t_.saves_half())
        return checkpoint_in(layer, group,
                             backwards_.size() < 2 ? -1 : backwards_[backwards_.size() - 2]);
    if (!computes_input(layer)) return -1;
    return checkpoint_in(layer - 1, group, state(layer + 1).last_backward);
}

OperationId Streamed::checkpoint_in(int layer, const Group& group, OperationId place_is_free) {
    Waits waits = {{place_is_free}};
    const std::vector<OperationId>& out = state(layer).checkpoint_out;
    if (!out.empty()) waits.push_back({out[static_cast<std::size_t>(copies_.of(group.first))]});
    const BufferId place = buffers_.coming_back == kNoBuffer ? input(layer) : kNoBuffer;
    return build_.add(OperationKind::copy_checkpoint_in, layer, std::move(waits),
                      copy_of_checkpoint(group, place));
}

Operation Streamed::copy_of_kept(Direction direction, int layer, const Group& group) const {
    Operation op =
        copy_operation(group.count * kept_bytes(model_, t_, layer).all() * micro_batch_tokens(t_),
                       {kept(direction, layer, group.first)});
    set_micro_batches(op, group);
    return op;
}

void Streamed::kept_out(int layer, const Group& group) {
    kept_out_.push_back(build_.add(OperationKind::copy_kept_out, layer,
                                   {{state(layer).last_forward}},
                                   copy_of_kept(Direction::forward, layer, group)));
}

/// Copies in that come before a backward of `layer` in their lane: its own, and those whose place
/// is free when the weights of `layer` may come, behind these. The first two wait until the last
/// copies have left both places, which leave in order; others until backward has used what was
/// there.
void Streamed::kept_back(int layer) {
    while (kept_in_.size() < std::min(coming_back_.size(), kept_backwards_.size() + 2)) {
        const std::size_t turn = kept_in_.size();
        const auto [of, group] = coming_back_[turn];
        const bool first = turn < 2;
        if (of != layer && !first && coming_back_[turn - 2].layer < layer + t_.buffer_depth) return;
        kept_in_.push_back(build_.add(OperationKind::copy_kept_in, of,
                                      {{first ? kept_out_.back() : kept_backwards_[turn - 2]}},
                                      copy_of_kept(Direction::backward, of, group)));
    }
}

StreamedPlan plan_streamed(const ModelSpec& model, const MachineSpec& machine,
                           const TrainingSpec& training, ClippedStep step) {
    return Streamed(model, machine, training, step).plan();
}

}  // namespace sluice
