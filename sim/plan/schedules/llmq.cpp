// LLMQ, a trainer in CUDA C++ (from reading github.com/IST-DASLab/llmq at b77d969: llama_model.cpp,
// llama_run_state.cpp, llama_weights.cpp, adamw_optimizer.cpp). Parameters, gradients and moments
// are bf16, 8 bytes a parameter, in device memory; with moments on the host, two layers of them
// pass the device at a time. All buffers exist during the whole run. A step:
//
// Micro-batches: forward, then all of the head, then backward, in CUDA graphs. The first
// micro-batch's gradients are written, the others are added in bf16.
//
// Optimizer: the norm of all gradients, then AdamW of embedding, layers and head, which also scales
// the gradients.
#include <algorithm>
#include <array>

#include "sim/plan/runs_today.h"
#include "sim/plan/schedules/llmq_kernels.h"
#include "sim/plan/schedules/pytorch.h"

namespace sluice {
namespace {

// Bytes of device memory per element. Norm of a gradient: read. AdamW: parameter and both moments
// read and written, gradient read.
constexpr double kBf16NormTraffic = kBf16, kBf16AdamTraffic = 7 * kBf16;
// Rate of its AdamW over a device copy's: 44 ms for 7.6 B parameters on an H200
// (validation/llmq-h200.json).
constexpr double kAdamShare = 0.56;
// Device bytes of CUDA graphs, NCCL and cuDNN in addition to a process with the device loaded.
constexpr double kLibraries = 0.9e9;

class Llmq : public MicroBatchStep {
  public:
    Llmq(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& training)
        : MicroBatchStep(model, machine, training, KernelStyle::fused, 0),
          fp8_(training.compute == Compute::fp8),
          moments_on_host_(training.moments == MomentPlacement::host) {}

  private:
    struct LayerKernels {
        std::int32_t cast_weights, forward;
        std::array<std::int32_t, 2> backward;  ///< of the first and of later micro-batches
    };

    void declare_kernels() {
        const LlmqKernels kernels(model_, pass_);
        for (const LayerSpec& kind : model_.kinds)
            kinds_.push_back({build_.kernels(kernels.cast_weights(kind)),
                              build_.kernels(kernels.forward(kind)),
                              {build_.kernels(kernels.backward(kind, false)),
                               build_.kernels(kernels.backward(kind, true))}});
        head_ = {build_.kernels(kernels.head(false)), build_.kernels(kernels.head(true))};
        const double input = input_bytes(model_, pass_);
        embedding_ = build_.kernels({memory_bound("embedding", 2 * input)});
        embedding_backward_ =
            build_.kernels({memory_bound("embedding backward", kAddTraffic * input)});
    }
    const LayerKernels& kernels_of(int layer) const { return kinds_[kind_of(model_, layer)]; }

    struct PerToken {
        double hidden, attention, qkv, width, statistics;  ///< elements; statistics in bytes
    };
    PerToken per_token(const LayerSpec& kind) const {
        const AttentionSpec& a = kind.attention;
        return {static_cast<double>(model_.hidden), static_cast<double>(a.output_width()),
                static_cast<double>(a.qkv_width()), width_of_token(kind.feed_forward),
                static_cast<double>(kFp32 * (a.heads + kind.norms))};
    }
    /// What a layer keeps of a token in addition to its input, and what all layers share of it.
    std::pair<double, double> activation_bytes(const LayerSpec& kind) const {
        const PerToken t = per_token(kind);
        const double input = fp8_ ? 1 : kBf16;  // of a product
        const double attention = kBf16 * (t.qkv + t.attention + t.hidden),
                     norms = 2 * input * t.hidden, product = input * t.width,
                     gate_up = 2 * kBf16 * t.width;
        const double codes = fp8_ ? t.attention + t.hidden + t.qkv : 0,
                     in_bf16 = fp8_ ? kBf16 * (t.hidden + t.width) : 0;
        switch (training_.recompute) {
            case Recompute::none:
                return {attention + norms + product + gate_up + t.statistics, codes + in_bf16};
            case Recompute::keep_attention:
                return {attention + t.statistics, codes + in_bf16 + norms + product + gate_up};
            case Recompute::full:
                break;
        }
        return {t.statistics, codes + in_bf16 + attention + norms + product + gate_up};
    }

