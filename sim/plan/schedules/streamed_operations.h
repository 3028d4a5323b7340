// Which operations has a step of our schedule, and which facts do they share? streamed.cpp adds
// those up to the last backward, streamed_tail.cpp those after it.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "sim/plan/schedules/schedules.h"
#include "sim/plan/schedules/streamed.h"

namespace sluice {

class Streamed {
  public:
    Streamed(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& training,
             ClippedStep clipped)
        : model_(model),
          machine_(machine),
          t_(training),
          clipped_(clipped),
          layers_(model.layer_count()),
          resident_(static_cast<int>(training.resident_layers)),
          visiting_(static_cast<int>(training.visiting_layers)),
          of_a_pass_(static_cast<std::int32_t>(training.micro_batches_of_a_pass())),
          copies_(training),
          build_(KernelStyle::fused),
          state_(static_cast<std::size_t>(layers_)) {
        for (const LayerSpec& kind : model.kinds)
            parameters_.push_back(static_cast<double>(layer_parameters(model, kind)));
    }

    StreamedPlan plan();

  private:
    using Waits = std::vector<Dependency>;

    struct LayerState {
        OperationId weights_in = -1;        // the latest copy
        OperationId first_weights_in = -1;  // of the step
        OperationId first_forward = -1, last_forward = 0, last_backward = 0;
        OperationId gradients_out = -1, update = 0;
        OperationId states_in = -1, weights_out = -1;  // visiting layers only
        std::vector<OperationId> checkpoint_out;       // one a copy, host checkpoints only
    };

    bool updates_wait_for_norm() const { return t_.updates_after_norm(); }
    LayerState& state(int layer) { return state_[static_cast<std::size_t>(layer)]; }
    bool resident(int layer) const { return layer < resident_; }
    double parameters(int layer) const { return parameters_[kind_of(model_, layer)]; }
    double head_buffer_bytes() const { return table_bytes(model_) + hidden_bytes(model_); }
    BufferId input(int layer) const { return buffers_.inputs[static_cast<std::size_t>(layer)]; }
    bool visiting(int layer) const { return is_visiting(t_, layer); }
    BufferId held_gradients(int layer) const {
        const auto index = static_cast<std::size_t>(layer);
        return index < buffers_.held_gradients.size() ? buffers_.held_gradients[index] : kNoBuffer;
    }
    std::optional<std::int64_t> first_kept_beside(int layer) const {
        return buffers_.visit_places.first_kept[static_cast<std::size_t>(layer - resident_)];
    }
    BufferId visit(int layer) const {
        return buffers_.visits[static_cast<std::size_t>(layer - resident_)];
    }
    BufferId kept(Direction direction, int layer, std::int32_t j) const {
        if (!keeps_on_host(model_, t_, layer))
            return buffers_.kept[static_cast<std::size_t>(layer)];
        const std::int64_t turn = kept_turn(model_, t_, direction, layer, j);
        return buffers_.kept_in_turn[static_cast<std::size_t>(turn % 2)];
    }
    /// The buffer in which the head's weights arrive and from which its gradient leaves.
    BufferId streamed_head() const {
        return t_.resident_head() ? kNoBuffer : buffers_.head_weights;
    }
    const StreamedKernels& kernels(int layer) const {
        const std::vector<StreamedKernels>& lists =
            arrives_as_codes(t_, layer)     ? kernels_of_arrived_
            : keeps_weight_codes(t_, layer) ? kernels_with_codes_
                                            : kernels_;
        return lists[kind_of(model_, layer)];
    }
    std::size_t recompute(int layer) const {
        return static_cast<std::size_t>(recompute_of(model_, t_, layer));
    }
    bool computes_input(int layer) const { return sluice::computes_input(model_, t_, layer); }

    bool last_pass() const { return pass_ + 1 == t_.passes; }
    /// The first micro-batch of the pass, and the one after its last.
    std::int32_t begin() const { return static_cast<std::int32_t>(pass_) * of_a_pass_; }
    std::int32_t end() const { return begin() + of_a_pass_; }

