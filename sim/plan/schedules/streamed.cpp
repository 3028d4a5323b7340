// Our schedule: the order of a step's work. Forward over layers: weights arrive ahead in
// `buffer_depth` slots, only layer inputs are kept. A chunked loss. Backward from the last layer:
// weights arrive again unless still in a slot, what it reads is recomputed, gradients leave and the
// optimizer applies them meanwhile. Where tensors are is the placement's affair (placement.h), and
// what operations wait for follows from what they read and write (waits.h).
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
// Compute updates each resident layer right after its backward. The gradients of a resident
// embedding are summed on the device, which gathers its rows, too.
//
// With exact clipping all updates wait for the norm, and forward for them. Those of layers with
// late moments change the parameters alone, in about three quarters of the time, and the moments
// during the next backward, each before new gradients come. States of visiting layers come to the
// device meanwhile:
//
//   host_to_device  w9 w8 w7 w6    s4 s5           |    w4 w5 w6 ...
//   compute         ... b8 b7 b6 b5 b4 b3 b2 b1 b0 | u4 u5 u0 ... f0 f1 f2 f3 f4 ...
//   device_to_host     g8 g7 g6                    |  w4 w5   s4     s5
//   optimizer                                 norm |   u6   u7   u8   u9
//
// With --clipping auto, a step may expect that nothing is clipped. The optimizer then updates
// layers during backward, as soon as their gradients have come, and has nothing to do after the
// norm. Their gradients are held, so that a norm that clips after all costs an update, not a step.
#include "sim/plan/schedules/streamed.h"

#include <algorithm>

#include "sim/plan/adam_part.h"
#include "sim/plan/runs_today.h"
#include "sim/plan/schedules/copies_of_a_pass.h"
#include "sim/plan/schedules/schedules.h"
#include "sim/plan/schedules/streamed_kernels.h"
#include "sim/plan/waits.h"

namespace sluice {
namespace {

class Streamed {
  public:
    Streamed(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& training,
             ClippedStep clipped, Form activations)
        : model_(model),
          machine_(machine),
          t_(training),
          clipped_(clipped),
          homes_(placement_of(model, training, activations)),
          sections_(homes_.sections),
          layers_(model.layer_count()),
          of_a_pass_(static_cast<std::int32_t>(training.micro_batches_of_a_pass())),
          copies_(training.micro_batches_of_a_pass()),
          build_(KernelStyle::fused) {
        while (first_on_host_ < layers_ && resident(first_on_host_)) ++first_on_host_;
        for (const LayerSpec& kind : model.kinds)
            parameters_.push_back(static_cast<double>(layer_parameters(model, kind)));
        const WeightForm& arrives = weight_form(homes_.coded_form());
        for (const LayerSpec& kind : model.kinds)
            arriving_bytes_.push_back(arrives.layer_bytes(model, kind));
    }

    StreamedPlan plan() {
        declare();
        step_begins();
        for (; pass_ < t_.passes; ++pass_) {
            forward();
            loss();
            backward();
        }
        if (frozen())
            adapters();
        else
            resident(sections_.embedding()) ? embedding_on_device() : embedding_on_host();
        late_moments();
        declare_streamed_host_moments(model_, homes_, build_);
        if (t_.clipping == Clipping::speculative)
            build_.assume("a step whose clipping factor changes runs twice, which is not counted");
        return {build_.finish(),
                std::move(homes_),
                std::move(buffers_),
                {t_.micro_batch_block(), t_.micro_batches(), of_a_pass_, t_.loss_chunk_tokens,
                 static_cast<int>(t_.state_bytes), t_.adapters(), t_.clipping, t_.compute,
                 t_.head_gradients}};
    }

  private:
    using Uses = BufferUses;
    enum class Direction : std::uint8_t { forward, backward };
    /// Micro-batches that are one operation.
    struct Group {
        std::int32_t first, count;
    };

    bool resident(int section) const { return homes_.is_resident(section); }
    bool visiting(int layer) const { return homes_.is_visiting(layer); }
    /// Adapters alone are trained.
    bool frozen() const { return sections_.adapted; }
    const Home& home(int section, Plane plane) const { return homes_.home(section, plane); }
    double parameters(int layer) const { return parameters_[kind_of(model_, layer)]; }
    double head_buffer_bytes() const { return table_bytes(model_) + hidden_bytes(model_); }
    bool updates_wait_for_norm() const { return homes_.updates_after_norm(); }
    /// The first layer whose states visit, and the one after the last.
    int visits_begin() const { return homes_.visits.first; }
    int visits_end() const { return homes_.visits.first + homes_.visits.count; }

