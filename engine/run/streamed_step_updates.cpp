// How do parameters reach the device, and how do gradients change them?
#include <algorithm>
#include <cmath>

#include "engine/optimizer/learning_rate.h"
#include "engine/run/streamed_step.h"
#include "sim/plan/sizes.h"

namespace sluice {

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
    if (op.lane == Lane::compute) {
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
    s.outcome.gradient_norm = std::sqrt(std::max(0.0, sums.norm_square + rows_square));
    // Else updates may be at work.
    if (homes_.update(store_.head()).after_norm && !s.evaluates && !s.outcome.ahead)
        s.outcome.skipped =
            s.outcome.loss > limits_.loss || s.outcome.gradient_norm > limits_.gradient_norm;
    if (s.pass == UpdatePass::redo || shape_.clipping == Clipping::off) return;
    s.outcome.clip_factor = clip_factor(s.outcome.gradient_norm, max_norm_).value_or(1);
    if (!homes_.update(store_.head()).after_norm) return;
    s.outcome.corrected = s.outcome.ahead && s.outcome.clip_factor != 1;
    s.adam.gradient_scale = static_cast<float>(s.outcome.clip_factor);
    // Their states leave the device on another lane, later.
    for (int layer = 0; layer < store_.layers() && updates(step) && !s.evaluates; ++layer)
        if (homes_.is_visiting(layer)) announce(layer);
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
