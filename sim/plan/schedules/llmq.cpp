// LLMQ, a trainer in CUDA C++ (from reading github.com/IST-DASLab/llmq at b77d969: llama_model.cpp,
// llama_run_state.cpp, llama_weights.cpp, adamw_optimizer.cpp). Parameters, gradients and moments
// are bf16, 8 bytes a parameter, in device memory; with moments on the host, two layers of them
// pass the device at a time. All buffers exist during the whole run. Offload (--offload-master,
// --shard-weights --offload-quants, --shard-gradients --offload-gradients): masters pass with the
// moments; each pass copies a layer's weights into one of two slots, unless they are still there;
// kernels of the stream that computes add a layer's gradients to sums in host memory. A step:
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
#include "sim/plan/schedules/llmq_memory.h"
#include "sim/plan/schedules/pytorch.h"
#include "sim/specs/scenario/declare_option.h"

namespace sluice {
namespace {

// Bytes of device memory per element. Norm of a gradient: read. AdamW: parameter and both moments
// read and written, gradient read.
constexpr double kBf16NormTraffic = kBf16, kBf16AdamTraffic = 7 * kBf16;
// Rate of its AdamW over a device copy's: 44 ms for 7.6 B parameters on an H200
// (validation/llmq-h200.json).
constexpr double kAdamShare = 0.56;

constexpr int kNoLayer = -2;

class Llmq : public MicroBatchStep {
  public:
    Llmq(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& training)
        : MicroBatchStep(model, machine, training, KernelStyle::fused, 0),
          fp8_(training.compute == Compute::fp8),
          offload_(training) {}

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

    void declare() override {
        declare_kernels();
        declare_llmq_memory(model_, machine_, training_, pass_, build_);
    }

    void pass() override {
        std::vector<OperationId> out;  // of layer inputs
        const std::size_t later_sums = is_first() || offload_.gradients ? 0 : 1;
        OperationId table = table_in(kEmbeddingLayer);
        for (int layer = 0; layer < layers_; ++layer) {
            Operation work = gpu_operation({kernels_of(layer).forward});
            if (is_first() && !offload_.masters)
                work.kernels.push_front(kernels_of(layer).cast_weights);
            if (layer == 0) work.kernels.push_front(embedding_);
            // A slot for two layers' inputs is free when the earlier one has left.
            const OperationId free = host_checkpoints(training_) && layer > 1 ? out[layer - 2] : -1;
            const OperationId in = weights_in(layer);
            const OperationId done =
                build_.add(OperationKind::forward, layer,
                           {{free}, {in}, {std::exchange(table, -1)}}, std::move(work));
            weights_free_[layer % 2] = done;
            if (layer == 0) table_free_ = done;
            if (host_checkpoints(training_))
                out.push_back(build_.add(OperationKind::copy_checkpoint_out, layer, {{done}},
                                         copy_operation(input_bytes(model_, pass_))));
        }
        table = table_in(layers_);
        OperationId later = build_.add(OperationKind::loss, layers_, {{table}},
                                       gpu_operation({head_[is_first() ? 0 : 1]}));
        table_free_ = later;
        OperationId last = later;
        Waits sums;
        for (int layer = layers_ - 1; layer >= 0; --layer) {
            Waits waits = std::exchange(sums, {});
            // The last two inputs are still there.
            if (host_checkpoints(training_) && layer < layers_ - 2)
                waits.push_back(
                    {build_.add(OperationKind::copy_checkpoint_in, layer, {{later}, {out[layer]}},
                                copy_operation(input_bytes(model_, pass_)))});
            waits.push_back({weights_in(layer)});
            later = std::exchange(
                last, build_.add(OperationKind::backward, layer, std::move(waits),
                                 gpu_operation({kernels_of(layer).backward[later_sums]})));
            weights_free_[layer % 2] = last;
            sums = add_gradients(layer, last);
        }
        if (!is_last()) table_in(kEmbeddingLayer);
        build_.add(OperationKind::embedding_backward, kEmbeddingLayer, std::move(sums),
                   gpu_operation({embedding_backward_}));
        last_ = build_.next() - 1;
    }

