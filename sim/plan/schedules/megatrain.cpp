// MegaTrain's schedule, from reading its public code (DLYuanGod/MegaTrain, commit 919520f,
// infinity/model/cpu_master.py and examples/sft/train.py). One step:
//   forward   without gradients: each layer's flat weights arrive in one of two buffers and are
//   copied ("unflattened")
//             into one of two layer templates; every 4th layer input is kept.
//   loss      in pieces of 128 positions, but the pieces' log-softmax outputs all stay alive until
//   its backward. backward  block by block of 4 layers: weights again and forward again to restore
//   inputs; then from the block's last
//             layer: weights a third time, forward with gradients, backward; gradients leave into
//             one of 12 pinned slabs, and one host thread copies them into freshly allocated
//             gradient tensors.
//   tail      on the main thread, one after another: clip_grad_norm_, CPU Adam on bf16 masters with
//   fp32 moments, copy
//             of all weights to the pinned flats, upload of embedding and head from pageable
//             memory, zero_grad.
// Memory is what PyTorch allocates: pinned tensors rounded up to powers of two, gradients released
// after the step.
#include <algorithm>
#include <bit>
#include <cmath>

#include "sim/plan/plan_builder.h"
#include "sim/plan/schedules/schedules.h"

namespace sluice {
namespace {

constexpr std::int64_t kLossPiecePositions = 128;
constexpr std::int64_t kDefaultSlabs = 12;
constexpr int kBuffers = 2;
constexpr double kPythonModules =
    0.65e9;  // PyTorch's eager kernels, transformers and DeepSpeed, beyond libtorch: estimated
constexpr double kLargestHeapBlock =
    32.0 * kMiB;  // glibc returns larger blocks to the system, keeps smaller ones
constexpr double kEagerAdamTraffic =
    22;  // bf16 gradient and weight read, weight written, both fp32 moments read and written

/// PyTorch's pinned allocator rounds up to a power of two (pytorch #95823).
double pinned(double bytes) {
    return static_cast<double>(std::bit_ceil(static_cast<std::uint64_t>(std::ceil(bytes))));
}

class MegaTrain {
  public:
    MegaTrain(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& training)
        : model_(model),
          machine_(machine),
          t_(training),
          layers_(model.layer_count()),
          tokens_(static_cast<double>(training.tokens())),
          hidden_bytes_(static_cast<double>(model.hidden) * kBf16),
          build_(KernelStyle::eager) {}

    StepPlan plan() {
        prepare_kernels();
        declare_host_memory();
        declare_device_memory();
        forward();
        loss();
        const int interval = static_cast<int>(t_.checkpoint_interval);
        for (int block = (layers_ - 1) / interval; block >= 0; --block) {
            backward_block(block * interval, std::min((block + 1) * interval, layers_));
        }
        embedding_backward();
        tail();
        host_moments();
        return build_.finish(std::vector<LayerPlacement>(static_cast<std::size_t>(layers_)));
    }

  private:
    struct KindKernels {
        std::int32_t unflatten, forward, backward;
    };
    double parameters(int layer) const {
        return static_cast<double>(layer_parameters(model_, model_.layer(layer)));
    }
    double largest() const { return static_cast<double>(largest_layer_parameters(model_)); }
    double all_parameters() const { return static_cast<double>(total_parameters(model_)); }
    double table_bytes() const { return static_cast<double>(model_.vocabulary) * hidden_bytes_; }
    double head_bytes() const { return static_cast<double>(head_parameters(model_)) * kBf16; }
    double embedding_bytes() const {
        return static_cast<double>(embedding_parameters(model_)) * kBf16;
    }
    std::int64_t slabs() const {
        return t_.host_gradient_slabs == 0 ? kDefaultSlabs : t_.host_gradient_slabs;
    }
    const KindKernels& kernels(int layer) const {
        return kinds_[static_cast<std::size_t>(model_.layers[static_cast<std::size_t>(layer)])];
    }

    void prepare_kernels() {
        const TokenBlock block = t_.batch_block();
        for (const LayerSpec& kind : model_.kinds) {
            const double params = static_cast<double>(layer_parameters(model_, kind));
            const auto tensors = static_cast<std::int64_t>(layer_tensors(model_, kind).size());
            kinds_.push_back(
                {build_.kernels({memory_bound("unflatten", 2 * kBf16 * params, tensors)}),
                 build_.kernels(forward_kernels(model_, kind, block, KernelStyle::eager)),
                 build_.kernels(backward_kernels(model_, kind, block, KernelStyle::eager))});
        }
        loss_ = build_.kernels(
            loss_kernels(model_, block, t_.batch * kLossPiecePositions, KernelStyle::eager));
        // The table's gradient is zeroed, then each token's gradient is added to its row.
        embedding_ = build_.kernels(
            {memory_bound("embedding backward", table_bytes() + 3 * tokens_ * hidden_bytes_, 2)});
    }

