// SlideFormer (from reading github.com/RegiaYoung/SlideFormer at 062322f and its form as a plugin
// of Megatron-LM-FL at 0eb0b62, docs/user-guide/slideformer_megatron_fl.md): fp32 masters and
// moments in host memory, two layers at a time on the GPU, fused kernels (RMSNorm, rotary, SwiGLU,
// linear layer with cross-entropy) and FlashAttention-2. A step:
//
// Forward: a layer's masters become bf16 in one staging buffer of host memory, arrive in one of two
// slots, and its input leaves for host memory. A tied table has a slot of its own and arrives once.
//
// Backward: weights and input arrive again. All but the last product of the layer is computed
// again. Its gradients leave as a whole into one of two host buffers, and the CPU's Adam updates
// the layer while the GPU goes on. The next step's conversion of a layer waits for its update. The
// source takes a batch as one micro-batch; of several, the last one's gradients are the sums.
#include <algorithm>

#include "sim/plan/schedules/pytorch.h"

namespace sluice {
namespace {

// Conversion from fp32 to bf16: HostWork::copy counts a byte read and written as one.
constexpr double kToBf16 = (kFp32 + kBf16) / 2.0;
constexpr std::int64_t kSlots = 2;  // of weights on the device, of gradients on both sides
constexpr std::int64_t kLossTokens = 4096;

class SlideFormer : public MicroBatchStep {
  public:
    SlideFormer(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& training)
        : MicroBatchStep(model, machine, training, KernelStyle::fused, 0) {}

  private:
    void declare() override {
        const TokenBlock block = pass_.batch_block();
        for (const LayerSpec& kind : model_.kinds) {
            forward_.push_back(
                build_.kernels(forward_kernels(model_, kind, block, KernelStyle::fused)));
            KernelList backward = recompute_kernels(model_, kind, block, Recompute::full);
            for (const Kernel& kernel : backward_kernels(model_, kind, block, KernelStyle::fused))
                backward.push_back(kernel);
            backward_.push_back(build_.kernels(std::move(backward)));
        }
        const double input = input_bytes(model_, pass_);
        embedding_ = build_.kernels({memory_bound("embedding", 2 * input)});
        embedding_backward_ = build_.kernels({embedding_gradient_kernel(model_, pass_)});
        loss_ = build_.kernels(loss_kernels(model_, block, kLossTokens, KernelStyle::fused));
        declare_memory();
    }
    double table() const { return static_cast<double>(embedding_parameters(model_)); }
    double head() const { return static_cast<double>(head_parameters(model_)); }
    /// Elements of the embedding (kEmbeddingLayer), a layer, or the head (layers_).
    double elements(int layer) const {
        if (layer == kEmbeddingLayer) return table();
        return layer == layers_ ? head() : parameters_of_layer(model_, layer);
    }

    void declare_memory() {
        double largest = static_cast<double>(largest_layer_parameters(model_));
        if (!model_.tied_embeddings) largest = std::max({largest, table(), head()});
        const double resident = model_.tied_embeddings ? table() : 0;
        const double slots = static_cast<double>(kSlots) * largest;
        build_.on_device("weights of two layers", Kind::weights, kBf16 * slots);
        build_.on_device("tied table", Kind::weights, kBf16 * resident);
        build_.on_device("gradients of two layers", Kind::gradients, kBf16 * slots);
        build_.on_device("tied table's gradient", Kind::gradients, kBf16 * resident);
        build_.on_device("layer inputs in flight", Kind::checkpoints,
                         kSlots * input_bytes(model_, pass_));
        build_.on_device("cuBLAS workspaces", Kind::workspace, kBlasWorkspaces);
        const double all = all_parameters(model_);
        declare_processes(machine_, 1, build_);
        build_.on_host("fp32 masters and moments", Kind::optimizer_state, 3 * kFp32 * all);
        build_.on_host("gradients of two layers", Kind::gradients, kBf16 * slots);
        build_.on_host("bf16 weights to send", Kind::pinned_buffers, kBf16 * largest);
        build_.on_host("layer inputs", Kind::checkpoints,
                       static_cast<double>(layers_) * input_bytes(model_, pass_));
    }

    /// Holds what a layer keeps from its second forward to its backward, and a product's gradients.
    BufferId activations(int layer) {
        const LayerSpec& spec = model_.layer(layer);
        const double width = kBf16 * width_of_token(spec.feed_forward);
        // SwiGLU's kernel keeps gate and up alone, and writes their gradients over them.
        return build_.device_buffer("activations", Kind::activations,
                                    tokens(pass_) * (saved_bytes_per_token(model_, spec).saved +
                                                     (spec.feed_forward.gated ? 0 : 1) * width));
    }

    /// Masters become bf16 and arrive in a slot, which is free when `before` has ended.
    OperationId arrive(int layer, OperationId before) {
        const OperationId ready =
            build_.add(OperationKind::flatten_weights, Work::host, layer, {{sent_}},
                       host_operation(HostWork::copy, kToBf16 * elements(layer)));
        conversions_.push_back({layer, ready});
        sent_ = build_.add(OperationKind::copy_weights_in, layer, {{ready}, {before}},
                           copy_operation(kBf16 * elements(layer)));
        return sent_;
    }