    const StreamedKernels& kernels(int layer) const {
        const std::vector<StreamedKernels>& lists = homes_.is_coded(layer) ? kernels_of_codes_
                                                    : home(layer, Plane::codes).exists()
                                                        ? kernels_with_codes_
                                                        : kernels_;
        return lists[kind_of(model_, layer)];
    }
    std::size_t recompute(int layer) const {
        return static_cast<std::size_t>(homes_.recompute(layer));
    }

    bool last_pass() const { return pass_ + 1 == t_.passes; }
    /// The first micro-batch of the pass, and the one after its last.
    std::int32_t begin() const { return static_cast<std::int32_t>(pass_) * of_a_pass_; }
    std::int32_t end() const { return begin() + of_a_pass_; }
    /// Those of the pass; `joins(j)`: the operation of micro-batch j is that of j - 1 once more. If
    /// there are few, each has its own.
    template <typename Joins>
    std::vector<Group> groups(Joins joins) const {
        constexpr std::int32_t kFew = 8;
        std::vector<Group> out;
        for (std::int32_t j = begin(); j < end(); ++j) {
            if (of_a_pass_ > kFew && j > begin() && joins(j))
                ++out.back().count;
            else
                out.push_back({j, 1});
        }
        return out;
    }
    static void set_micro_batches(Operation& op, const Group& group) {
        op.micro_batch = group.first;
        op.micro_batches = group.count;
        op.kernel_runs = group.count;
    }
    /// Micro-batches that are copied together are computed together.
    bool in_one_copy(std::int32_t j) const { return copies_.of(j) == copies_.of(j - 1); }
    std::vector<Group> copied_groups() const {
        return groups([this](std::int32_t j) { return in_one_copy(j); });
    }
    /// Something of each micro-batch is copied, beside compute of those after it.
    bool copies_each(int layer) const {
        return host_checkpoints(t_) || homes_.keeps_on_host(layer);
    }
    /// The gradients of the step are complete after it.
    bool ends_step(const Group& group) const {
        return last_pass() && group.first + group.count == end();
    }

    // The places that operations use.

    BufferId input(int layer) const { return buffers_.inputs[static_cast<std::size_t>(layer)]; }
    /// All of a visiting layer's place, or its weights or states alone.
    static constexpr std::int64_t kVisitParts = 2;
    BufferUse of_visit(BufferUse::As as, int layer, std::int64_t first = 0,
                       std::int64_t count = kVisitParts) const {
        return {as, buffers_.visit(homes_, layer), first, count};
    }
    BufferId resident_buffer(int section) const {
        return buffers_.resident[static_cast<std::size_t>(section)];
    }
    /// The buffer in which the head's weights arrive and from which its gradient leaves.
    BufferId streamed_head() const {
        return resident(sections_.head()) ? kNoBuffer : buffers_.head_weights;
    }
    /// The weights of a layer for a pass.
    BufferUse reads_weights(int layer) const {
        if (resident(layer)) return reads(resident_buffer(layer));
        return reads(buffers_.weight_slots, home(layer, Plane::weights).device_place());
    }
    BufferUse reads_adapters() const {
        return frozen() ? reads(resident_buffer(sections_.adapters())) : BufferUse();
    }
    BufferUse of_input(BufferUse::As as, int layer, const Group& group) const {
        return {as, input(layer), layer == 0 ? group.first : group.first % of_a_pass_, group.count};
    }
    BufferUse writes_hidden(const Group& group) const {
        return writes(buffers_.hidden_gradient, group.first, group.count);
    }
    BufferUse reads_all_hidden() const {
        return reads(buffers_.hidden_gradient, 0, t_.micro_batches());
    }
    BufferUse writes_all_rows() const { return writes(input(0), 0, t_.micro_batches()); }
    /// Embedding rows of micro-batches on the host; behind them are the gradients of all rows.
    BufferUse of_rows(BufferUse::As as, const Group& group) const {
        return {as, buffers_.host.rows, group.first, group.count};
    }
    Group all_rows() const { return {0, static_cast<std::int32_t>(t_.micro_batches())}; }
    Group row_gradients() const { return {all_rows().count, all_rows().count}; }
    /// Its input's micro-batches on the host.
    BufferUse of_checkpoint(BufferUse::As as, int layer, const Group& group) const {
        const std::int64_t place = home(layer, Plane::input).host_place;
        return {as, buffers_.host.checkpoints, place * t_.micro_batches() + group.first,
                group.count};
    }
    /// The place of what the layer keeps for backward. Two places of kept tensors that leave are
    /// used in turn by copies of a pass, in forward and again in backward.
    BufferUse of_kept(BufferUse::As as, Direction direction, int layer, const Group& group) const {
        if (!homes_.keeps_on_host(layer))
            return {as, buffers_.kept[static_cast<std::size_t>(layer)], 0, kVisitParts};
        const int lower = home(layer, Plane::kept_feed_forward).turn;
        const std::int64_t before =
            direction == Direction::forward ? lower : homes_.kept_on_host - 1 - lower;
        const std::int64_t turn = before * copies_.count() + copies_.of(group.first);
        return {as, buffers_.kept_in_turn[static_cast<std::size_t>(turn % 2)], 0, 1};
    }
    BufferUse of_gradient(BufferUse::As as, int layer) const {
        const Home& gradient = home(layer, Plane::gradient);
        if (gradient.device_places == 0)
            return {as, buffers_.held_gradients[static_cast<std::size_t>(layer)], 0, 1};
        return {as, buffers_.gradient_slabs, gradient.device_place(), 1};
    }
    /// On the host.
    BufferUse of_weights(BufferUse::As as, int section) const {
        return {as, buffers_.host_weights(homes_, section), section, 1};
    }
    BufferUse of_states(BufferUse::As as, int section) const {
        return {as, buffers_.host_states(homes_, section), section, 1};
    }
    BufferUse of_host_gradient(BufferUse::As as, int section) const {
        if (section == sections_.head()) return {as, buffers_.host.head_gradient, 0, 1};
        return {as, buffers_.host.gradients, home(section, Plane::gradient).host_place, 1};
    }
    BufferUse coming_back(BufferUse::As as, int layer, const Group& group) const {
        const std::int64_t turn = (layers_ - 1 - layer) * copies_.count() + copies_.of(group.first);
        return {as, buffers_.coming_back, turn % 2, 1};
    }

