#include "engine/run/streamed_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

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

/// All micro-batches share it, so that each target that counts has the same weight.
float loss_scale(std::span<const std::int32_t> targets) {
    const auto counted = std::count_if(targets.begin(), targets.end(),
                                       [](std::int32_t target) { return target >= 0; });
    return 1.0F / static_cast<float>(std::max<std::ptrdiff_t>(counted, 1));
}

/// Whether a step that only finds the loss leaves the operation out.
constexpr bool only_trains(OperationKind kind) {
    return kind == OperationKind::backward || kind == OperationKind::update ||
           kind == OperationKind::update_ahead || kind == OperationKind::update_moments ||
           kind == OperationKind::embedding_backward || kind == OperationKind::copy_kept_out ||
           kind == OperationKind::copy_kept_in || kind == OperationKind::copy_states_in ||
           kind == OperationKind::copy_weights_out || kind == OperationKind::copy_states_out;
}

template <typename Work>
void for_each_micro_batch(const Operation& op, Work work) {
    Operation one = op;
    for (one.micro_batches = 1; one.micro_batch < op.micro_batch + op.micro_batches;
         ++one.micro_batch)
        work(one);
}

}  // namespace

StreamedStep::StreamedStep(const ModelSpec& model, const TrainingSpec& training,
                           const StreamedPlan& plan, const PlaneStore& planes,
                           ParameterStore& store, const DeviceBuffers& buffers, Device& device,
                           ThreadPool& pool, LaneChoice choose)
    : model_(model),
      training_(training),
      program_(plan.step.program),
      homes_(plan.homes),
      store_(store),
      device_(device),
      pool_(pool),
      type_(buffers.activations()),
      kinds_(layer_kinds(model, training.micro_batch_block(), type_)),
      head_(model, training.loss_chunk_tokens),
      device_buffers_(buffers),
      host_buffers_(model, training, plan, planes),
      codes_(model, plan, planes, store, pool),
      resident_(model, store, device, device_buffers_),
      rows_(pool, store.block(store.embedding()), model.vocabulary, model.hidden, training.tokens(),
            host_buffers_.row_sums()),
      norm_known_(find_operation(
          program_,
          resident_embedding() ? OperationKind::clip_gradients : OperationKind::scatter_embeddings,
          kEmbeddingLayer)),
      first_rows_(find_operation(program_, OperationKind::update, kEmbeddingLayer)),
      updates_ahead_(sections_ahead()),
      other_rows_later_(count_embedding_updates(program_) > 1),
      runner_(
          program_, device, [this](OperationId id, std::int64_t step) { work(id, step); },
          std::move(choose)) {}

StepOutcome StreamedStep::run(StepTokens now, StepTokens next, const AdamWStep& adam,
                              double max_norm, const StepLimits& limits, bool ahead) {
    max_norm_ = max_norm;
    limits_ = limits;
    State fresh;
    fresh.now = now;
    fresh.next = next;
    fresh.adam = adam;
    fresh.loss_scale = loss_scale(now.targets);
    const bool speculates = training_.clipping == Clipping::speculative;
    fresh.adam.gradient_scale = speculates ? static_cast<float>(last_factor_) : 1;
    fresh.outcome.ahead = ahead && training_.clipping == Clipping::automatic;
    const State& done = run(fresh);
    if (!done.outcome.finite) return done.outcome;
    const double factor = done.outcome.clip_factor;
    const bool guessed_wrong = speculates && factor != last_factor_;
    last_factor_ = factor;
    return guessed_wrong ? redo(done) : done.outcome;
}

double StreamedStep::evaluate(StepTokens now, StepTokens next) {
    State fresh;
    fresh.now = now;
    fresh.next = next;
    fresh.loss_scale = loss_scale(now.targets);
    fresh.evaluates = true;
    return run(fresh).outcome.loss;
}

