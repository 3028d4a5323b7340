// MegaTrain's schedule, from reading its public code (DLYuanGod/MegaTrain, commit 919520f,
// infinity/model/cpu_master.py and examples/sft/train.py). One step:
//
// Forward, without gradients: each layer's flat weights arrive in one of two buffers and are copied
// ("unflattened") into one of two layer templates; every 4th layer input is kept.
//
// Loss, in pieces of 128 positions; but all pieces' log-softmax outputs stay alive until its
// backward.
//
// Backward, in blocks of 4 layers: weights and forward again to restore inputs; then, from the
// block's last layer on, weights a third time, forward with gradients, backward. Gradients leave
// into one of 12 pinned slabs, and one host thread copies them into newly allocated gradient
// tensors.
//
// Micro-batches (its gradient_accumulation_steps): each repeats all of this; the thread adds later
// gradients to those tensors, and the host waits for it at the end of each.
//
// MegaTrain-Plus, a fork of an older revision (bdqnghi/MegaTrain-Plus at a7d510d, --fork): before
// each copy the main thread gathers a layer's weights in one of two pinned buffers (flatten). Its
// own options keep the inputs of all layers, so that no block runs forward again (store), and make
// the templates views of three buffers (views).
//
// Tail, on the main thread, one after another: clip_grad_norm_; CPU Adam on bf16 masters with fp32
// moments; copy of all weights to the pinned flats; upload of embedding and head from pageable
// memory; zero_grad.
#include <algorithm>
#include <array>
#include <utility>

#include "sim/plan/schedules/megatrain_memory.h"
#include "sim/plan/schedules/pytorch.h"
#include "sim/specs/scenario/declare_option.h"

namespace sluice {
namespace {

// bf16 gradient and weight read, weight written, both fp32 moments read and written.
constexpr double kEagerAdamTraffic = 22;
// Host time of a kernel, in units of an eager operation: its public code with the model "narrow" of
// validation/peers (docs/other-systems.md) takes 1,137 per layer, which launches 165 kernels.
constexpr double kEagerOperationsPerLaunch = 6.9;

class MegaTrain : public MicroBatchStep {
  public:
    MegaTrain(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& training)
        : MicroBatchStep(
              model, machine, training, KernelStyle::eager,
              fork_of(training) == Fork::none ? kEagerOperationsPerLaunch : kOfPythonThread),
          slots_(megatrain_slots(training)),
          python_(build_) {}

  private:
    void declare() override {
        prepare_kernels();
        gradients_ = declare_megatrain_memory(model_, machine_, pass_, build_);
    }
    void finish() override {
        declare_megatrain_host_moments(model_, build_);
        if (training_.micro_batches() > 1)
            build_.assume(
                "the thread adds gradients up as fast as AdamW on bf16 masters moves host memory");
    }

    void pass() override {
        buffers_ = declare_megatrain_pass(model_, pass_, build_);
        host_waits_for_ = last_collected_;
        forward();
        loss();
        const int interval = static_cast<int>(megatrain_interval(pass_));
        for (int block = (layers_ - 1) / interval; block >= 0; --block) {
            backward_block(block * interval, std::min((block + 1) * interval, layers_));
        }
        embedding_backward();
    }

    struct KindKernels {
        std::int32_t unflatten, forward, backward;
    };
    const KindKernels& kernels(int layer) const { return kinds_[kind_of(model_, layer)]; }

    void prepare_kernels() {
        const TokenBlock block = pass_.batch_block();
        for (const LayerSpec& kind : model_.kinds) {
            const double params = static_cast<double>(layer_parameters(model_, kind));
            const auto tensors = static_cast<std::int64_t>(layer_tensors(model_, kind).size());
            kinds_.push_back(
                {build_.kernels({memory_bound("unflatten", 2 * kBf16 * params, tensors)}),
                 build_.kernels(forward_kernels(model_, kind, block, KernelStyle::eager)),
                 build_.kernels(backward_kernels(model_, kind, block, KernelStyle::eager))});
        }
        loss_ = build_.kernels(
            loss_kernels(model_, block, pass_.batch * kMegaTrainLossPositions, KernelStyle::eager));
        embedding_ = build_.kernels({embedding_gradient_kernel(model_, pass_)});
    }