    /// A copy of a layer's weights into its slot; -1 if they are there.
    OperationId weights_in(int layer) {
        const auto slot = static_cast<std::size_t>(layer % 2);
        if (!offload_.weights || std::exchange(in_slot_[slot], layer) == layer) return -1;
        return weights_copy(layer, weights_free_[slot],
                            (fp8_ ? 1 : kBf16) * parameters_of_layer(model_, layer));
    }
    /// Embedding and head take turns in one buffer; a tied table stays there.
    OperationId table_in(int layer) {
        const int table = model_.tied_embeddings ? kEmbeddingLayer : layer;
        if (!offload_.weights || table_ == table) return -1;
        table_ = table;
        return weights_copy(
            layer, table_free_,
            layer == kEmbeddingLayer ? embedding_bytes(model_) : head_bytes(model_));
    }
    OperationId weights_copy(int layer, OperationId free, double bytes) {
        const OperationId in =
            build_.add(OperationKind::copy_weights_in, layer, {{free}}, copy_operation(bytes));
        if (first_in_ < 0) first_in_ = in;
        return in;
    }

    /// A kernel adds a layer's gradients to the sums on the host; the next one waits for it.
    Waits add_gradients(int layer, OperationId computed) {
        if (!offload_.gradients) return {};
        const auto copy = [&](OperationKind kind) {
            return build_.add(kind, layer, {{computed}}, copy_operation(layer_bytes(layer)));
        };
        Waits out = {{copy(OperationKind::copy_gradients_out)}};
        if (!is_first()) out.push_back({copy(OperationKind::copy_gradients_in)});
        return out;
    }

    Operation update(double parameters) {
        return gpu_operation(
            {build_.kernels({memory_bound("AdamW", kBf16AdamTraffic / kAdamShare * parameters)})});
    }
    /// AdamW on states that wait on the host: into one of two slots, and back. Gradients there are
    /// read by the kernel, which also writes FP8 weights that wait there.
    void update_layer(int layer) {
        const double parameters = parameters_of_layer(model_, layer),
                     states = offload_.state_bytes();
        const std::size_t slot = static_cast<std::size_t>(layer % 2);
        const OperationId in =
            build_.add(OperationKind::read_states, Work::host_to_device, layer,
                       {{stored_[slot] < 0 ? last_ : stored_[slot]}},
                       copy_operation((states + (offload_.gradients ? kBf16 : 0)) * parameters));
        Operation work = update(parameters);
        if (offload_.masters) work.kernels.push_back(kernels_of(layer).cast_weights);
        const OperationId updated =
            build_.add(OperationKind::update, Work::compute, layer, {{in}}, std::move(work));
        stored_[slot] =
            build_.add(OperationKind::write_states, Work::device_to_host, layer, {{updated}},
                       copy_operation((states + (offload_.weights && fp8_ ? 1 : 0)) * parameters));
    }
    /// The kernel reads and writes states of the tables in host memory.
    void update_table(int layer, double parameters) {
        Dependencies moved;
        const Dependency start{build_.next() - 1};
        const double states = (offload_.moments ? 2 * kBf16 : 0) + (offload_.weights ? kBf16 : 0);
        if (states > 0) {
            moved = {{build_.add(OperationKind::read_states, Work::host_to_device, layer, {start},
                                 copy_operation(states * parameters))},
                     {build_.add(OperationKind::write_states, Work::device_to_host, layer, {start},
                                 copy_operation(states * parameters))}};
        }
        build_.add(OperationKind::update, Work::compute, layer, std::move(moved),
                   update(parameters));
    }