    void declare_activations() {
        const double all = tokens(pass_), input = input_bytes(model_, pass_);
        double kept = 0, shared = 0, backward = 0;
        for (int layer = 0; layer < layers_; ++layer) {
            const LayerSpec& kind = model_.layer(layer);
            const auto [own, common] = activation_bytes(kind);
            const PerToken t = per_token(kind);
            kept += all * own;
            shared = std::max(shared, all * common);
            // The gradient of the product; in FP8 the codes of gate's and up's, in both orders.
            backward = std::max(backward, all * (fp8_ ? 4 * t.width + t.hidden : kBf16 * t.width));
        }
        build_.on_device("kept activations", Kind::activations, kept);
        build_.on_device("activations of one layer", Kind::activations, shared);
        // Embedded tokens, last norm, and the gradients of the residual, of that norm and of the
        // embedded tokens.
        build_.on_device("first and last hidden state, and gradients", Kind::activations,
                         5 * input);
        const bool on_host = host_checkpoints(training_);
        build_.on_device("layer inputs", Kind::checkpoints, (on_host ? 2 : layers_) * input);
        if (on_host) build_.on_host("layer inputs", Kind::checkpoints, layers_ * input);
        const double logits =
            static_cast<double>(std::min(pass_.tokens(), training_.loss_chunk_tokens)) *
            static_cast<double>(model_.vocabulary) * kBf16;
        const double moments = moments_on_host_ ? 2 * largest_layer_bytes(model_) * 2 : 0;
        build_.on_device("stack of temporaries", Kind::workspace,
                         std::max({logits, backward, moments}));
    }

    void declare() override {
        declare_kernels();
        const double all = all_parameters(model_);
        build_.on_host("process", Kind::process, static_cast<double>(machine_.host.process_base));
        build_.on_device("libraries", Kind::workspace, kLibraries);
        build_.on_device("bf16 parameters", Kind::weights, kBf16 * all);
        if (fp8_) {
            const auto tables =
                static_cast<double>(embedding_parameters(model_) + head_parameters(model_));
            build_.on_device("FP8 weights of layers", Kind::weights, all - tables);
        }
        build_.on_device("bf16 gradients", Kind::gradients, kBf16 * all);
        build_.standing("bf16 moments", Kind::optimizer_state,
                        moments_on_host_ ? Tier::host : Tier::device, 2 * kBf16 * all);
        declare_activations();
    }

    void pass() override {
        std::vector<OperationId> out;  // of layer inputs
        for (int layer = 0; layer < layers_; ++layer) {
            Operation work = gpu_operation({kernels_of(layer).forward});
            if (is_first())
                work.kernels.insert(work.kernels.begin(), kernels_of(layer).cast_weights);
            if (layer == 0) work.kernels.insert(work.kernels.begin(), embedding_);
            // A slot for two layers' inputs is free when the earlier one has left.
            const OperationId free = host_checkpoints(training_) && layer > 1 ? out[layer - 2] : -1;
            const OperationId done =
                build_.add(OperationKind::forward, layer, {{free}}, std::move(work));
            if (host_checkpoints(training_))
                out.push_back(build_.add(OperationKind::copy_checkpoint_out, layer, {{done}},
                                         copy_operation(input_bytes(model_, pass_))));
        }
        OperationId later = build_.add(OperationKind::loss, layers_, {},
                                       gpu_operation({head_[is_first() ? 0 : 1]}));
        OperationId last = later;
        for (int layer = layers_ - 1; layer >= 0; --layer) {
            // The last two inputs are still there.
            OperationId in = -1;
            if (host_checkpoints(training_) && layer < layers_ - 2)
                in = build_.add(OperationKind::copy_checkpoint_in, layer, {{later}, {out[layer]}},
                                copy_operation(input_bytes(model_, pass_)));
            later = std::exchange(
                last, build_.add(OperationKind::backward, layer, {{in}},
                                 gpu_operation({kernels_of(layer).backward[is_first() ? 0 : 1]})));
        }
        build_.add(OperationKind::embedding_backward, kEmbeddingLayer, {},
                   gpu_operation({embedding_backward_}));
        last_ = build_.next() - 1;
    }