    /// PyTorch frees a layer's temporaries after the layer, so each run has its own.
    BufferId temporaries(const char* name, double bytes_per_token) {
        return build_.device_buffer(name, Kind::activations, tokens(pass_) * bytes_per_token);
    }
    BufferId forward_temporaries() {
        return temporaries("forward temporaries", megatrain_forward_temporaries(model_));
    }
    BufferId backward_temporaries() {
        return temporaries("autograd's saved tensors and temporaries",
                           megatrain_backward_temporaries(model_));
    }

    bool is_fork() const { return fork_of(training_) != Fork::none; }
    bool has_views() const { return fork_of(training_) == Fork::views; }

    /// The main thread issues the kernels, in a fork between two layers' gathering.
    OperationId compute(OperationKind kind, int layer, Operation work) {
        Waits waits = has_views() ? Waits{{arrived_}} : Waits{};
        if (is_fork()) {
            for (const Dependency& on : python_.reached(layer)) waits.push_back(on);
            python_.work(kEagerOperationsPerLaunch * static_cast<double>(build_.launches(work)));
        }
        const OperationId done = build_.add(kind, layer, std::move(waits), std::move(work));
        if (has_views() && is_layer(layer)) unflattened_[slot_of(layer)] = done;
        return done;
    }
    /// A fork's main thread gathers a layer in its pinned buffer, which the copy before has left.
    OperationId flatten(int layer) {
        if (!is_fork()) return -1;
        Waits waits = python_.reached(layer);
        waits.push_back({arrived_of_[slot_of(layer)]});
        const OperationId done = build_.add(OperationKind::flatten_weights, layer, std::move(waits),
                                            host_operation(HostWork::copy, layer_bytes(layer)));
        if (first_flat_ < 0) first_flat_ = done;
        python_.wait_for(done, layer);
        return done;
    }
    std::size_t slot_of(int layer) const { return static_cast<std::size_t>(layer % slots_); }

    /// Streams a layer into a buffer and copies it into that template. The buffer is free after its
    /// content is unflattened, the template after its last gradients have left.
    void load_layer(int layer) {
        const std::size_t slot = slot_of(layer);
        const OperationId flat = flatten(layer);
        const OperationId in =
            build_.add(OperationKind::copy_weights_in, layer,
                       {{unflattened_[slot]}, {flat}, {std::exchange(host_waits_for_, -1)}},
                       copy_operation(layer_bytes(layer)));
        if (first_in_ < 0) first_in_ = in;
        arrived_ = arrived_of_[slot] = in;
        if (has_views()) return;
        unflattened_[slot] =
            build_.add(OperationKind::unflatten, layer, {{in}, {gradients_left_[slot]}},
                       gpu_operation({kernels(layer).unflatten}));
    }

    BufferId checkpoint(int layer) const {
        return buffers_.checkpoints[static_cast<std::size_t>(layer / megatrain_interval(pass_))];
    }

    void forward() {
        for (int layer = 0; layer < layers_; ++layer) {
            load_layer(layer);
            compute(OperationKind::forward, layer,
                    gpu_operation({kernels(layer).forward},
                                  {checkpoint(layer), buffers_.hidden, forward_temporaries()}));
        }
    }

    void loss() {
        const OperationId done = compute(
            OperationKind::loss, layers_,
            gpu_operation({loss_}, {buffers_.hidden, buffers_.loss_logits, buffers_.loss_norms}));
        collect(layers_, model_.tied_embeddings ? hidden_bytes(model_) : head_bytes(model_), done);
    }