    void declare_host_memory() {
        build_.standing("process", MemoryKind::process, Tier::host,
                        static_cast<double>(machine_.host.process_base));
        build_.standing("bf16 masters", MemoryKind::weights, Tier::host, kBf16 * all_parameters());
        build_.standing("fp32 moments", MemoryKind::optimizer_state, Tier::host,
                        2 * kFp32 * all_parameters());
        double flats = 0;
        for (int layer = 0; layer < layers_; ++layer) flats += pinned(kBf16 * parameters(layer));
        build_.standing("pinned flat weights", MemoryKind::pinned_buffers, Tier::host, flats);
        build_.standing("pinned staging", MemoryKind::pinned_buffers, Tier::host,
                        kBuffers * pinned(kBf16 * largest()));
        build_.standing("pinned gradient slabs", MemoryKind::pinned_buffers, Tier::host,
                        static_cast<double>(slabs()) * pinned(kBf16 * largest()) +
                            pinned(head_bytes()) + pinned(embedding_bytes()));
        build_.standing("Python modules", MemoryKind::process, Tier::host, kPythonModules);
        gradients_ =
            build_.buffer("gradients", MemoryKind::gradients, Tier::host, kBf16 * all_parameters());
    }

    void declare_device_memory() {
        double templates = 0;
        for (const LayerSpec& kind : model_.kinds)
            templates += kBuffers * kBf16 * static_cast<double>(layer_parameters(model_, kind));
        build_.standing("weight buffers", MemoryKind::weights, Tier::device,
                        kBuffers * kBf16 * largest());
        build_.standing("layer templates", MemoryKind::weights, Tier::device, templates);
        build_.standing("embedding and head", MemoryKind::weights, Tier::device,
                        embedding_bytes() + head_bytes());
        const double input = tokens_ * hidden_bytes_;
        for (int layer = 0; layer < layers_; layer += static_cast<int>(t_.checkpoint_interval)) {
            checkpoints_.push_back(
                build_.buffer("layer input", MemoryKind::checkpoints, Tier::device, input));
        }
        hidden_ = build_.buffer("hidden state, then its gradient", MemoryKind::checkpoints,
                                Tier::device, input);
        declare_loss_memory(input);
        recomputed_ = build_.buffer(
            "restored inputs of a block", MemoryKind::activations, Tier::device,
            static_cast<double>(std::min<std::int64_t>(t_.checkpoint_interval, layers_)) * input);
        embedding_gradient_ = build_.buffer("embedding gradient", MemoryKind::gradients,
                                            Tier::device, embedding_bytes() + input);
    }

    /// All pieces' log-softmax outputs, plus at the start of their backward: the last piece's
    /// logits (a variable still refers to them), the gradient of nll and that of log-softmax. The
    /// final norm ran twice under autograd: the run in forward keeps the normed state before and
    /// after its weight, the run for the loss also the fp32 input; the pieces of the hidden state
    /// are contiguous copies. From the second piece on the head's gradient is there, and while one
    /// more is added to it, twice.
    void declare_loss_memory(double input) {
        const double vocabulary_bytes = static_cast<double>(model_.vocabulary) * kBf16;
        const double piece =
            static_cast<double>(t_.batch * std::min(kLossPiecePositions, t_.sequence)) *
            vocabulary_bytes;
        const double positions =
            static_cast<double>(t_.sequence - 1) / static_cast<double>(t_.sequence);
        const double outputs = tokens_ * positions * vocabulary_bytes;
        const double head =
            static_cast<double>(t_.sequence > kLossPiecePositions ? 2 : 1) * table_bytes();
        const double logits = outputs + std::max({3 * piece, 2 * piece + head / 2, head});
        loss_logits_ =
            build_.buffer("logits of all pieces", MemoryKind::loss, Tier::device, logits);
        loss_norms_ = build_.buffer("final norm under autograd, twice", MemoryKind::loss,
                                    Tier::device, 7 * input);
    }

    double width_bytes() const {
        double width = 0;
        for (const LayerSpec& kind : model_.kinds) {
            const FeedForwardSpec& f = kind.feed_forward;
            const std::int64_t used =
                f.experts > 0 ? f.intermediate * f.experts_per_token + f.shared_intermediate
                              : f.intermediate;
            width = std::max(width, static_cast<double>(used) * kBf16);
        }
        return width;
    }
    /// Without gradients: input, residual, normed input, and gate, up and their product at once.
    double forward_bytes() const { return 3 * hidden_bytes_ + 3 * width_bytes(); }
    /// Autograd keeps, per layer: both norms' fp32 inputs (2 x 2) and bf16 outputs before the
    /// weight (2), the inputs of qkv and of gate and up (2), q, k, v, attention output and its
    /// contiguous copy (about 4), gate, its SiLU, up and their product (4 widths); backward adds
    /// the gradients of product, SiLU and gate (3 widths) and of the input (2).
    double backward_bytes() const { return 14 * hidden_bytes_ + 7 * width_bytes(); }

