#include "engine/run/streamed_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/optimizer/learning_rate.h"
#include "sim/base/input_error.h"
#include "sim/plan/sizes.h"

namespace sluice {
namespace {

std::vector<TransformerLayer> layer_kinds(const ModelSpec& model, TokenBlock block,
                                          DType activations) {
    std::vector<TransformerLayer> kinds;
    for (const LayerSpec& kind : model.kinds) kinds.emplace_back(model, kind, block, activations);
    return kinds;
}

std::vector<AdapterLayout> adapter_layouts(const ModelSpec& model, const AdapterShape& adapters) {
    std::vector<AdapterLayout> out;
    if (adapters.present())
        for (const LayerSpec& kind : model.kinds)
            out.push_back(adapter_layout(model, kind, adapters));
    return out;
}

/// The operation in which the norm of the gradients becomes known.
OperationId norm_known(const StepProgram& program) {
    for (const OperationKind kind :
         {OperationKind::clip_gradients, OperationKind::scatter_embeddings})
        for (std::size_t id = 0; id < program.operations.size(); ++id)
            if (program.operations[id].kind == kind) return static_cast<OperationId>(id);
    throw InternalError("the plan has no operation in which the norm becomes known");
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
    for (std::int64_t j = op.micro_batch; j < op.micro_batch + op.micro_batches; ++j) work(j);
}

}  // namespace

StreamedStep::StreamedStep(const ModelSpec& model, const StreamedPlan& plan,
                           const PlaneStore& planes, ParameterStore& store,
                           const StepBuffers& buffers, Device& device, ThreadPool& pool,
                           LaneChoice choose, float adapter_scale)
    : model_(model),
      shape_(plan.shape),
      program_(plan.step.program),
      homes_(plan.homes),
      planes_(planes),
      store_(store),
      device_(device),
      pool_(pool),
      kinds_(layer_kinds(model, shape_.micro_batch, activation_type(plan))),
      adapter_scale_(adapter_scale),
      adapter_kinds_(adapter_layouts(model, shape_.adapters)),
      adapter_begins_(adapter_begins(model, shape_.adapters)),
      head_(model, shape_.loss_chunk_tokens),
      buffers_(buffers),
      codes_(model, plan, planes, store, pool),
      resident_(model, store, device, buffers),
      rows_(pool, store.block(store.embedding()), model.vocabulary, model.hidden, shape_.tokens(),
            buffers_.row_sums()),
      norm_known_(norm_known(program_)),
      first_rows_(store_.has_adapters()
                      ? -1
                      : find_operation(program_, OperationKind::update, kEmbeddingLayer)),
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
    const bool speculates = shape_.clipping == Clipping::speculative;
    fresh.adam.gradient_scale = speculates ? static_cast<float>(last_factor_) : 1;
    fresh.outcome.ahead = ahead && shape_.clipping == Clipping::automatic;
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
    if (!gathered_ && !resident_embedding()) rows_.gather(fresh.now.inputs, buffers_.rows_in());
    gathered_ = true;
    const std::int64_t step = runner_.next_step();
    state(step) = fresh;
    finite(step) = true;
    state(step).documents = write_documents(fresh.now.documents);
    rows_.begin_step(step, fresh.now.inputs, fresh.next.inputs);
    std::memcpy(buffers_.host_targets(), fresh.now.targets.data(), fresh.now.targets.size_bytes());
    if (resident_embedding()) buffers_.write_token_index(fresh.now.inputs, rows_.rows(step));
    runner_.submit();
    runner_.wait_for(norm_known_);
    return state(step);
}

void StreamedStep::work(OperationId id, std::int64_t step) {
    const Operation& op = program_.operations[static_cast<std::size_t>(id)];
    if (state(step).evaluates && only_trains(op.kind)) return;
    if (op.lane.work == Work::host_to_device || op.lane.work == Work::device_to_host)
        return copy(op, step);
    switch (op.kind) {
        case OperationKind::forward:
            return for_each_micro_batch(op, [&](std::int64_t j) { forward(op, j, step); });
        case OperationKind::loss:
            return for_each_micro_batch(op, [&](std::int64_t j) { loss(j, step); });
        case OperationKind::backward:
            return for_each_micro_batch(op, [&](std::int64_t j) { backward(op, j, step); });
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
            if (op.lane.work == Work::compute) return gather_on_device();
            return rows_.gather(state(step).next.inputs, buffers_.rows_in());
        default:
            throw InternalError(std::string("the engine has no ") + operation_name(op.kind));
    }
}