StreamedStep::State& StreamedStep::run(const State& fresh) {
    codes_.follow_store();
    if (!gathered_ && !resident_embedding())
        rows_.gather(fresh.now.inputs, host_buffers_.rows_in());
    gathered_ = true;
    const std::int64_t step = runner_.next_step();
    state(step) = fresh;
    finite(step) = true;
    state(step).documents = write_documents(fresh.now.documents);
    rows_.begin_step(step, fresh.now.inputs, fresh.next.inputs);
    std::memcpy(host_buffers_.targets(), fresh.now.targets.data(), fresh.now.targets.size_bytes());
    if (resident_embedding()) host_buffers_.write_token_index(fresh.now.inputs, rows_.rows(step));
    runner_.submit();
    runner_.wait_for(norm_known_);
    return state(step);
}

void StreamedStep::work(OperationId id, std::int64_t step) {
    const Operation& op = program_.operations[static_cast<std::size_t>(id)];
    if (state(step).evaluates && only_trains(op.kind)) return;
    switch (op.kind) {
        case OperationKind::copy_embeddings_in:
            return copy_embeddings_in(op);
        case OperationKind::copy_weights_in:
            return copy_weights_in(op);
        case OperationKind::copy_checkpoint_in:
        case OperationKind::copy_checkpoint_out:
            return for_each_micro_batch(op, [&](const Operation& one) { copy_checkpoint(one); });
        case OperationKind::copy_kept_in:
        case OperationKind::copy_kept_out:
            return for_each_micro_batch(op, [&](const Operation& one) { copy_kept(one); });
        case OperationKind::copy_states_in:
        case OperationKind::copy_weights_out:
        case OperationKind::copy_states_out:
            return copy_states(op, step);
        case OperationKind::forward:
            return for_each_micro_batch(op, [&](const Operation& one) { forward(one, step); });
        case OperationKind::loss:
            return for_each_micro_batch(op, [&](const Operation& one) { loss(one, step); });
        case OperationKind::backward:
            return for_each_micro_batch(op, [&](const Operation& one) { backward(one, step); });
        case OperationKind::copy_gradients_out:
            return copy_gradients_out(op, step);
        case OperationKind::update_ahead:
            return update_ahead(op, step);
        case OperationKind::update:
            return update(op, id, step);
        case OperationKind::update_moments:
            return update_moments(op, step);
        case OperationKind::scatter_embeddings:
            return scatter(step);
        case OperationKind::embedding_backward:
            return sum_rows_on_device(step);
        case OperationKind::clip_gradients:
            return learn_norm(step, 0);
        case OperationKind::gather_embeddings:
            if (op.lane == Lane::compute) return gather_on_device();
            return rows_.gather(state(step).next.inputs, host_buffers_.rows_in());
        default:
            throw InternalError(std::string("the engine has no ") + operation_name(op.kind));
    }
}

/// Where a layer's input is in backward.
Matrix StreamedStep::backward_input(const Operation& op) const {
    return device_buffers_.has_coming_back() ? device_buffers_.coming_back(op.layer, op.micro_batch)
                                             : device_buffers_.hidden(op.layer, op.micro_batch);
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
        device_.copy(op.lane, backward_input(op).data, on_host.data, bytes);
    }
}

void StreamedStep::copy_kept(const Operation& op) {
    const bool out = op.kind == OperationKind::copy_kept_out;
    char* const on_host = host_buffers_.kept(op.layer, op.micro_batch);
    Workspace memory = device_buffers_.kept(out ? Direction::forward : Direction::backward,
                                            op.layer, op.micro_batch);
    layer(op.layer).keep(homes_.recompute(op.layer), memory, training_.kept_bits);
    device_.copy(op.lane, out ? on_host : memory.data(), out ? memory.data() : on_host,
                 memory.used());
}

const TransformerLayer& StreamedStep::layer(int index) const {
    return kinds_[static_cast<std::size_t>(model_.layers[static_cast<std::size_t>(index)])];
}

LayerActivations StreamedStep::kept(Direction direction, int index, std::int64_t micro_batch,
                                    std::int64_t step) const {
    Workspace memory = device_buffers_.kept(direction, index, micro_batch);
    LayerActivations result =
        layer(index).keep(homes_.recompute(index), memory, training_.kept_bits);
    const std::vector<Documents>& documents = states_[static_cast<std::size_t>(step % 2)].documents;
    if (!documents.empty()) result.documents = documents[static_cast<std::size_t>(micro_batch)];
    return result;
}