    void declare() {
        const WeightForm& bf16 = weight_form(Form::bf16);
        kernels_ = declare_streamed_kernels(model_, t_, WeightCodes::first, bf16, build_);
        if (t_.weight_code_layers > 0)
            kernels_with_codes_ =
                declare_streamed_kernels(model_, t_, WeightCodes::for_step, bf16, build_);
        if (const WeightForm& form = weight_form(homes_.coded_form()); form.form != Form::bf16)
            kernels_of_codes_ = declare_streamed_kernels(model_, t_, form.codes, form, build_);
        head_kernels_ = declare_head_kernels(model_, t_, build_);
        if (frozen()) adapter_kernels_ = declare_adapter_kernels(model_, t_, build_);
        if (resident(sections_.embedding()))
            embedding_kernels_ = declare_embedding_kernels(model_, t_, build_);
        buffers_ = declare_streamed_memory(model_, machine_, t_, homes_, build_);
    }

    // Copies to the device and forward.

    void weights_in(int layer) {
        Operation op = copy_operation(
            arriving_bytes_[kind_of(model_, layer)],
            {homes_.arrives_as_codes(layer) ? reads(buffers_.host.codes, layer)
                                            : of_weights(BufferUse::As::reads, layer),
             writes(buffers_.weight_slots, home(layer, Plane::weights).device_place())});
        // Nothing of a step is copied before it is known that the one before was valid.
        if (pass_ == 0 && layer == first_on_host_) op.uses.push_back(reads(kStepOutcome));
        build_.add(OperationKind::copy_weights_in, layer, std::move(op));
    }

    void head_weights_in() {
        if (resident(sections_.head())) return;
        build_.add(OperationKind::copy_weights_in, layers_,
                   copy_operation(head_buffer_bytes(),
                                  {writes(buffers_.head_weights),
                                   model_.tied_embeddings
                                       ? of_weights(BufferUse::As::reads, sections_.embedding())
                                       : BufferUse(),
                                   of_weights(BufferUse::As::reads, sections_.head())}));
    }

    /// Slots fill before anything is computed.
    void step_begins() {
        // The device's embedding needs only tokens, which are known early and arrive in
        // microseconds.
        if (resident(sections_.embedding())) tokens_in();
        // The rows of the host's embedding are ready last in the step before. One layer's weights
        // go ahead of them, no more: compute could not start before the last of these. Measured on
        // an H200 (8 layers of 7B): a second layer ahead of the rows kept compute waiting 10.6 ms
        // longer.
        if (first_on_host_ < layers_) weights_in(first_on_host_);
        if (!resident(sections_.embedding())) tokens_in();
        const int in_slots = std::min(first_on_host_ + static_cast<int>(t_.buffer_depth), layers_);
        for (int layer = first_on_host_ + 1; layer < in_slots; ++layer) weights_in(layer);
        if (in_slots == layers_) head_weights_in();
    }

