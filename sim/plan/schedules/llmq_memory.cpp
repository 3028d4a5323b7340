#include "sim/plan/schedules/llmq_memory.h"

#include <algorithm>

#include "sim/plan/schedules/pytorch.h"

namespace sluice {
namespace {

using Kind = MemoryKind;

// Device bytes of CUDA graphs, NCCL and cuDNN in addition to a process with the device loaded.
constexpr double kLibraries = 0.9e9;

struct PerToken {
    double hidden, attention, qkv, width, statistics;  ///< elements; statistics in bytes
};

PerToken per_token(const ModelSpec& model, const LayerSpec& kind) {
    const AttentionSpec& a = kind.attention;
    return {static_cast<double>(model.hidden), static_cast<double>(a.output_width()),
            static_cast<double>(a.qkv_width()), width_of_token(kind.feed_forward),
            static_cast<double>(kFp32 * (a.heads + kind.norms))};
}

/// Bytes that a layer keeps of a token in addition to its input, and bytes that all layers share.
std::pair<double, double> activation_bytes(const PerToken& t, const TrainingSpec& training) {
    const bool fp8 = training.compute == Compute::fp8;
    const double input = fp8 ? 1 : kBf16;  // of a product
    const double attention = kBf16 * (t.qkv + t.attention + t.hidden), norms = 2 * input * t.hidden,
                 product = input * t.width, gate_up = 2 * kBf16 * t.width;
    const double codes = fp8 ? t.attention + t.hidden + t.qkv : 0,
                 in_bf16 = fp8 ? kBf16 * (t.hidden + t.width) : 0;
    switch (training.recompute) {
        case Recompute::none:
            return {attention + norms + product + gate_up + t.statistics, codes + in_bf16};
        case Recompute::keep_attention:
            return {attention + t.statistics, codes + in_bf16 + norms + product + gate_up};
        case Recompute::full:
            break;
    }
    return {t.statistics, codes + in_bf16 + attention + norms + product + gate_up};
}

void declare_activations(const ModelSpec& model, const TrainingSpec& training,
                         const TrainingSpec& pass, PlanBuilder& build) {
    const bool fp8 = training.compute == Compute::fp8;
    const int layers = model.layer_count();
    const double all = tokens(pass), input = input_bytes(model, pass);
    double kept = 0, shared = 0, backward = 0;
    for (int layer = 0; layer < layers; ++layer) {
        const PerToken t = per_token(model, model.layer(layer));
        const auto [own, common] = activation_bytes(t, training);
        kept += all * own;
        shared = std::max(shared, all * common);
        // The gradient of the product; in FP8 the codes of gate's and up's, in both orders.
        backward = std::max(backward, all * (fp8 ? 4 * t.width + t.hidden : kBf16 * t.width));
    }
    build.on_device("kept activations", Kind::activations, kept);
    build.on_device("activations of one layer", Kind::activations, shared);
    // Embedded tokens, last norm, and the gradients of the residual, of that norm and of the
    // embedded tokens.
    build.on_device("first and last hidden state, and gradients", Kind::activations, 5 * input);
    const bool on_host = host_checkpoints(training);
    build.on_device("layer inputs", Kind::checkpoints, (on_host ? 2 : layers) * input);
    if (on_host) build.on_host("layer inputs", Kind::checkpoints, layers * input);
    const double logits = static_cast<double>(std::min(pass.tokens(), training.loss_chunk_tokens)) *
                          static_cast<double>(model.vocabulary) * kBf16;
    const double largest = largest_layer_bytes(model) / kBf16;
    build.on_device(
        "stack of temporaries", Kind::workspace,
        std::max({logits, backward, 2 * LlmqOffload(training).state_bytes() * largest}));
}

void declare_parameters(const ModelSpec& model, const TrainingSpec& training, PlanBuilder& build) {
    const LlmqOffload offload(training);
    const bool fp8 = training.compute == Compute::fp8;
    const double all = all_parameters(model);
    const auto embedding = static_cast<double>(embedding_parameters(model)),
               tables = embedding + static_cast<double>(head_parameters(model));
    const double layers = all - tables, largest = largest_layer_bytes(model) / kBf16;
    if (offload.weights) {
        build.on_device("weights of two layers", Kind::weights, 2 * (fp8 ? 1 : kBf16) * largest);
        build.on_device("a table", Kind::weights, kBf16 * std::max(embedding, tables - embedding));
        if (fp8) build.on_host("FP8 weights of layers", Kind::weights, layers);
        build.on_host("bf16 parameters", Kind::weights, kBf16 * all);
    } else {
        if (fp8) build.on_device("FP8 weights of layers", Kind::weights, layers);
        const double on_host = offload.masters ? layers : 0;
        build.on_device("bf16 parameters", Kind::weights, kBf16 * (all - on_host));
        build.on_host("bf16 masters of layers", Kind::weights, kBf16 * on_host);
    }
    if (offload.gradients) {
        build.on_device("bf16 gradients of tables", Kind::gradients, kBf16 * tables);
        build.on_device("bf16 gradients of two layers", Kind::gradients, 2 * kBf16 * largest);
        build.on_host("bf16 gradients of layers", Kind::gradients, kBf16 * layers);
    } else {
        build.on_device("bf16 gradients", Kind::gradients, kBf16 * all);
    }
    build.standing("bf16 moments", Kind::optimizer_state,
                   offload.moments ? Tier::host : Tier::device, 2 * kBf16 * all);
}

}  // namespace

/// In bf16 the masters are the weights that products read, unless these wait on the host.
LlmqOffload::LlmqOffload(const TrainingSpec& training) {
    const auto& [moment_place, offload] = training.own.of<LlmqOptions>();
    moments = moment_place == MomentPlacement::host;
    weights = offload >= Offload::weights;
    masters = weights || (offload == Offload::masters && training.compute == Compute::fp8);
    gradients = offload >= Offload::gradients;
}

double LlmqOffload::state_bytes() const {
    return (moments ? 2 * kBf16 : 0) + (masters ? kBf16 : 0);
}

void declare_llmq_memory(const ModelSpec& model, const MachineSpec& machine,
                         const TrainingSpec& training, const TrainingSpec& pass,
                         PlanBuilder& build) {
    build.on_host("process", Kind::process, static_cast<double>(machine.host.process_base));
    build.on_device("libraries", Kind::workspace, kLibraries);
    declare_parameters(model, training, build);
    declare_activations(model, training, pass, build);
}

}  // namespace sluice
