// Which operations follow the last backward of our schedule? The embedding's gradients, the norm,
// the updates that wait for it, and the dependencies of the next step.
//
// With exact clipping all updates wait for the norm, and forward for them. Those of layers with
// late moments change the parameters alone, in about three quarters of the time, and the moments
// during the next backward, each before new gradients come.
//
// With --clipping auto, a step may expect that nothing is clipped. The optimizer then updates
// layers during backward, as soon as their gradients have come, and has nothing to do after the
// norm. Their gradients are held, so that a norm that clips after all costs an update, not a step.
#include "sim/plan/adam_part.h"
#include "sim/plan/schedules/streamed_operations.h"

namespace sluice {

/// From a slab that is always there, or from the buffers `from`.
OperationId Streamed::gradients_out(int layer, double bytes, OperationId after,
                                    std::vector<BufferId> from) {
    return build_.add(OperationKind::copy_gradients_out, layer, {{after}},
                      copy_operation(bytes, std::move(from)));
}

Operation Streamed::work_of_update(int layer, double params, HostWork part) const {
    // Codes are written while their weights are in the cache; a line is read before it is written.
    constexpr double kCodeTraffic = 2;
    const bool coded = layer >= 0 && layer < layers_ && arrives_as_codes(t_, layer);
    const double traffic = adam_part(part, t_.state_bytes).bytes() + (coded ? kCodeTraffic : 0);
    return host_operation(part, params * traffic);
}

OperationId Streamed::update(int layer, double params, OperationId after) {
    const HostWork part =
        has_late_moments(model_, t_, layer) ? HostWork::adam_parameters : HostWork::adam;
    return build_.add(
        OperationKind::update, layer, {{after}},
        is_ahead(layer) ? host_operation(HostWork::none, 0) : work_of_update(layer, params, part));
}

void Streamed::update_ahead(int layer, double params, OperationId after) {
    if (is_ahead(layer))
        build_.add(OperationKind::update_ahead, layer, {{after}},
                   work_of_update(layer, params, HostWork::adam));
}

/// In the order in which the next backward brings new gradients.
void Streamed::late_moments() {
    const auto later = [&](int layer, double params, OperationId gradients) {
        const double bytes = params * adam_part(HostWork::adam_moments, t_.state_bytes).bytes();
        const OperationId done =
            build_.add(OperationKind::update_moments, layer, {},
                       is_ahead(layer) ? host_operation(HostWork::none, 0)
                                       : host_operation(HostWork::adam_moments, bytes));
        build_.wait(gradients, {done, true});
    };
    if (head_update_ >= 0 && has_late_moments(model_, t_, layers_))
        later(layers_, static_cast<double>(head_parameters(model_)), head_out_);
    for (int layer = layers_ - 1; layer >= resident_; --layer)
        if (has_late_moments(model_, t_, layer))
            later(layer, parameters(layer), state(layer).gradients_out);
}

OperationId Streamed::update_on_device(int layer, std::int32_t kernels, Waits waits,
                                       std::vector<BufferId> gradients) {
    device_update_ = build_.add(OperationKind::update, Lane::compute, layer, std::move(waits),
                                gpu_operation({kernels}, std::move(gradients)));
    return device_update_;
}

/// On the host after the copy `out`, or on the device.
void Streamed::update_head(OperationId out) {
    if (t_.resident_head()) {
        const Waits waits = {{updates_wait_for_norm() ? norm_known_ : -1}};
        update_on_device(layers_, head_kernels_.update, waits, {buffers_.head_weights});
    } else if (!model_.tied_embeddings) {
        head_update_ = update(layers_, static_cast<double>(head_parameters(model_)), out);
    }
}

OperationId Streamed::on_embedding(OperationKind kind, double bytes, Waits waits) {
    return build_.add(kind, kEmbeddingLayer, std::move(waits),
                      host_operation(HostWork::copy, bytes));
}

/// Gradients of the rows leave and are summed by row; rows of the next batch are updated first,
/// then all others. Exact clipping updates everything from here on, in the order in which the next
/// forward needs it.
void Streamed::embedding_on_host() {
    const double row_bytes = input_bytes(model_, t_);
    const OperationId out = gradients_out(kEmbeddingLayer, row_bytes, state(0).last_backward,
                                          {buffers_.hidden_gradient});
    // Per element: read 2 B, add into 4 B: 10 B of traffic, 5 B at the rate of a copy.
    norm_known_ = on_embedding(OperationKind::scatter_embeddings, 2.5 * row_bytes, {{out}});
    const auto all = static_cast<double>(embedding_parameters(model_));
    const double first = rows_updated_first(model_, t_) * static_cast<double>(model_.hidden);
    update(kEmbeddingLayer, first, out);
    gather_ = on_embedding(OperationKind::gather_embeddings, row_bytes, {});
    updates_wait_for_norm() ? updates_after_norm(out) : deferred_updates();
    if (first < all) rest_update_ = update(kEmbeddingLayer, all - first, out);
}

/// The same without copies: only the sums of loss and norm leave.
void Streamed::embedding_on_device() {
    constexpr double kSumsOut = 16;
    const BufferId head_gradient = model_.tied_embeddings ? buffers_.head_weights : kNoBuffer;
    const std::vector<BufferId> gradients = {buffers_.row_gradients, head_gradient};
    const OperationId summed = build_.add(
        OperationKind::embedding_backward, kEmbeddingLayer, {},
        also_using(gpu_operation({embedding_kernels_.backward}, {buffers_.hidden_gradient}),
                   gradients));
    const OperationId out = gradients_out(kEmbeddingLayer, kSumsOut, summed);
    norm_known_ = build_.add(OperationKind::clip_gradients, kEmbeddingLayer, {{out}},
                             host_operation(HostWork::none, 0));
    const Waits waits = {{updates_wait_for_norm() ? norm_known_ : -1}};
    update_on_device(kEmbeddingLayer, embedding_kernels_.update, waits, gradients);
    if (updates_wait_for_norm())
        updates_after_norm(out);
    else if (model_.tied_embeddings)
        update_head(out);
    if (!updates_wait_for_norm()) deferred_updates();
}

/// In the order in which the next forward needs them.
void Streamed::deferred_updates() {
    for (int layer = resident_; layer < layers_; ++layer)
        if (is_deferred(model_, t_, layer))
            state(layer).update = update(layer, parameters(layer), state(layer).gradients_out);
}

void Streamed::updates_after_norm(OperationId out) {
    // Visiting states leave as soon as they can.
    for (int layer = resident_; layer < resident_ + visiting_; ++layer)
        state(layer).update =
            update_layer_on_device(layer, {{norm_known_}, {state(layer).states_in}});
    states_out();
    for (int layer = 0; layer < layers_; ++layer)
        if (!visiting(layer))
            state(layer).update = resident(layer) ? update_layer_on_device(layer, {{norm_known_}})
                                                  : update(layer, parameters(layer), out);
    update_head(out);
}

void Streamed::updates_before_next_forward() {
    const auto before = [&](OperationId later, OperationId earlier) {
        build_.wait(later, {earlier, true});
    };
    for (int layer = resident_; layer < layers_; ++layer)
        before(state(layer).first_weights_in,
               visiting(layer) ? state(layer).weights_out : state(layer).update);
    // Only now is the norm known, and with it whether this step is valid.
    if (resident_ < layers_) before(state(resident_).first_weights_in, norm_known_);
    before(embeddings_in_, t_.resident_embedding() ? norm_known_ : gather_);
    // The rows may come to the memory of gradients that were held for clipping.
    if (updates_wait_for_norm() && device_update_ >= 0 && !t_.resident_embedding())
        before(embeddings_in_, device_update_);
    if (head_in_ < 0) return;
    const OperationId table_update = model_.tied_embeddings ? rest_update_ : head_update_;
    before(head_in_, table_update >= 0 ? table_update : gather_);
}

}  // namespace sluice