    /// The rows of the batch's tokens and its targets; or its tokens, whose rows the device
    /// gathers.
    void tokens_in() {
        const bool gathers = resident(sections_.embedding());
        const double bytes = gathers ? token_index_bytes(model_, t_) : input_bytes(model_, t_);
        const double documents =
            t_.within_documents() ? static_cast<double>(document_begins_bytes(t_)) : 0;
        const StreamedBuffers::OnHost& host = buffers_.host;
        Operation copy = copy_operation(
            bytes + 4 * tokens(t_) + documents,
            {writes(buffers_.targets), reads(host.token_ids), writes(buffers_.documents),
             reads(host.documents), writes(buffers_.token_index), reads(host.token_index),
             gathers ? reads(kStepOutcome) : writes_all_rows(),
             of_rows(BufferUse::As::reads, all_rows())});
        build_.add(OperationKind::copy_embeddings_in, kEmbeddingLayer, std::move(copy));
        if (!gathers) return;
        build_.add(OperationKind::gather_embeddings, Work::compute, kEmbeddingLayer,
                   gpu_operation({embedding_kernels_.gather},
                                 {writes_all_rows(), reads(buffers_.token_index),
                                  reads(resident_buffer(sections_.embedding()))}));
        if (!homes_.input_leaves(0)) return;
        for (const Group& group : copied_groups()) checkpoint_out(0, group);
    }

    /// Layers stream into slots in turn, free again when the layer that had one has finished.
    void forward() {
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
            if (next < layers_) weights_in(next);
            if (next == layers_ - 1 && pass_ == 0) head_weights_in();
        }
    }

    void forward_micro_batches(int layer, const Group& group) {
        const auto& lists =
            group.first == 0 ? kernels(layer).forward : kernels(layer).forward_later;
        Operation op = gpu_operation(
            {lists.of(homes_.keeps_everything(layer))},
            {of_input(BufferUse::As::reads, layer, group), writes(buffers_.forward_workspace),
             layer + 1 < layers_ ? of_input(BufferUse::As::writes, layer + 1, group)
                                 : writes_hidden(group),
             of_kept(BufferUse::As::writes, Direction::forward, layer, group), reads_weights(layer),
             reads_adapters(), reads(buffers_.documents),
             // The head's weights may arrive while the last layers in slots run.
             layer >= layers_ - static_cast<int>(t_.buffer_depth) ? streamed_head() : kNoBuffer,
             layer == 0 && group.first == 0 ? writes(buffers_.sums) : BufferUse()});
        set_micro_batches(op, group);
        build_.add(OperationKind::forward, layer, std::move(op));
        if (layer + 1 < layers_ && homes_.input_leaves(layer + 1)) checkpoint_out(layer + 1, group);
        if (homes_.keeps_on_host(layer)) kept_out(layer, group);
    }

    Operation copy_of_checkpoint(const Group& group, Uses uses) const {
        Operation op = copy_operation(group.count * micro_batch_tokens(t_) * hidden_bytes(model_),
                                      std::move(uses));
        set_micro_batches(op, group);
        return op;
    }

    /// The input of `layer` leaves; layer 0's is the embedding rows, which the host has unless the
    /// device gathered them.
    void checkpoint_out(int layer, const Group& group) {
        build_.add(OperationKind::copy_checkpoint_out, layer,
                   copy_of_checkpoint(group, {of_input(BufferUse::As::reads, layer, group),
                                              of_checkpoint(BufferUse::As::writes, layer, group)}));
    }

    void loss() {
        for (const Group& group :
             groups([&](std::int32_t j) { return !last_pass() || j + 1 < end(); })) {
            Operation op = gpu_operation(
                head_kernels_.loss,
                {writes_hidden(group),
                 frozen() ? reads(buffers_.head_weights) : writes(buffers_.head_weights),
                 writes(buffers_.logits), writes(buffers_.head_gradient), reads(buffers_.targets),
                 reads(resident_buffer(sections_.head()))});
            set_micro_batches(op, group);
            if (model_.tied_embeddings)
                op.uses.push_back(reads(resident_buffer(sections_.embedding())));
            // The last copies out of the two inputs in turn may still run.
            if (group.first == 0 && homes_.input_leaves(layers_ - 1))
                op = also_using(std::move(op), {input(0), input(std::min(1, layers_ - 1))});
            if (ends_step(group) && !frozen()) op.kernels.push_back(head_kernels_.finish_gradients);
            build_.add(OperationKind::loss, layers_, std::move(op));
        }
        if (!last_pass() || frozen()) return;
        if (!resident(sections_.head()))
            gradients_out(layers_, head_buffer_bytes(),
                          {reads(buffers_.head_weights),
                           of_host_gradient(BufferUse::As::writes, sections_.head())});
        // The gradient of a tied head is not complete.
        if (!model_.tied_embeddings && !updates_wait_for_norm()) update_head();
        update_ahead(layers_, static_cast<double>(head_parameters(model_)));
    }

    // Backward.