/// The plan says which bytes: from the buffers that the operation reads to those that it writes.
void StreamedStep::copy(const Operation& op, std::int64_t step) {
    const bool gradients = op.kind == OperationKind::copy_gradients_out;
    const bool updated =
        op.kind == OperationKind::copy_weights_out || op.kind == OperationKind::copy_states_out;
    if (!(gradients && state(step).evaluates) && !(updated && !updates(step)))
        for (const auto& [from, to] : planes_.parts().copies(op))
            device_.copy(op.lane.work, planes_.at(to), planes_.at(from), to.bytes);
    // Kernels may be adding to the sums, so that this is no plain copy.
    if (!gradients) return;
    device_.copy_sums(op.lane.work, buffers_.host_sums(section_of(op)), buffers_.sums());
    if (op.layer == kEmbeddingLayer && buffers_.busiest() != nullptr)
        device_.copy(op.lane.work, buffers_.host_busiest(), buffers_.busiest(), kBusiest);
}

const TransformerLayer& StreamedStep::layer(int index) const {
    return kinds_[static_cast<std::size_t>(model_.layers[static_cast<std::size_t>(index)])];
}

LayerActivations StreamedStep::kept(const Operation& op, int index, std::int64_t j,
                                    std::int64_t step) const {
    Workspace memory = buffers_.kept(op, index, j);
    LayerActivations result = layer(index).keep(homes_.recompute(index), memory,
                                                homes_.kept_bits(index), adapter_layout_of(index));
    const std::vector<Documents>& documents = states_[static_cast<std::size_t>(step % 2)].documents;
    if (!documents.empty()) result.documents = documents[static_cast<std::size_t>(j)];
    return result;
}

std::vector<Documents> StreamedStep::write_documents(std::span<const std::int32_t> begins) const {
    if (buffers_.documents() == nullptr) return {};
    std::vector<Documents> all;
    const std::int64_t tokens = shape_.micro_batch.tokens();
    for (std::int64_t j = 0; j < shape_.micro_batches; ++j) {
        std::int32_t* out = buffers_.host_documents() + j * (tokens + 1);
        const auto end = std::ranges::lower_bound(begins, (j + 1) * tokens);
        const auto count = end - begins.begin();
        if (count == 0 || begins.front() != j * tokens)
            throw InternalError(fmt::format("no document begins micro-batch {}", j));
        const std::span<const std::int32_t> written(out, static_cast<std::size_t>(count + 1));
        for (const std::int32_t begin : begins.first(static_cast<std::size_t>(count)))
            *out++ = static_cast<std::int32_t>(begin - j * tokens);
        *out = static_cast<std::int32_t>(tokens);
        all.push_back({buffers_.documents() + j * (tokens + 1), count, longest_document(written)});
        begins = begins.subspan(static_cast<std::size_t>(count));
    }
    return all;
}

void StreamedStep::forward(const Operation& op, std::int64_t j, std::int64_t step) {
    if (op.layer == 0 && j == 0)
        device_.kernels().fill_zero(buffers_.sums(), sizeof(StepSums) + kBusiest);
    LayerActivations keeps = kept(op, op.layer, j, step);
    keeps.busiest = buffers_.busiest();
    layer(op.layer).forward(device_.kernels(), buffers_.weights(op.layer, j == 0),
                            buffers_.hidden(op.layer, j), buffers_.hidden(op.layer + 1, j), keeps,
                            buffers_.forward_workspace(), buffers_.layer_operands(),
                            adapters(op.layer, j, step));
}

const AdapterLayout* StreamedStep::adapter_layout_of(int index) const {
    if (adapter_kinds_.empty()) return nullptr;
    return &adapter_kinds_[kind_of(model_, index)];
}

