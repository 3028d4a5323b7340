#include "engine/run/streamed_step.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/optimizer/learning_rate.h"
#include "sim/base/input_error.h"

namespace sluice {
namespace {

std::vector<TransformerLayer> layer_kinds(const ModelSpec& model, TokenBlock block,
                                          DType activations) {
    std::vector<TransformerLayer> kinds;
    for (const LayerSpec& kind : model.kinds) kinds.emplace_back(model, kind, block, activations);
    return kinds;
}

int count_embedding_updates(const StepProgram& program) {
    return static_cast<int>(std::count_if(
        program.operations.begin(), program.operations.end(), [](const Operation& op) {
            return op.kind == OperationKind::update && op.layer == kEmbeddingLayer;
        }));
}

}  // namespace

StreamedStep::StreamedStep(const ModelSpec& model, const TrainingSpec& training,
                           const StreamedPlan& plan, HostModel& host, Device& device,
                           ThreadPool& pool, DType activations)
    : model_(model),
      training_(training),
      program_(plan.step.program),
      host_(host),
      device_(device),
      pool_(pool),
      type_(activations),
      kinds_(layer_kinds(model, training.micro_batch_block(), activations)),
      head_(model, training.loss_chunk_tokens),
      device_buffers_(model, training, plan, device, activations),
      host_buffers_(model, training, host, pool, device, activations),
      resident_(model, host, device, device_buffers_),
      rows_(pool, host.block(host.embedding()), model.vocabulary, model.hidden, training.tokens(),
            host_buffers_.row_sums()),
      scatter_(find_operation(program_, OperationKind::scatter_embeddings, kEmbeddingLayer)),
      first_rows_(find_operation(program_, OperationKind::update, kEmbeddingLayer)),
      other_rows_later_(count_embedding_updates(program_) > 1),
      runner_(program_, device, [this](OperationId id, std::int64_t step) { work(id, step); }) {
    resident_.copy(Lane::host_to_device);
}

StepOutcome StreamedStep::run(StepTokens now, StepTokens next, const AdamWStep& adam,
                              double max_norm) {
    max_norm_ = max_norm;
    State fresh;
    fresh.now = now;
    fresh.next = next;
    fresh.adam = adam;
    const bool speculates = training_.clipping == Clipping::speculative;
    fresh.adam.gradient_scale = speculates ? static_cast<float>(last_factor_) : 1;
    if (!gathered_) rows_.gather(now.inputs, host_buffers_.rows_in());
    gathered_ = true;
    const State& done = run(fresh);
    if (!done.outcome.finite) return done.outcome;
    const double factor = done.outcome.clip_factor;
    const bool guessed_wrong = speculates && factor != last_factor_;
    last_factor_ = factor;
    return guessed_wrong ? redo(done) : done.outcome;
}

StreamedStep::State& StreamedStep::run(const State& fresh) {
    const std::int64_t step = runner_.next_step();
    state(step) = fresh;
    rows_.begin_step(step, fresh.now.inputs, fresh.next.inputs);
    std::memcpy(host_buffers_.targets(), fresh.now.targets.data(), fresh.now.targets.size_bytes());
    runner_.submit();
    runner_.wait_for(scatter_);
    return state(step);
}

/// All parameters back to what they were, then the same step once more with known clipping.
StepOutcome StreamedStep::redo(const State& clipped) {
    runner_.finish();
    for (int section = 0; section < host_.sections(); ++section) {
        if (resident_.has(section))
            resident_.rewind(section, clipped.adam);
        else
            adamw(pool_, UpdatePass::rewind, clipped.adam, host_.block(section),
                  host_.decay_ranges(section), {});
    }
    rows_.gather(clipped.now.inputs, host_buffers_.rows_in());
    State again = clipped;
    again.pass = UpdatePass::redo;
    again.adam.speculated_scale = clipped.adam.gradient_scale;
    again.adam.gradient_scale = static_cast<float>(clipped.outcome.clip_factor);
    StepOutcome outcome = run(again).outcome;
    outcome.redone = true;
    return outcome;
}

void StreamedStep::work(OperationId id, std::int64_t step) {
    const Operation& op = program_.operations[static_cast<std::size_t>(id)];
    switch (op.kind) {
        case OperationKind::copy_embeddings_in: {
            const Matrix to = device_buffers_.whole_hidden(0);
            device_.copy(op.lane, to.data, host_buffers_.rows_in().data,
                         to.elements() * bytes_of(type_));
            return device_.copy(op.lane, device_buffers_.targets(), host_buffers_.targets(),
                                to.rows * static_cast<Bytes>(sizeof(std::int32_t)));
        }
        case OperationKind::copy_weights_in:
            return copy_weights_in(op);
        case OperationKind::copy_checkpoint_in:
        case OperationKind::copy_checkpoint_out:
            return copy_checkpoint(op);
        case OperationKind::forward:
            return forward(op);
        case OperationKind::loss:
            return loss(op);
        case OperationKind::backward:
            return backward(op);
        case OperationKind::copy_gradients_out:
            return copy_gradients_out(op);
        case OperationKind::update:
            return update(op, id, step);
        case OperationKind::scatter_embeddings:
            return scatter(step);
        case OperationKind::gather_embeddings:
            return rows_.gather(state(step).next.inputs, host_buffers_.rows_in());
        default:
            throw InternalError(std::string("the engine has no ") + operation_name(op.kind));
    }
}

void StreamedStep::copy_weights_in(const Operation& op) {
    if (op.layer < host_.layers()) {
        const ParameterBlock& block = host_.block(op.layer);
        device_.copy(op.lane, device_buffers_.weight_slot(op.layer), block.high,
                     kBf16 * block.count);
        return;
    }
    auto* const head = static_cast<std::uint16_t*>(device_buffers_.head_weights());
    const ParameterBlock& own = host_.block(host_.head());
    const TensorPlace norm = head_layout(model_).norm;
    const std::uint16_t* const projection =
        model_.tied_embeddings ? host_.block(host_.embedding()).high : own.high;
    device_.copy(op.lane, head, projection, kBf16 * head_.projection().elements());
    device_.copy(op.lane, head + head_.norm().offset, own.high + norm.offset,
                 kBf16 * norm.elements());
}

std::int64_t StreamedStep::backward_index(const Operation& op) const {
    return (host_.layers() - 1 - op.layer) * training_.micro_batches() + op.micro_batch;
}

void StreamedStep::copy_checkpoint(const Operation& op) {
    const std::int64_t tokens = training_.micro_batch_block().tokens();
    const Matrix on_host =
        host_buffers_.checkpoint(op.layer).row_range(op.micro_batch * tokens, tokens);
    const Bytes bytes = on_host.elements() * bytes_of(type_);
    if (op.kind == OperationKind::copy_checkpoint_out) {
        device_.copy(op.lane, on_host.data, device_buffers_.hidden(op.layer, op.micro_batch).data,
                     bytes);
    } else {
        device_.copy(op.lane, device_buffers_.coming_back(backward_index(op)).data, on_host.data,
                     bytes);
    }
}

const TransformerLayer& StreamedStep::layer(int index) const {
    return kinds_[static_cast<std::size_t>(model_.layers[static_cast<std::size_t>(index)])];
}

LayerActivations StreamedStep::kept(int index, std::int64_t micro_batch) const {
    Workspace memory = device_buffers_.kept(index, micro_batch);
    const bool all = keeps_everything(model_, training_, index);
    return layer(index).keep(all ? Recompute::none : training_.recompute, memory);
}

void StreamedStep::forward(const Operation& op) {
    if (op.layer == 0 && op.micro_batch == 0)
        device_.kernels().fill_zero(device_buffers_.sums(), sizeof(StepSums));
    layer(op.layer).forward(device_.kernels(), device_buffers_.weight_slot(op.layer),
                            device_buffers_.hidden(op.layer, op.micro_batch),
                            device_buffers_.hidden(op.layer + 1, op.micro_batch),
                            kept(op.layer, op.micro_batch), device_buffers_.forward_workspace());
}

void StreamedStep::loss(const Operation& op) {
    const Matrix hidden = device_buffers_.hidden(host_.layers(), op.micro_batch);
    const GradientTarget target{device_buffers_.head_gradient_sums(), DType::fp32,
                                op.micro_batch > 0};
    head_.run(device_.kernels(), device_buffers_.head_weights(), hidden,
              device_buffers_.targets() + op.micro_batch * hidden.rows,
              1.0F / static_cast<float>(training_.tokens()), &device_buffers_.sums()->loss, target,
              device_buffers_.logits());
    if (op.micro_batch + 1 < training_.micro_batches()) return;
    for (const TensorPlace& place : {head_.projection(), head_.norm()})
        finish_gradients(vector_at(device_buffers_.head_weights(), DType::bf16, place).data,
                         vector_at(device_buffers_.head_gradient_sums(), DType::fp32, place).data,
                         place.elements());
}

/// Sums in fp32, if there are any, are rounded; the norm reads the result.
void StreamedStep::finish_gradients(void* out, void* sums, std::int64_t elements) {
    Kernels& kernels = device_.kernels();
    const Vector gradients{out, DType::bf16, elements};
    if (sums != nullptr) kernels.round_to_bf16(gradients, {sums, DType::fp32, elements});
    kernels.sum_squares(gradients, &device_buffers_.sums()->norm_square);
}

GradientTarget StreamedStep::gradient_target(int index, std::int64_t micro_batch) const {
    if (device_buffers_.gradient_sums() == nullptr)
        return {device_buffers_.gradient_slab(index), DType::bf16, false};
    return {device_buffers_.gradient_sums(), DType::fp32, micro_batch > 0};
}

void StreamedStep::backward(const Operation& op) {
    const bool from_host = training_.checkpoints == CheckpointPlacement::host;
    const Matrix input = from_host ? device_buffers_.coming_back(backward_index(op))
                                   : device_buffers_.hidden(op.layer, op.micro_batch);
    if (resident_.has(op.layer) && op.micro_batch == 0) resident_.begin_gradients(op.layer);
    layer(op.layer).backward(device_.kernels(), device_buffers_.weight_slot(op.layer),
                             gradient_target(op.layer, op.micro_batch), input,
                             device_buffers_.hidden(host_.layers(), op.micro_batch),
                             kept(op.layer, op.micro_batch), device_buffers_.backward_workspace());
    if (op.micro_batch + 1 < training_.micro_batches()) return;
    finish_gradients(device_buffers_.gradient_slab(op.layer), device_buffers_.gradient_sums(),
                     layer(op.layer).layout().size);
}

void StreamedStep::copy_gradients_out(const Operation& op) {
    int section = op.layer;
    if (op.layer == kEmbeddingLayer) {
        section = host_.embedding();
        const Matrix rows = device_buffers_.whole_hidden(host_.layers());
        device_.copy(op.lane, host_buffers_.rows_out().data, rows.data,
                     rows.elements() * bytes_of(type_));
    } else if (op.layer == host_.layers()) {
        device_.copy(op.lane, host_buffers_.gradients(section), device_buffers_.head_weights(),
                     kBf16 * head_.elements());
    } else {
        device_.copy(op.lane, host_buffers_.gradients(section),
                     device_buffers_.gradient_slab(op.layer), kBf16 * host_.block(section).count);
    }
    device_.copy(op.lane, host_buffers_.sums(section), device_buffers_.sums(), sizeof(StepSums));
}

const std::uint16_t* StreamedStep::tied_gradient() const {
    return model_.tied_embeddings ? host_buffers_.gradients(host_.head()) : nullptr;
}

bool StreamedStep::finite(State& state, const StepSums& sums) {
    state.finite = state.finite && sums.finite();
    return state.finite;
}

void StreamedStep::update(const Operation& op, OperationId id, std::int64_t step) {
    State& s = state(step);
    if (resident_.has(op.layer)) {
        if (s.finite) resident_.update(op.layer, s.pass, s.adam);
        return;
    }
    if (op.layer != kEmbeddingLayer) {
        const int section = op.layer;
        if (!finite(s, *host_buffers_.sums(section))) return;
        adamw(pool_, s.pass, s.adam, host_.block(section), host_.decay_ranges(section),
              {.bf16 = host_buffers_.gradients(section)});
        return;
    }
    if (!s.finite) return;
    const bool first = id == first_rows_;
    rows_.update(step, s.pass, s.adam, tied_gradient(), first);
    if (!other_rows_later_) rows_.update(step, s.pass, s.adam, tied_gradient(), false);
    if (!first || !model_.tied_embeddings) return;
    // The final norm of a tied model, whose head has nothing else.
    adamw(pool_, s.pass, s.adam, host_.block(host_.head()), host_.decay_ranges(host_.head()),
          {.bf16 = tied_gradient() + head_.norm().offset});
}

/// The last of the gradients: now loss and norm are known.
void StreamedStep::scatter(std::int64_t step) {
    State& s = state(step);
    const double rows_square = rows_.scatter(step, host_buffers_.rows_out(), tied_gradient());
    const StepSums& sums = *host_buffers_.sums(host_.embedding());
    s.finite = finite(s, {sums.loss, sums.norm_square + rows_square});
    s.outcome.loss = sums.loss;
    s.outcome.finite = s.finite;
    if (!s.finite) return;
    s.outcome.gradient_norm = std::sqrt(std::max(0.0, sums.norm_square + rows_square));
    if (s.pass == UpdatePass::redo || training_.clipping == Clipping::off) return;
    s.outcome.clip_factor = clip_factor(s.outcome.gradient_norm, max_norm_).value_or(1);
    if (training_.clipping == Clipping::exact)
        s.adam.gradient_scale = static_cast<float>(s.outcome.clip_factor);
}

}  // namespace sluice