    /// Micro-batches that are one operation.
    struct Group {
        std::int32_t first, count;
    };
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
        return host_checkpoints(t_) || keeps_on_host(model_, t_, layer);
    }
    /// The gradients of the step are complete after it.
    bool ends_step(const Group& group) const {
        return last_pass() && group.first + group.count == end();
    }

    void step_begins();
    void forward();
    void weights_in(int layer, Waits waits);
    void head_weights_in();
    void tokens_in();
    void forward_micro_batches(int layer, const Group& group);
    void checkpoint_out(int layer, const Group& group);
    void loss();
    void backward(int layer);
    void weights_back(int layer);
    void backward_micro_batches(int layer, const Group& group);
    OperationId checkpoint_in(int layer, const Group& group, OperationId place_is_free);
    OperationId input_back(int layer, const Group& group);
    Operation copy_of_checkpoint(const Group& group, BufferId place) const;
    Operation copy_of_kept(Direction direction, int layer, const Group& group) const;
    void kept_out(int layer, const Group& group);
    void kept_back(int layer);

    OperationId gradients_out(int layer, double bytes, OperationId after,
                              std::vector<BufferId> from = {});
    Operation work_of_update(int layer, double params, HostWork part) const;
    OperationId update(int layer, double params, OperationId after);
    void update_ahead(int layer, double params, OperationId after);
    /// It is updated before the norm, and not after it.
    bool is_ahead(int layer) const {
        return clipped_ == ClippedStep::ahead && may_update_ahead(model_, t_, layer);
    }
    void late_moments();
    OperationId update_on_device(int layer, std::int32_t kernels, Waits waits,
                                 std::vector<BufferId> gradients);
    OperationId update_layer_on_device(int layer, Waits waits) {
        return update_on_device(layer, kernels(layer).update, std::move(waits),
                                {held_gradients(layer)});
    }
    void update_head(OperationId out);

    OperationId on_embedding(OperationKind kind, double bytes, Waits waits);
    void embedding_on_host();
    void embedding_on_device();
    void deferred_updates();
    void updates_after_norm(OperationId out);
    void states_in(int after);
    void states_out();
    void updates_before_next_forward();

    const ModelSpec& model_;
    const MachineSpec& machine_;
    const TrainingSpec& t_;
    const ClippedStep clipped_;
    const int layers_;
    const int resident_;            ///< the first ones of them
    const int visiting_;            ///< those after them
    const std::int32_t of_a_pass_;  ///< micro-batches
    const CopiesOfAPass copies_;
    std::int64_t pass_ = 0;
    std::vector<double> parameters_;  // one a kind of layer
    PlanBuilder build_;
    // One a kind of layer: weights are cast in each pass, or once a step, or arrive as codes.
    std::vector<StreamedKernels> kernels_, kernels_with_codes_, kernels_of_arrived_;
    StreamedHeadKernels head_kernels_;
    StreamedEmbeddingKernels embedding_kernels_;
    std::vector<LayerState> state_;
    std::vector<OperationId> backwards_;
    struct KeptOf {
        int layer;
        Group group;
    };
    /// Kept tensors of the pass: copies out in the order of forward; in the order of backward whose
    /// it is, copies in, and the backward that uses each.
    std::vector<OperationId> kept_out_, kept_in_, kept_backwards_;
    std::vector<KeptOf> coming_back_;
    std::vector<OperationId> updates_from_slabs_;
    StreamedBuffers buffers_;
    OperationId embeddings_in_ = 0, head_in_ = -1, head_out_ = -1, head_update_ = -1,
                rest_update_ = -1;
    OperationId gather_ = -1;     ///< on the host for the next step, or on the device for this one
    OperationId norm_known_ = 0;  ///< on the host, and with it whether this step is valid
    OperationId device_update_ = -1;  ///< the last one
};

}  // namespace sluice