std::vector<Documents> StreamedStep::write_documents(std::span<const std::int32_t> begins) const {
    if (!training_.within_documents()) return {};
    std::vector<Documents> all;
    const std::int64_t tokens = training_.micro_batch_block().tokens();
    for (std::int64_t j = 0; j < training_.micro_batches(); ++j) {
        std::int32_t* out = host_buffers_.documents() + j * (tokens + 1);
        const auto end = std::ranges::lower_bound(begins, (j + 1) * tokens);
        const auto count = end - begins.begin();
        if (count == 0 || begins.front() != j * tokens)
            throw InternalError(fmt::format("no document begins micro-batch {}", j));
        const std::span<const std::int32_t> written(out, static_cast<std::size_t>(count + 1));
        for (const std::int32_t begin : begins.first(static_cast<std::size_t>(count)))
            *out++ = static_cast<std::int32_t>(begin - j * tokens);
        *out = static_cast<std::int32_t>(tokens);
        all.push_back(
            {device_buffers_.documents() + j * (tokens + 1), count, longest_document(written)});
        begins = begins.subspan(static_cast<std::size_t>(count));
    }
    return all;
}

void StreamedStep::forward(const Operation& op, std::int64_t step) {
    if (op.layer == 0 && op.micro_batch == 0)
        device_.kernels().fill_zero(device_buffers_.sums(), sizeof(StepSums));
    layer(op.layer).forward(device_.kernels(),
                            device_buffers_.weights(op.layer, op.micro_batch == 0),
                            device_buffers_.hidden(op.layer, op.micro_batch),
                            device_buffers_.hidden(op.layer + 1, op.micro_batch),
                            kept(Direction::forward, op.layer, op.micro_batch, step),
                            device_buffers_.forward_workspace(), device_buffers_.layer_operands());
}

void StreamedStep::loss(const Operation& op, std::int64_t step) {
    const Matrix hidden = device_buffers_.hidden(store_.layers(), op.micro_batch);
    const GradientTarget target{device_buffers_.head_gradient_sums(), DType::fp32,
                                op.micro_batch > 0};
    head_.run(device_.kernels(), head_weights(), hidden,
              device_buffers_.targets() + op.micro_batch * hidden.rows, state(step).loss_scale,
              &device_buffers_.sums()->loss, target, device_buffers_.logits(),
              device_buffers_.head_operands());
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
    void* const sums = device_buffers_.gradient_sums(index);
    if (sums == nullptr) return {device_buffers_.gradient_slab(index), DType::bf16, false};
    return {sums, DType::fp32, micro_batch > 0};
}

void StreamedStep::backward(const Operation& op, std::int64_t step) {
    const Matrix input = backward_input(op);
    if (homes_.computes_input(op.layer)) {
        const int below = op.layer - 1;
        layer(below).forward_again(device_.kernels(), device_buffers_.weights(below, false),
                                   device_buffers_.hidden(below, op.micro_batch), input,
                                   kept(Direction::backward, below, op.micro_batch, step),
                                   device_buffers_.backward_workspace(),
                                   device_buffers_.layer_operands());
    }
    if (op.micro_batch == 0) resident_.begin_gradients(op.layer);
    layer(op.layer).backward(device_.kernels(), device_buffers_.weights(op.layer, false),
                             gradient_target(op.layer, op.micro_batch), input,
                             device_buffers_.hidden(store_.layers(), op.micro_batch),
                             kept(Direction::backward, op.layer, op.micro_batch, step),
                             device_buffers_.backward_workspace(),
                             device_buffers_.layer_operands());
    if (op.micro_batch + 1 < training_.micro_batches()) return;
    finish_gradients(device_buffers_.gradient_slab(op.layer),
                     device_buffers_.gradient_sums(op.layer), layer(op.layer).layout().size);
}

}  // namespace sluice