    Operation update(double parameters) {
        return gpu_operation(
            {build_.kernels({memory_bound("AdamW", kBf16AdamTraffic / kAdamShare * parameters)})});
    }
    Operation moments(double parameters) const { return copy_operation(2 * kBf16 * parameters); }
    /// AdamW on moments that wait on the host: into one of two slots, and back.
    void update_layer(int layer) {
        const double parameters = parameters_of_layer(model_, layer);
        const std::size_t slot = static_cast<std::size_t>(layer % 2);
        const OperationId in =
            build_.add(OperationKind::read_states, Lane::host_to_device, layer,
                       {{stored_[slot] < 0 ? last_ : stored_[slot]}}, moments(parameters));
        const OperationId updated =
            build_.add(OperationKind::update, Lane::compute, layer, {{in}}, update(parameters));
        stored_[slot] = build_.add(OperationKind::write_states, Lane::device_to_host, layer,
                                   {{updated}}, moments(parameters));
    }
    /// The kernel reads and writes moments of the tables in host memory.
    void update_table(int layer, double parameters) {
        std::vector<Dependency> moved;
        const Dependency start{build_.next() - 1};
        if (moments_on_host_) {
            moved = {{build_.add(OperationKind::read_states, Lane::host_to_device, layer, {start},
                                 moments(parameters))},
                     {build_.add(OperationKind::write_states, Lane::device_to_host, layer, {start},
                                 moments(parameters))}};
        }
        build_.add(OperationKind::update, Lane::compute, layer, std::move(moved),
                   update(parameters));
    }

    void optimize() override {
        const double all = all_parameters(model_);
        build_.add(OperationKind::clip_gradients, Lane::compute, kEmbeddingLayer, {},
                   gpu_operation({build_.kernels({memory_bound("norm", kBf16NormTraffic * all)})}));
        update_table(kEmbeddingLayer, static_cast<double>(embedding_parameters(model_)));
        for (int layer = 0; layer < layers_; ++layer) {
            if (moments_on_host_)
                update_layer(layer);
            else
                build_.add(OperationKind::update, Lane::compute, layer, {},
                           update(parameters_of_layer(model_, layer)));
        }
        update_table(layers_, static_cast<double>(head_parameters(model_)));
    }

    void finish() override {
        build_.assume("LLMQ's kernels between the products are as fast as those of sluice-train");
        build_.assume(
            "LLMQ's AdamW on the GPU reaches 0.56 of a device copy's rate, as on the measured "
            "H200");
        const Bytes host = build_.host_peak();
        build_.host_moments({host, "plus the file's pages"}, {host}, {host}, {host});
    }

    const bool fp8_, moments_on_host_;
    std::vector<LayerKernels> kinds_;
    std::array<std::int32_t, 2> head_{};  ///< of the first and of later micro-batches
    std::int32_t embedding_ = 0, embedding_backward_ = 0;
    OperationId last_ = -1;                      ///< of backward
    std::array<OperationId, 2> stored_{-1, -1};  ///< the last copy out of a slot of moments
};

/// Llama and Qwen2 models: no norms of heads either.
std::string lacks(const ModelSpec& model, std::string_view maker) {
    for (const LayerSpec& layer : model.kinds)
        if (layer.attention.qk_norm) return "norms of queries and keys";
    return missing_in_trainer(model, maker);
}

}  // namespace

ScheduleRecord llmq_schedule() {
    return {.name = "llmq",
            .measured_system = "LLMQ",
            .plan = plan_of<Llmq>,
            .options = {"compute", "recompute", "checkpoints", "moments", "loss_chunk_tokens"},
            .program = {.name = "LLMQ",
                        .gpu_makers = {"NVIDIA"},
                        .lacks = lacks,
                        .source = "github:IST-DASLab/llmq@b77d969",
                        .date = "2026-11-23"},
            .master_bytes = 2,
            .moments_bytes = 4,
            .structural_error = kErrorOnDevice,
            .phases = plain_phases()};
}

}  // namespace sluice