    /// PyTorch frees a layer's temporaries when the layer is done, so each run has its own.
    BufferId forward_temporaries() {
        return build_.buffer("forward temporaries", MemoryKind::activations, Tier::device,
                             tokens_ * forward_bytes());
    }
    BufferId backward_temporaries() {
        return build_.buffer("autograd's saved tensors and temporaries", MemoryKind::activations,
                             Tier::device, tokens_ * backward_bytes());
    }

    OperationId add(OperationKind kind, Lane lane, int layer, std::vector<Dependency> waits,
                    Operation op = {}) {
        op.kind = kind;
        op.lane = lane;
        op.layer = layer;
        op.waits_for = std::move(waits);
        return build_.add(std::move(op));
    }

    static Operation link(double bytes) {
        Operation op;
        op.link_bytes = bytes;
        return op;
    }
    static Operation host(HostWork work, double bytes, std::vector<BufferId> uses = {}) {
        Operation op;
        op.host_work = work;
        op.host_bytes = bytes;
        op.uses = std::move(uses);
        return op;
    }
    static Operation gpu(std::vector<std::int32_t> lists, std::vector<BufferId> uses = {}) {
        Operation op;
        op.kernels = std::move(lists);
        op.uses = std::move(uses);
        return op;
    }

    /// Streams a layer into buffer layer % 2 and copies it into that template. The buffer is free
    /// once its last content is unflattened, the template once its last gradients have left.
    void load_layer(int layer) {
        const auto slot = static_cast<std::size_t>(layer % kBuffers);
        std::vector<Dependency> waits;
        if (unflattened_[slot] >= 0) waits.push_back({unflattened_[slot], false});
        const OperationId in = add(OperationKind::copy_weights_in, Lane::host_to_device, layer,
                                   std::move(waits), link(kBf16 * parameters(layer)));
        if (first_in_ < 0) first_in_ = in;
        std::vector<Dependency> template_free = {{in, false}};
        if (gradients_left_[slot] >= 0) template_free.push_back({gradients_left_[slot], false});
        unflattened_[slot] = add(OperationKind::unflatten, Lane::compute, layer,
                                 std::move(template_free), gpu({kernels(layer).unflatten}));
    }

    BufferId checkpoint(int layer) const {
        return checkpoints_[static_cast<std::size_t>(layer / t_.checkpoint_interval)];
    }

    void forward() {
        for (int layer = 0; layer < layers_; ++layer) {
            load_layer(layer);
            add(OperationKind::forward, Lane::compute, layer, {},
                gpu({kernels(layer).forward}, {checkpoint(layer), hidden_, forward_temporaries()}));
        }
    }

    void loss() {
        const OperationId done = add(OperationKind::loss, Lane::compute, layers_, {},
                                     gpu({loss_}, {hidden_, loss_logits_, loss_norms_}));
        collect(layers_, model_.tied_embeddings ? hidden_bytes_ : head_bytes(), done);
    }

    /// Gradients leave into a slab; one host thread copies them into new tensors and frees the
    /// slab.
    OperationId collect(int layer, double bytes, OperationId after) {
        std::vector<Dependency> waits = {{after, false}};
        const bool of_layer = layer >= 0 && layer < layers_;
        const auto pool = static_cast<std::size_t>(slabs());
        if (of_layer && slab_freed_.size() >= pool)
            waits.push_back({slab_freed_[slab_freed_.size() - pool], false});
        const OperationId out = add(OperationKind::copy_gradients_out, Lane::device_to_host, layer,
                                    std::move(waits), link(bytes));
        const OperationId freed =
            add(OperationKind::collect_gradients, Lane::host, layer, {{out, false}},
                host(HostWork::first_touch, bytes, {gradients_}));
        if (of_layer) slab_freed_.push_back(freed);
        last_collected_ = freed;
        return out;
    }

    void backward_block(int begin, int end) {
        for (int layer = begin; layer < end; ++layer) {
            load_layer(layer);
            add(OperationKind::forward, Lane::compute, layer, {},
                gpu({kernels(layer).forward},
                    {checkpoint(layer), hidden_, recomputed_, forward_temporaries()}));
        }
        for (int layer = end - 1; layer >= begin; --layer) {
            load_layer(layer);
            const OperationId done =
                add(OperationKind::backward, Lane::compute, layer, {},
                    gpu({kernels(layer).forward, kernels(layer).backward},
                        {checkpoint(layer), hidden_, recomputed_, backward_temporaries()}));
            gradients_left_[static_cast<std::size_t>(layer % kBuffers)] =
                collect(layer, kBf16 * parameters(layer), done);
        }
    }