    void backward() {
        coming_back_.clear();
        came_back_ = kept_backwards_ = 0;
        for (int layer = layers_ - 1; layer >= 0; --layer)
            if (homes_.keeps_on_host(layer))
                for (const Group& group : copied_groups()) coming_back_.push_back({layer, group});
        for (int layer = layers_ - 1; layer >= 0; --layer) {
            backward(layer);
            if (last_pass()) states_in(layer);
        }
    }

    void backward(int layer) {
        if (layer + 1 == layers_ || !homes_.computes_input(layer + 1)) weights_back(layer);
        if (homes_.computes_input(layer)) weights_back(layer - 1);
        for (const Group& group : groups([&](std::int32_t j) {
                 return copies_each(layer) ? in_one_copy(j) : !last_pass() || j + 1 < end();
             }))
            backward_micro_batches(layer, group);
        if (!last_pass() || frozen()) return;
        if (resident(layer) && !updates_wait_for_norm()) update_layer_on_device(layer);
        if (home(layer, Plane::gradient).on_device()) return;
        gradients_out(layer, kBf16 * parameters(layer),
                      {of_gradient(BufferUse::As::reads, layer),
                       of_host_gradient(BufferUse::As::writes, layer)});
        update_ahead(layer, parameters(layer));
        if (!updates_wait_for_norm() && !homes_.update(layer).beside_forward)
            update(layer, parameters(layer));
    }

    /// Weights come again, unless they are still in a slot.
    void weights_back(int layer) {
        if (layer < layers_ - static_cast<int>(t_.buffer_depth) && !resident(layer))
            weights_in(layer);
    }

    void backward_micro_batches(int layer, const Group& group) {
        input_back(layer, group);
        kept_back(layer);
        // A place in turn is taken when the last pass begins to add to the gradient.
        const bool in_turn = home(layer, Plane::gradient).device_places > 0;
        const bool takes_place = in_turn && last_pass() && group.first == begin();
        Operation op = gpu_operation(
            {kernels(layer).recompute[recompute(layer)],
             kernels(layer).backward.of(homes_.keeps_everything(layer))},
            {writes(buffers_.backward_workspace), writes_hidden(group), streamed_head(),
             reads_weights(layer), reads(buffers_.documents),
             buffers_.coming_back == kNoBuffer ? of_input(BufferUse::As::reads, layer, group)
                                               : coming_back(BufferUse::As::reads, layer, group),
             of_kept(BufferUse::As::reads, Direction::backward, layer, group),
             frozen()                          ? writes(buffers_.adapter_gradient)
             : ends_step(group) || takes_place ? of_gradient(BufferUse::As::writes, layer)
                                               : BufferUse(),
             reads_adapters(), writes(buffers_.adapter_sums)});
        set_micro_batches(op, group);
        if (homes_.computes_input(layer)) {
            op.kernels.push_front(kernels(layer - 1).forward_again[recompute(layer - 1)]);
            op = also_using(
                std::move(op),
                {of_input(BufferUse::As::reads, layer - 1, group),
                 of_kept(BufferUse::As::reads, Direction::backward, layer - 1, group),
                 reads_weights(layer - 1), of_input(BufferUse::As::writes, layer, group)});
        }
        if (ends_step(group) && !frozen()) op.kernels.push_back(kernels(layer).finish_gradients);
        if (ends_step(group) && frozen() && layer == 0)
            op.kernels.push_back(adapter_kernels_.finish_gradients);
        build_.add(OperationKind::backward, layer, std::move(op));
        if (homes_.keeps_on_host(layer)) ++kept_backwards_;
    }

    /// There are two places for checkpoints that come back. Where half of the inputs are saved,
    /// they come back to where they were, after that of two layers above, and before the layer
    /// above computes its own.
    void input_back(int layer, const Group& group) {
        if (!host_checkpoints(t_)) return;
        if (!t_.saves_half()) return checkpoint_in(layer, group);
        if (homes_.computes_input(layer)) checkpoint_in(layer - 1, group);
    }

    void checkpoint_in(int layer, const Group& group) {
        const BufferUse from = homes_.input_leaves(layer)
                                   ? of_checkpoint(BufferUse::As::reads, layer, group)
                                   : of_rows(BufferUse::As::reads, group);
        build_.add(OperationKind::copy_checkpoint_in, layer,
                   copy_of_checkpoint(
                       group, {from, buffers_.coming_back == kNoBuffer
                                         ? of_input(BufferUse::As::writes, layer, group)
                                         : coming_back(BufferUse::As::writes, layer, group)}));
    }