LayerAdapters StreamedStep::adapters(int index, std::int64_t j, std::int64_t step) const {
    if (adapter_kinds_.empty()) return {};
    const auto i = static_cast<std::size_t>(index);
    const std::int64_t begin = adapter_begins_[i];
    const auto part = [&](void* all, DType type) -> void* {
        return static_cast<char*>(all) + begin * bytes_of(type);
    };
    const bool summed = buffers_.adapter_sums() != nullptr;
    const DType type = summed ? DType::fp32 : DType::bf16;
    void* const gradient = summed ? buffers_.adapter_sums() : buffers_.adapter_gradient();
    return {adapter_layout_of(index),
            part(buffers_.adapters(), DType::bf16),
            adapter_scale_,
            {part(gradient, type), type, j > 0},
            dropout(index, j, step)};
}

/// The same numbers are left out in forward and in backward, however the batch is parted.
Dropout StreamedStep::dropout(int index, std::int64_t j, std::int64_t step) const {
    const State& s = states_[static_cast<std::size_t>(step % 2)];
    if (s.evaluates) return {};
    constexpr std::int64_t kLayers = std::int64_t{1} << 20;
    const std::uint64_t place = static_cast<std::uint64_t>(s.adam.step * kLayers + index);
    return {shape_.adapters.dropout_percent, mixed_bits(s.adam.seed ^ mixed_bits(place)),
            j * shape_.micro_batch.tokens()};
}

void StreamedStep::loss(std::int64_t j, std::int64_t step) {
    const Matrix hidden = buffers_.hidden(store_.layers(), j);
    const GradientTarget target{buffers_.head_gradient_sums(), DType::fp32, j > 0};
    head_.run(device_.kernels(), head_weights(), hidden, buffers_.targets() + j * hidden.rows,
              state(step).loss_scale, &buffers_.sums()->loss, target, buffers_.logits(),
              buffers_.head_operands());
    if (j + 1 < shape_.micro_batches || !target.present()) return;
    for (const TensorPlace& place : {head_.projection(), head_.norm()})
        finish_gradients(vector_at(buffers_.head_weights(), DType::bf16, place).data,
                         vector_at(buffers_.head_gradient_sums(), DType::fp32, place).data,
                         place.elements());
}

/// Sums in fp32, if there are any, are rounded; the norm reads the result.
void StreamedStep::finish_gradients(void* out, void* sums, std::int64_t elements) {
    Kernels& kernels = device_.kernels();
    const Vector gradients{out, DType::bf16, elements};
    if (sums != nullptr) kernels.round_to_bf16(gradients, {sums, DType::fp32, elements});
    kernels.sum_squares(gradients, &buffers_.sums()->norm_square);
}

GradientTarget StreamedStep::gradient_target(int index, std::int64_t j) const {
    if (!store_.is_trained(index)) return {};
    void* const sums = buffers_.gradient_sums(index);
    if (sums == nullptr) return {buffers_.gradient_slab(index), DType::bf16, false};
    return {sums, DType::fp32, j > 0};
}

void StreamedStep::backward(const Operation& op, std::int64_t j, std::int64_t step) {
    const Matrix input = buffers_.backward_input(op, j);
    if (homes_.computes_input(op.layer)) {
        const int below = op.layer - 1;
        layer(below).forward_again(device_.kernels(), buffers_.weights(below, false),
                                   buffers_.hidden(below, j), input, kept(op, below, j, step),
                                   buffers_.backward_workspace(), buffers_.layer_operands(),
                                   adapters(below, j, step));
    }
    if (j == 0) resident_.begin_gradients(op.layer);
    layer(op.layer).backward(
        device_.kernels(), buffers_.weights(op.layer, false), gradient_target(op.layer, j), input,
        buffers_.hidden(store_.layers(), j), kept(op, op.layer, j, step),
        buffers_.backward_workspace(), buffers_.layer_operands(), adapters(op.layer, j, step));
    if (j + 1 < shape_.micro_batches) return;
    if (store_.has_adapters()) {
        if (op.layer == 0)
            finish_gradients(buffers_.adapter_gradient(), buffers_.adapter_sums(),
                             adapter_begins_.back());
        return;
    }
    finish_gradients(buffers_.gradient_slab(op.layer), buffers_.gradient_sums(op.layer),
                     layer(op.layer).layout().size);
}

void StreamedStep::gather_on_device() {
    const TokenIndex index = buffers_.token_index();
    device_.kernels().gather_rows(buffers_.whole_hidden(0), store_.block(store_.embedding()).high,
                                  index.inputs);
}