    void optimize() override {
        const double all = all_parameters(model_);
        OperationId gradients = -1;
        if (offload_.gradients) {
            double layers = 0;
            for (int layer = 0; layer < layers_; ++layer) layers += layer_bytes(layer);
            gradients = build_.add(OperationKind::copy_gradients_in, kEmbeddingLayer, {{last_}},
                                   copy_operation(layers));
        }
        build_.add(OperationKind::clip_gradients, Work::compute, kEmbeddingLayer, {{gradients}},
                   gpu_operation({build_.kernels({memory_bound("norm", kBf16NormTraffic * all)})}));
        update_table(kEmbeddingLayer, static_cast<double>(embedding_parameters(model_)));
        for (int layer = 0; layer < layers_; ++layer) {
            if (offload_.state_bytes() > 0)
                update_layer(layer);
            else
                build_.add(OperationKind::update, Work::compute, layer, {},
                           update(parameters_of_layer(model_, layer)));
        }
        update_table(layers_, static_cast<double>(head_parameters(model_)));
        if (first_in_ < 0) return;
        for (const OperationId written : {stored_[0], stored_[1], build_.next() - 1})
            if (written >= 0) build_.wait(first_in_, {written, true});
    }

    void finish() override {
        build_.assume("LLMQ's kernels between the products are as fast as those of sluice-train");
        build_.assume(
            "LLMQ's AdamW on the GPU reaches 0.56 of a device copy's rate, as on the measured "
            "H200");
        const Bytes host = build_.host_peak();
        build_.host_moments({host, "plus the file's pages"}, {host}, {host}, {host});
    }

    const bool fp8_;
    const LlmqOffload offload_;
    std::vector<LayerKernels> kinds_;
    std::array<std::int32_t, 2> head_{};  ///< of the first and of later micro-batches
    std::int32_t embedding_ = 0, embedding_backward_ = 0;
    OperationId last_ = -1;                      ///< of backward
    std::array<OperationId, 2> stored_{-1, -1};  ///< the last copy out of a slot of states
    // Weights on the host: the layer in a slot, the table in its buffer, and their last uses.
    std::array<int, 2> in_slot_{kNoLayer, kNoLayer};
    int table_ = kNoLayer;
    std::array<OperationId, 2> weights_free_{-1, -1};
    OperationId table_free_ = -1, first_in_ = -1;
};

/// Dense Llama and Qwen2 models: no norms of heads either.
std::string lacks(const ModelSpec& model, std::string_view maker) {
    for (const LayerSpec& layer : model.kinds) {
        if (layer.attention.qk_norm) return "norms of queries and keys";
        if (layer.feed_forward.experts > 0) return "mixture of experts";
    }
    return missing_in_trainer(model, maker);
}

}  // namespace

ScheduleRecord llmq_schedule() {
    return {
        .name = "llmq",
        .about =
            "LLMQ keeps all in the GPU's memory with 8 bytes a parameter; this is fast "
            "where it fits, and has no fp32 states.",
        .measured_system = "LLMQ",
        .plan = plan_of<Llmq>,
        .options = {"compute", "recompute", "checkpoints", "loss_chunk_tokens"},
        .own_options = {choice_option<&LlmqOptions::moments>(
                            {OptionGroup::system, "adam"}, "moments",
                            {{"device", MomentPlacement::device}, {"host", MomentPlacement::host}},
                            "memory in which the optimizer's moments wait"),
                        choice_option<&LlmqOptions::offload>(
                            {OptionGroup::system, "adam"}, "offload",
                            {{"none", Offload::none},
                             {"masters", Offload::masters},
                             {"weights", Offload::weights},
                             {"gradients", Offload::gradients}},
                            "tensors that wait on the host, each with those before",
                            "what else waits on the host, each with those before: bf16 "
                            "masters of FP8 weights, the weights (two layers are on the "
                            "device), the layers' gradients")},
        .program = {.name = "LLMQ",
                    .gpu_makers = {"NVIDIA"},
                    .lacks = lacks,
                    .source = "github:IST-DASLab/llmq@b77d969",
                    .date = "2026-11-23"},
        .master_bytes = 2,
        .moments_bytes = 4,
        // README.md: the run of "Training run".
        .users_run = {{"recompute", "full"}, {"moments", "device"}, {"offload", "none"}},
        .structural_error = kErrorOnDevice,
        .phases = plain_phases()};
}

}  // namespace sluice