    Operation copy_of_kept(BufferUse::As on_device, Direction direction, int layer,
                           const Group& group) const {
        const BufferUse::As as =
            on_device == BufferUse::As::reads ? BufferUse::As::writes : BufferUse::As::reads;
        Operation op = copy_operation(
            group.count * kept_bytes(model_, homes_, layer).all() * micro_batch_tokens(t_),
            {of_kept(on_device, direction, layer, group),
             {as, buffers_.host.kept,
              static_cast<std::int64_t>(home(layer, Plane::kept_feed_forward).host_place) *
                      of_a_pass_ +
                  group.first % of_a_pass_,
              group.count}});
        set_micro_batches(op, group);
        return op;
    }

    void kept_out(int layer, const Group& group) {
        build_.add(OperationKind::copy_kept_out, layer,
                   copy_of_kept(BufferUse::As::reads, Direction::forward, layer, group));
    }

    /// Copies in that come before a backward of `layer` in their lane: its own, and those whose
    /// place is free when the weights of `layer` may come, behind these.
    void kept_back(int layer) {
        while (came_back_ < std::min(coming_back_.size(), kept_backwards_ + 2)) {
            const auto [of, group] = coming_back_[came_back_];
            if (of != layer && came_back_ >= 2 &&
                coming_back_[came_back_ - 2].layer < layer + t_.buffer_depth)
                return;
            ++came_back_;
            build_.add(OperationKind::copy_kept_in, of,
                       copy_of_kept(BufferUse::As::writes, Direction::backward, of, group));
        }
    }

    // Gradients and updates.

    /// The sums of loss and norm leave with them, as they are by then: only those of the last copy
    /// are the step's.
    void gradients_out(int layer, double bytes, Uses uses) {
        build_.add(OperationKind::copy_gradients_out, layer,
                   copy_operation(bytes, std::move(uses)));
    }

    /// It is updated before the norm, and not after it.
    bool is_ahead(int section) const {
        return clipped_ == ClippedStep::ahead && homes_.update(section).may_be_ahead;
    }

    Operation work_of_update(int section, double params, HostWork part) const {
        // Codes are written while their weights are in the cache; a line is read before it is
        // written.
        constexpr double kCodeTraffic = 2;
        const bool coded = part != HostWork::adam_moments && homes_.arrives_as_codes(section);
        const double traffic = adam_part(part, t_.state_bytes).bytes() + (coded ? kCodeTraffic : 0);
        Operation op = host_operation(part, params * traffic,
                                      {of_host_gradient(BufferUse::As::reads, section),
                                       of_states(BufferUse::As::writes, section)});
        if (part != HostWork::adam_moments)
            op.uses.push_back(of_weights(BufferUse::As::writes, section));
        if (coded) op.uses.push_back(writes(buffers_.host.codes, section));
        return op;
    }
    /// The same in a step that may do it ahead of the norm: then it has nothing to do after it.
    Operation work_after_norm(int section, double params, HostWork part) const {
        Operation op = work_of_update(section, params, part);
        if (is_ahead(section)) op.host_work = HostWork::none, op.host_bytes = 0;
        return op;
    }

    void update(int section, double params) {
        const HostWork part =
            homes_.update(section).moments_later ? HostWork::adam_parameters : HostWork::adam;
        build_.add(OperationKind::update, section, work_after_norm(section, params, part));
    }

    void update_ahead(int section, double params) {
        if (is_ahead(section))
            build_.add(OperationKind::update_ahead, section,
                       work_of_update(section, params, HostWork::adam));
    }

    /// In the order in which the next backward brings new gradients.
    void late_moments() {
        for (int section = sections_.head(); section >= 0; --section) {
            const bool tied = section == sections_.head() && model_.tied_embeddings;
            if (resident(section) || tied || !homes_.update(section).moments_later) continue;
            const double params = sections_.is_layer(section)
                                      ? parameters(section)
                                      : static_cast<double>(head_parameters(model_));
            Operation op = work_after_norm(section, params, HostWork::adam_moments);
            build_.add(OperationKind::update_moments, section, std::move(op));
        }
    }

    void update_on_device(int layer, std::int32_t kernels, Uses uses) {
        if (updates_wait_for_norm()) uses.push_back(reads(kStepOutcome));
        build_.add(OperationKind::update, Work::compute, layer,
                   gpu_operation({kernels}, std::move(uses)));
    }
    void update_layer_on_device(int layer) {
        update_on_device(layer, kernels(layer).update,
                         {of_gradient(BufferUse::As::reads, layer),
                          visiting(layer) ? of_visit(BufferUse::As::writes, layer)
                                          : writes(resident_buffer(layer))});
    }
    void update_head() {
        const int head = sections_.head();
        if (resident(head))
            update_on_device(head, head_kernels_.update,
                             {reads(buffers_.head_weights), writes(resident_buffer(head))});
        else if (!model_.tied_embeddings)
            update(head, static_cast<double>(head_parameters(model_)));
    }

    // The embedding, the norm and the updates that wait for it.