void StreamedStep::sum_rows_on_device(std::int64_t step) {
    const TokenIndex index = buffers_.token_index();
    float* const sums = buffers_.row_gradients();
    const bool tied = model_.tied_embeddings;
    device_.kernels().fill_zero(sums, kFp32 * store_.block(store_.embedding()).count);
    device_.kernels().sum_rows(
        sums, buffers_.whole_hidden(store_.layers()),
        {index.rows, rows_.rows(step).count, index.order},
        tied ? static_cast<const std::uint16_t*>(buffers_.head_weights()) : nullptr,
        &buffers_.sums()->norm_square);
}

/// Those of the two sections that are resident, or what was copied to one buffer.
HeadWeights StreamedStep::head_weights() const {
    if (!resident_.has(store_.head())) return head_.weights_in(buffers_.head_weights());
    const HeadLayout layout = head_layout(model_);
    std::uint16_t* const own = store_.block(store_.head()).high;
    return {model_.tied_embeddings ? store_.block(store_.embedding()).high
                                   : own + layout.projection.offset,
            own + layout.norm.offset};
}

const std::uint16_t* StreamedStep::tied_gradient() const {
    return model_.tied_embeddings ? buffers_.host_gradients(store_.head()) : nullptr;
}

bool StreamedStep::still_finite(std::int64_t step, const StepSums& sums) {
    if (!sums.finite()) finite(step) = false;
    return finite(step);
}

void StreamedStep::update_on_host(int section, UpdatePass pass, const AdamWStep& step,
                                  GradientRange gradient) {
    const auto update = [&](const AfterUpdate& after) {
        adamw(pool_, pass, step, store_.block(section), store_.decay_ranges(section), gradient,
              after);
    };
    codes_.has(section) ? codes_.rewrite(section, update) : update({});
}

std::vector<bool> StreamedStep::sections_ahead() const {
    std::vector<bool> out(static_cast<std::size_t>(store_.sections()));
    for (const Operation& op : program_.operations)
        if (op.kind == OperationKind::update_ahead) out[static_cast<std::size_t>(op.layer)] = true;
    return out;
}

void StreamedStep::update_ahead(const Operation& op, std::int64_t step) {
    State& s = state(step);
    const int section = section_of(op);
    if (!s.outcome.ahead || !still_finite(step, *buffers_.host_sums(section))) return;
    announce(section);
    update_on_host(section, UpdatePass::update, s.adam, {.bf16 = buffers_.host_gradients(section)});
}

/// Calls `use` with the passes over a section after the norm. Where this clips after all, updates
/// ahead are taken back and done again from the gradients that were held; sections that waited then
/// go the same way, so that bits do not depend on homes.
template <class Use>
void StreamedStep::each_pass(const State& s, bool was_ahead, const Use& use) {
    if (!s.outcome.corrected) return use(s.pass, s.adam);
    AdamWStep ahead = s.adam, corrected = s.adam;
    ahead.gradient_scale = corrected.speculated_scale = 1;
    if (!was_ahead) use(UpdatePass::update, ahead);
    use(UpdatePass::rewind, ahead);
    use(UpdatePass::redo, corrected);
}

void StreamedStep::update(const Operation& op, OperationId id, std::int64_t step) {
    State& s = state(step);
    const int section = section_of(op);
    const auto on_host = [&](int of, bool was_ahead, const std::uint16_t* gradient) {
        each_pass(s, was_ahead, [&](UpdatePass pass, const AdamWStep& adam) {
            update_on_host(of, pass, adam, {.bf16 = gradient});
        });
    };
    if (op.lane.work == Work::compute) {
        if (!updates(step)) return;
        return each_pass(s, false, [&](UpdatePass pass, const AdamWStep& adam) {
            resident_.update(section, pass, adam);
        });
    }
    if (op.layer != kEmbeddingLayer) {
        if (!still_finite(step, *buffers_.host_sums(section)) || !updates(step)) return;
        const bool ahead = was_ahead(s, section);
        if (ahead && !s.outcome.corrected) return;
        announce(section);
        const std::uint16_t* const gradient = buffers_.host_gradients(section);
        if (homes_.update(section).moments_later && !s.outcome.corrected)
            return update_on_host(section, UpdatePass::parameters, s.adam, {.bf16 = gradient});
        return on_host(section, ahead, gradient);
    }
    if (!updates(step)) return;
    announce(section);
    const bool first = id == first_rows_;
    each_pass(s, false, [&](UpdatePass pass, const AdamWStep& adam) {
        rows_.update(step, pass, adam, tied_gradient(), first);
        if (!other_rows_later_) rows_.update(step, pass, adam, tied_gradient(), false);
    });
    if (!first || !model_.tied_embeddings) return;
    // The final norm of a tied model, whose head has nothing else.
    announce(store_.head());
    on_host(store_.head(), false, tied_gradient() + head_.norm().offset);
}