    /// Gradients leave into a slab; one host thread copies them into new tensors and frees the
    /// slab.
    OperationId collect(int layer, double bytes, OperationId after) {
        Dependencies waits = {{after}};
        const bool of_layer = layer >= 0 && layer < layers_;
        const auto pool = static_cast<std::size_t>(megatrain_slabs(pass_));
        if (of_layer && slab_freed_.size() >= pool)
            waits.push_back({slab_freed_[slab_freed_.size() - pool]});
        const OperationId out = build_.add(OperationKind::copy_gradients_out, layer,
                                           std::move(waits), copy_operation(bytes));
        const OperationId freed = build_.add(
            OperationKind::collect_gradients, layer, {{out}},
            is_first() ? host_operation(HostWork::first_touch, bytes, {gradients_})
                       : host_operation(HostWork::eager_adam, kAddTraffic * bytes, {gradients_}));
        if (of_layer) slab_freed_.push_back(freed);
        last_collected_ = freed;
        return out;
    }

    void backward_block(int begin, int end) {
        const bool inputs_are_kept = fork_of(training_) >= Fork::store;
        for (int layer = begin; layer < end && !inputs_are_kept; ++layer) {
            load_layer(layer);
            compute(OperationKind::forward, layer,
                    gpu_operation({kernels(layer).forward},
                                  {checkpoint(layer), buffers_.hidden, buffers_.recomputed,
                                   buffers_.table_gradient, forward_temporaries()}));
        }
        for (int layer = end - 1; layer >= begin; --layer) {
            load_layer(layer);
            const OperationId done =
                compute(OperationKind::backward, layer,
                        gpu_operation({kernels(layer).forward, kernels(layer).backward},
                                      {checkpoint(layer), buffers_.hidden, buffers_.recomputed,
                                       buffers_.table_gradient, backward_temporaries()}));
            gradients_left_[slot_of(layer)] = collect(layer, layer_bytes(layer), done);
        }
    }

    void embedding_backward() {
        const OperationId done = compute(
            OperationKind::embedding_backward, kEmbeddingLayer,
            gpu_operation({embedding_},
                          {buffers_.hidden, buffers_.table_gradient, buffers_.embedding_gradient}));
        collect(kEmbeddingLayer, embedding_bytes(model_), done);
    }

    void optimize() override {
        const double all = all_parameters(model_);
        build_.add(OperationKind::clip_gradients, kEmbeddingLayer, {{last_collected_}},
                   host_operation(HostWork::norm_and_scale, kBf16 * all));
        build_.add(OperationKind::update, kEmbeddingLayer, {},
                   host_operation(HostWork::eager_adam, kEagerAdamTraffic * all));
        double layers = 0;
        for (int layer = 0; layer < layers_; ++layer) layers += layer_bytes(layer);
        const OperationId copied = build_.add(OperationKind::copy_to_pinned, kEmbeddingLayer, {},
                                              host_operation(HostWork::copy, layers));
        Operation upload = copy_operation(embedding_bytes(model_) +
                                          (model_.tied_embeddings ? 0 : head_bytes(model_)));
        upload.pageable = true;
        const OperationId uploaded = build_.add(OperationKind::copy_weights_in, kEmbeddingLayer,
                                                {{copied}}, std::move(upload));
        const OperationId zeroed =
            build_.add(OperationKind::zero_gradients, kEmbeddingLayer, {{uploaded}},
                       host_operation(HostWork::zero_and_release, kBf16 * all, {gradients_}));
        build_.wait(first_in_, {zeroed, true});
        if (is_fork()) build_.wait(first_flat_, {zeroed, true});
    }