    OperationId compute(OperationKind kind, int layer, Dependencies waits, Operation work) {
        before_ = last_;
        last_ = build_.add(kind, layer, std::move(waits), std::move(work));
        return last_;
    }

    void pass() override {
        const OperationId table_in = arrive(kEmbeddingLayer, before_);
        for (int layer = 0; layer < layers_; ++layer) {
            const OperationId in = arrive(layer, before_);
            Operation work = gpu_operation({forward_[kind_of(model_, layer)]});
            if (layer == 0) work.kernels.push_front(embedding_);
            const OperationId done = compute(OperationKind::forward, layer,
                                             {{in}, {layer == 0 ? table_in : -1}}, std::move(work));
            build_.add(OperationKind::copy_checkpoint_out, layer, {{done}},
                       copy_operation(input_bytes(model_, pass_)));
        }
        const OperationId head_in = arrive(layers_, before_);
        compute(OperationKind::loss, layers_, {{head_in}},
                gpu_operation({loss_},
                              {build_.device_buffer("logits of a chunk", Kind::loss,
                                                    kLossTokens * (kFp32 + kBf16) *
                                                        static_cast<double>(model_.vocabulary))}));
        update(layers_, last_);
        for (int layer = layers_ - 1; layer >= 0; --layer) backward(layer);
        compute(OperationKind::embedding_backward, kEmbeddingLayer, {},
                gpu_operation({embedding_backward_}));
        update(kEmbeddingLayer, last_);
    }

    void backward(int layer) {
        const OperationId in = arrive(layer, before_);
        const OperationId input = build_.add(OperationKind::copy_checkpoint_in, layer, {{before_}},
                                             copy_operation(input_bytes(model_, pass_)));
        compute(OperationKind::backward, layer, {{in}, {input}},
                gpu_operation({backward_[kind_of(model_, layer)]}, {activations(layer)}));
        update(layer, last_);
    }

    /// Gradients leave for one of two host buffers; then the CPU updates.
    void update(int layer, OperationId computed) {
        const std::size_t slots = static_cast<std::size_t>(kSlots);
        const OperationId free =
            updates_.size() >= slots ? updates_[updates_.size() - slots].operation : -1;
        const OperationId out =
            build_.add(OperationKind::copy_gradients_out, layer, {{computed}, {free}},
                       copy_operation(kBf16 * elements(layer)));
        if (!is_last()) return;
        updates_.push_back(
            {layer, build_.add(OperationKind::update, layer, {{out}},
                               host_operation(HostWork::adam,
                                              adam_traffic(3 * kFp32) * elements(layer)))});
    }

    void optimize() override {
        for (const LayerOperation& updated : updates_)
            for (const LayerOperation& conversion : conversions_)
                if (conversion.layer == updated.layer) {
                    build_.wait(conversion.operation, {updated.operation, true});
                    break;
                }
    }

    void finish() override {
        const Bytes host = build_.host_peak();
        build_.host_moments({host, "plus the file's pages"}, {host}, {host}, {host});
    }

    struct LayerOperation {
        int layer;
        OperationId operation;
    };

    std::vector<std::int32_t> forward_, backward_;  ///< kernels of each kind of layer
    std::int32_t embedding_ = 0, embedding_backward_ = 0, loss_ = 0;
    OperationId before_ = -1, last_ = -1;  ///< the last two of the compute lane
    OperationId sent_ = -1;                ///< the last copy of weights
    std::vector<LayerOperation> conversions_, updates_;
};

/// Its page says that no mixture of experts was run.
std::string missing_in_slideformer(const ModelSpec& model, std::string_view) {
    const auto has_experts = [](const LayerSpec& layer) { return layer.feed_forward.experts > 0; };
    return std::ranges::any_of(model.kinds, has_experts) ? "mixture of experts" : "";
}

}  // namespace

ScheduleRecord slideformer_schedule() {
    return {
        .name = "slideformer",
        .about =
            "Two layers are on the GPU at a time, and the host updates each during backward; it "
            "needs little device memory.",
        .measured_system = "SlideFormer",
        .plan =
            [](const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& training) {
                TrainingSpec asked = training;
                if (asked.attention == AttentionKernel::own)
                    asked.attention = AttentionKernel::flash2;
                return SlideFormer(model, machine, asked).plan();
            },
        .options = {"attention"},
        .program = {.name = "SlideFormer",
                    .gpu_makers = {"NVIDIA"},
                    .lacks = missing_in_slideformer,
                    .source = "github:RegiaYoung/SlideFormer@062322f",
                    .date = "2026-11-25"},
        .users_run = {},  // they choose the batch alone (README.md)
        .structural_error = kErrorOffloading,
        .phases = plain_phases()};
}

}  // namespace sluice