void StreamedStep::update_moments(const Operation& op, std::int64_t step) {
    const State& s = state(step);
    const int section = section_of(op);
    if (!updates(step) || s.outcome.corrected || was_ahead(s, section)) return;
    adamw(pool_, UpdatePass::moments, s.adam, store_.block(section), store_.decay_ranges(section),
          {.bf16 = buffers_.host_gradients(section)});
}

void StreamedStep::scatter(std::int64_t step) {
    learn_norm(step, state(step).evaluates
                         ? 0
                         : rows_.scatter(step, buffers_.rows_out(), tied_gradient()));
}

void StreamedStep::learn_norm(std::int64_t step, double rows_square) {
    State& s = state(step);
    const StepSums& sums = *buffers_.host_sums(store_.embedding());
    s.outcome.loss = sums.loss;
    s.outcome.finite = still_finite(step, {sums.loss, sums.norm_square + rows_square});
    if (!s.outcome.finite) return;
    if (buffers_.busiest() != nullptr)
        s.outcome.busiest_expert = *buffers_.host_busiest() / static_cast<double>(routed_passes());
    s.outcome.gradient_norm = std::sqrt(std::max(0.0, sums.norm_square + rows_square));
    // Else updates may be at work.
    if (homes_.updates_after_norm() && !s.evaluates && !s.outcome.ahead)
        s.outcome.skipped =
            s.outcome.loss > limits_.loss || s.outcome.gradient_norm > limits_.gradient_norm;
    if (s.evaluates || s.pass == UpdatePass::redo || shape_.clipping == Clipping::off) return;
    s.outcome.clip_factor = clip_factor(s.outcome.gradient_norm, max_norm_).value_or(1);
    if (!homes_.updates_after_norm()) return;
    s.outcome.corrected = s.outcome.ahead && s.outcome.clip_factor != 1;
    s.adam.gradient_scale = static_cast<float>(s.outcome.clip_factor);
    // Their states leave the device on another lane, later.
    for (int layer = 0; layer < store_.layers() && updates(step) && !s.evaluates; ++layer)
        if (homes_.is_visiting(layer)) announce(layer);
}

std::int64_t StreamedStep::routed_passes() const {
    const std::int64_t chunks =
        shape_.micro_batch.in_chunks()
            ? (shape_.micro_batch.tokens() + shape_.micro_batch.feed_forward_chunk - 1) /
                  shape_.micro_batch.feed_forward_chunk
            : 1;
    std::int64_t layers = 0;
    for (int index = 0; index < store_.layers(); ++index)
        if (model_.layer(index).feed_forward.experts > 0) ++layers;
    return layers * chunks * shape_.micro_batches;
}

/// All parameters back to what they were, then the same step once more with known clipping.
StepOutcome StreamedStep::redo(const State& clipped) {
    runner_.finish();
    for (int section = 0; section < store_.sections(); ++section) {
        if (resident_.has(section))
            resident_.update(section, UpdatePass::rewind, clipped.adam);
        else
            update_on_host(section, UpdatePass::rewind, clipped.adam, {});
    }
    if (!resident_embedding()) rows_.gather(clipped.now.inputs, buffers_.rows_in());
    State again = clipped;
    again.pass = UpdatePass::redo;
    again.adam.speculated_scale = clipped.adam.gradient_scale;
    again.adam.gradient_scale = static_cast<float>(clipped.outcome.clip_factor);
    StepOutcome outcome = run(again).outcome;
    outcome.redone = true;
    return outcome;
}

}  // namespace sluice