    void on_embedding(OperationKind kind, double bytes, Uses uses) {
        build_.add(kind, kEmbeddingLayer, host_operation(HostWork::copy, bytes, std::move(uses)));
    }

    /// The gradient of a tied head, which is part of the embedding's.
    BufferUse tied_gradient() const {
        if (!model_.tied_embeddings) return {};
        return of_host_gradient(BufferUse::As::reads, sections_.head());
    }

    void update_rows(double rows) {
        const double traffic = adam_part(HostWork::adam, t_.state_bytes).bytes();
        Operation op = host_operation(HostWork::adam, rows * traffic,
                                      {reads(buffers_.host.row_sums), tied_gradient(),
                                       of_weights(BufferUse::As::writes, sections_.embedding()),
                                       of_states(BufferUse::As::writes, sections_.embedding())});
        // The final norm of a tied model, whose head has nothing else.
        if (model_.tied_embeddings)
            op.uses.push_back(of_weights(BufferUse::As::writes, sections_.head()));
        build_.add(OperationKind::update, kEmbeddingLayer, std::move(op));
    }

    void gather_rows() {
        on_embedding(OperationKind::gather_embeddings, input_bytes(model_, t_),
                     {of_weights(BufferUse::As::reads, sections_.embedding()),
                      of_rows(BufferUse::As::writes, all_rows())});
    }

    /// Gradients of the rows leave and are summed by row; rows of the next batch are updated first,
    /// then all others. Exact clipping updates everything from here on, in the order in which the
    /// next forward needs it.
    void embedding_on_host() {
        const double row_bytes = input_bytes(model_, t_);
        gradients_out(kEmbeddingLayer, row_bytes,
                      {reads_all_hidden(), reads(buffers_.sums), writes(kStepOutcome),
                       of_rows(BufferUse::As::writes, row_gradients())});
        // Per element: read 2 B, add into 4 B: 10 B of traffic, 5 B at the rate of a copy.
        on_embedding(OperationKind::scatter_embeddings, 2.5 * row_bytes,
                     {of_rows(BufferUse::As::reads, row_gradients()), tied_gradient(),
                      writes(buffers_.host.row_sums), writes(kStepOutcome)});
        const auto all = static_cast<double>(embedding_parameters(model_));
        const double first = rows_updated_first(model_, t_) * static_cast<double>(model_.hidden);
        update_rows(first);
        gather_rows();
        updates_wait_for_norm() ? updates_after_norm() : deferred_updates();
        if (first < all) update_rows(all - first);
    }

    /// The sums of loss and norm alone leave, after operations that use `after`.
    void sums_out(Uses after) {
        constexpr double kSumsOut = 16;
        after.push_back(reads(buffers_.sums));
        after.push_back(writes(kStepOutcome));
        gradients_out(kEmbeddingLayer, kSumsOut, std::move(after));
        build_.add(OperationKind::clip_gradients, kEmbeddingLayer,
                   host_operation(HostWork::none, 0, {writes(kStepOutcome)}));
    }

    /// The same without copies: only the sums of loss and norm leave.
    void embedding_on_device() {
        const BufferUse tied = model_.tied_embeddings ? reads(buffers_.head_weights) : BufferUse();
        build_.add(OperationKind::embedding_backward, kEmbeddingLayer,
                   gpu_operation({embedding_kernels_.backward},
                                 {reads_all_hidden(), reads(buffers_.token_index), tied,
                                  writes(buffers_.row_gradients), writes(buffers_.sums)}));
        sums_out({});
        update_on_device(
            kEmbeddingLayer, embedding_kernels_.update,
            {reads(buffers_.row_gradients), tied, writes(resident_buffer(sections_.embedding()))});
        if (updates_wait_for_norm()) return updates_after_norm();
        if (model_.tied_embeddings) update_head();
        deferred_updates();
    }

    /// The sums of loss and norm leave, and the adapters are updated; the rows of a frozen
    /// embedding on the host are gathered for the next batch.
    void adapters() {
        sums_out({reads(buffers_.adapter_gradient)});
        update_on_device(
            sections_.adapters(), adapter_kernels_.update,
            {reads(buffers_.adapter_gradient), writes(resident_buffer(sections_.adapters()))});
        if (!resident(sections_.embedding())) gather_rows();
    }

    /// In the order in which the next forward needs them.
    void deferred_updates() {
        for (int layer = first_on_host_; layer < layers_; ++layer)
            if (homes_.update(layer).beside_forward) update(layer, parameters(layer));
    }

    void updates_after_norm() {
        // Visiting states leave as soon as they can.
        for (int layer = visits_begin(); layer < visits_end(); ++layer)
            update_layer_on_device(layer);
        states_out();
        for (int layer = 0; layer < layers_; ++layer)
            if (!visiting(layer))
                resident(layer) ? update_layer_on_device(layer) : update(layer, parameters(layer));
        update_head();
    }