    void embedding_backward() {
        const OperationId done =
            add(OperationKind::embedding_backward, Lane::compute, kEmbeddingLayer, {},
                gpu({embedding_}, {hidden_, embedding_gradient_}));
        collect(kEmbeddingLayer, embedding_bytes(), done);
    }

    void tail() {
        const double all = all_parameters();
        add(OperationKind::clip_gradients, Lane::optimizer, kEmbeddingLayer,
            {{last_collected_, false}}, host(HostWork::norm_and_scale, kBf16 * all));
        add(OperationKind::update, Lane::optimizer, kEmbeddingLayer, {},
            host(HostWork::eager_adam, kEagerAdamTraffic * all));
        double layers = 0;
        for (int layer = 0; layer < layers_; ++layer) layers += kBf16 * parameters(layer);
        const OperationId copied = add(OperationKind::copy_to_pinned, Lane::optimizer,
                                       kEmbeddingLayer, {}, host(HostWork::copy, layers));
        Operation upload = link(embedding_bytes() + (model_.tied_embeddings ? 0 : head_bytes()));
        upload.pageable = true;
        const OperationId uploaded = add(OperationKind::copy_weights_in, Lane::host_to_device,
                                         kEmbeddingLayer, {{copied, false}}, std::move(upload));
        const OperationId zeroed =
            add(OperationKind::zero_gradients, Lane::optimizer, kEmbeddingLayer,
                {{uploaded, false}}, host(HostWork::zero_and_release, kBf16 * all, {gradients_}));
        build_.wait(first_in_, {zeroed, true});
    }

    /// Released gradients under 32 MiB stay in the process's heap: measured, 0.45 GB of 5.6 after a
    /// release of 12 layers.
    double gradients_kept_by_malloc() const {
        double kept = 0;
        for (int layer = 0; layer < layers_; ++layer) {
            for (const double tensor : hf_tensor_bytes(model_.layer(layer)))
                kept += tensor < kLargestHeapBlock ? tensor : 0;
        }
        return kept;
    }
    /// Bytes of the layer's tensors as transformers keeps them: q, k, v, o, gate, up, down each
    /// their own.
    std::vector<double> hf_tensor_bytes(const LayerSpec& layer) const {
        const AttentionSpec& a = layer.attention;
        const FeedForwardSpec& f = layer.feed_forward;
        std::vector<double> out = {
            static_cast<double>(a.query_width()), static_cast<double>(a.key_width()),
            static_cast<double>(a.key_width()), static_cast<double>(a.output_width())};
        for (std::int64_t i = 0; i < f.projections() + 1; ++i)
            out.push_back(static_cast<double>(f.intermediate));
        for (double& bytes : out) bytes *= hidden_bytes_;
        return out;
    }

    void host_moments() {
        const Bytes in_step = build_.host_peak();
        const auto released =
            static_cast<Bytes>(kBf16 * all_parameters() - gradients_kept_by_malloc());
        const Bytes between = in_step - released;
        const auto states = static_cast<Bytes>(2 * kFp32 * all_parameters());
        build_.moment(
            "loading", between - states,
            "masters and pinned flats; the file's pages besides, if they are not dropped");
        build_.moment("first step", in_step, "moments appear at the first update");
        build_.moment("steady", in_step, "gradients included; they are released after each step");
        build_.moment("saving", between, "masters are written as they are");
        build_.resident_between_steps(between);
    }

    const ModelSpec& model_;
    const MachineSpec& machine_;
    const TrainingSpec& t_;
    const int layers_;
    const double tokens_, hidden_bytes_;
    PlanBuilder build_;

    std::vector<KindKernels> kinds_;
    std::int32_t loss_ = 0, embedding_ = 0;
    std::vector<BufferId> checkpoints_;
    BufferId hidden_ = 0, loss_logits_ = 0, loss_norms_ = 0, recomputed_ = 0,
             embedding_gradient_ = 0, gradients_ = 0;
    OperationId unflattened_[kBuffers] = {-1, -1}, gradients_left_[kBuffers] = {-1, -1};
    std::vector<OperationId> slab_freed_;
    OperationId first_in_ = -1, last_collected_ = 0;
};

}  // namespace

StepPlan plan_megatrain(const ModelSpec& model, const MachineSpec& machine,
                        const TrainingSpec& training) {
    return MegaTrain(model, machine, training).plan();
}

}  // namespace sluice