    std::vector<KindKernels> kinds_;
    std::int32_t loss_ = 0, embedding_ = 0;
    MegaTrainBuffers buffers_;        ///< of this micro-batch
    BufferId gradients_ = kNoBuffer;  ///< on the host
    const int slots_;
    PythonThread python_;  ///< of a fork
    // For each buffer: the last use of its content, the gradients of its template, its last copy.
    std::array<OperationId, kMostMegaTrainSlots> unflattened_{-1, -1, -1},
        gradients_left_{-1, -1, -1}, arrived_of_{-1, -1, -1};
    OperationId arrived_ = -1, first_flat_ = -1;
    std::vector<OperationId> slab_freed_;
    OperationId first_in_ = -1, last_collected_ = -1, host_waits_for_ = -1;
};

/// The phases that it times itself; the copy to pinned memory includes the upload of embedding and
/// head after it.
std::vector<Phase> megatrain_phases() {
    using At = StepMark::At;
    const auto start = [](OperationKind kind) { return StepMark{At::first_start, kind}; };
    const auto all_of = [&](const char* name, OperationKind kind) {
        return Phase{name, start(kind), {At::first_end, kind}};
    };
    return {{"forward_backward", {At::zero}, start(OperationKind::clip_gradients)},
            all_of("clip_grad_norm", OperationKind::clip_gradients),
            all_of("adam", OperationKind::update),
            {"copy_to_pinned", start(OperationKind::copy_to_pinned),
             start(OperationKind::zero_gradients)},
            all_of("zero_grad", OperationKind::zero_gradients)};
}

/// Its only try of experts on an AMD GPU (gpt-oss-120b) did not start.
std::string missing_in_megatrain(const ModelSpec& model, std::string_view gpu_maker) {
    const auto has_experts = [](const LayerSpec& layer) { return layer.feed_forward.experts > 0; };
    return gpu_maker == "AMD" && std::ranges::any_of(model.kinds, has_experts)
               ? "known run of a mixture of experts on AMD GPUs"
               : "";
}

}  // namespace

ScheduleRecord megatrain_schedule() {
    return {.name = "megatrain",
            .about =
                "Layers pass through the GPU and a bf16 master stays on the host; Python "
                "between the layers costs time.",
            .measured_system = "MegaTrain",
            .plan = plan_of<MegaTrain>,
            .options = {"host_gradient_slabs", "attention"},
            .own_options = {number_option<&MegaTrainOptions::checkpoint_interval>(
                                {OptionGroup::system, "state_bytes"}, "checkpoint_interval",
                                "layers", 1, 10'000, "layers between checkpoints")
                                .varied_over({1, 2, 4, 8}),
                            choice_option<&MegaTrainOptions::fork>(
                                {OptionGroup::system, "state_bytes"}, "fork",
                                {{"none", Fork::none},
                                 {"flatten", Fork::flatten},
                                 {"store", Fork::store},
                                 {"views", Fork::views}},
                                "changes of MegaTrain-Plus, each with those before",
                                "MegaTrain-Plus: gathers weights before each copy, keeps all "
                                "layers' inputs, computes on views of the buffers; each with "
                                "those before"),
                            number_option<&MegaTrainOptions::flash_loss>(
                                {OptionGroup::system, "state_bytes"}, "flash_loss", "", 0, 1,
                                "1: flash-attn's cross-entropy",
                                "1: use flash-attn's cross-entropy, as MegaTrain does if that "
                                "library is installed")
                                .varied_over({0, 1})},
            .program = {.name = "MegaTrain",
                        .gpu_makers = {"NVIDIA", "AMD"},
                        .lacks = missing_in_megatrain,
                        .source = "github:DLYuanGod/MegaTrain@919520f; AMD: logs of dense models "
                                  "on an MI355X, github:chinmaydk99/MegaTrain@69d5ab61",
                        .date = "2026-11-23"},
            .master_bytes = 2,
            .users_run = {{"checkpoint_interval", "4"}},  // infinity/config/training.py
            .structural_error = kErrorOffloading,
            .phases = megatrain_phases()};
}

}  // namespace sluice