    /// Those that come once backward of `after` is in the program: when the weights of all layers
    /// on the host have come again, and the place is free.
    void states_in(int after) {
        for (int layer = visits_begin(); layer < visits_end(); ++layer) {
            const auto first =
                homes_.visits.first_kept[static_cast<std::size_t>(layer - visits_begin())];
            if (std::min(first_on_host_, first.value_or(layers_)) != after) continue;
            build_.add(OperationKind::copy_states_in, layer,
                       copy_operation(state_bytes(t_) * parameters(layer),
                                      {of_visit(BufferUse::As::writes, layer),
                                       of_weights(BufferUse::As::reads, layer),
                                       of_states(BufferUse::As::reads, layer)}));
        }
    }

    /// Weights of all leave first, since the next forward needs them.
    void states_out() {
        const auto out = [&](OperationKind kind, int layer, double bytes, std::int64_t part,
                             const BufferUse& to) {
            build_.add(kind, layer,
                       copy_operation(bytes * parameters(layer),
                                      {of_visit(BufferUse::As::reads, layer, part, 1), to}));
        };
        for (int layer = visits_begin(); layer < visits_end(); ++layer)
            out(OperationKind::copy_weights_out, layer, kBf16, 0,
                of_weights(BufferUse::As::writes, layer));
        for (int layer = visits_begin(); layer < visits_end(); ++layer)
            out(OperationKind::copy_states_out, layer, state_bytes(t_) - kBf16, 1,
                of_states(BufferUse::As::writes, layer));
    }

    const ModelSpec& model_;
    const MachineSpec& machine_;
    const TrainingSpec& t_;
    const ClippedStep clipped_;
    Placement homes_;
    const Sections sections_;
    const int layers_;
    int first_on_host_ = 0;         ///< of the layers
    const std::int32_t of_a_pass_;  ///< micro-batches
    const CopiesOfAPass copies_;
    std::int64_t pass_ = 0;
    std::vector<double> parameters_, arriving_bytes_;  // one a kind of layer
    PlanBuilder build_;
    // One a kind of layer: weights are cast in each pass, or once a step, or are codes.
    std::vector<StreamedKernels> kernels_, kernels_with_codes_, kernels_of_codes_;
    StreamedHeadKernels head_kernels_;
    StreamedEmbeddingKernels embedding_kernels_;
    StreamedAdapterKernels adapter_kernels_;
    /// Kept tensors that come back in the pass, in the order of backward; how many have, and how
    /// many backwards have used theirs.
    struct KeptOf {
        int layer;
        Group group;
    };
    std::vector<KeptOf> coming_back_;
    std::size_t came_back_ = 0, kept_backwards_ = 0;
    StreamedBuffers buffers_;
};

/// From the first operation of a kind to the first of the next; the tail lasts until the next
/// step's first compute.
std::vector<Phase> streamed_phases() {
    using At = StepMark::At;
    const StepMark loss{At::first_start, OperationKind::loss}, computed{At::compute_end};
    const StepMark backward{At::first_start, OperationKind::backward};
    return {{"forward", {At::zero}, loss},
            {"loss", loss, backward},
            {"backward", backward, computed},
            {"tail", computed, {At::zero, {}, true}}};
}

}  // namespace

StreamedPlan plan_streamed(const ModelSpec& model, const MachineSpec& machine,
                           const TrainingSpec& training, ClippedStep step, Form activations) {
    StreamedPlan out = Streamed(model, machine, training, step, activations).plan();
    derive_waits(out.step);
    return out;
}

ScheduleRecord streamed_schedule() {
    return {
        .name = "streamed",
        .about =
            "Layers pass through the GPU and states stay on the host, so that large models "
            "fit; link and host can limit the speed.",
        .plan =
            [](const auto& model, const auto& machine, const auto& training) {
                return Streamed(model, machine, training, ClippedStep::waits, Form::bf16)
                    .plan()
                    .step;
            },
        .options = {"passes", "buffer_depth", "gradient_slabs", "host_gradient_slabs", "compute",
                    "head_gradients", "recompute", "kept_bits", "state_bytes", "optimizer_threads",
                    "clipping", "loss_chunk_tokens", "feed_forward_chunk_tokens", "attend_within",
                    "document_tokens", "distinct_tokens"},
        .program = {.name = "sluice-train",
                    .gpu_makers = {"NVIDIA"},
                    .lacks = missing_in_trainer,
                    .lacks_setting = setting_missing_in_trainer,
                    .source = "the trainer of this version",
                    .date = "2026-11-23"},
        .ours = true,
        .users_run = {},
        .structural_error = kStructuralError,
        .phases = streamed_phases()};
}

}  // namespace sluice
