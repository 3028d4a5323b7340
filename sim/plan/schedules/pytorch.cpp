#include "sim/plan/schedules/pytorch.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "sim/specs/model/adapters.h"

namespace sluice {
namespace {

using Elements = std::vector<std::int64_t>;
void append(Elements& out, std::int64_t count, std::int64_t elements) {
    out.insert(out.end(), static_cast<std::size_t>(count), elements);
}

constexpr KernelStyle kStyle = KernelStyle::plain;
// Host time of a plain PyTorch model, in units of an eager operation: Python and autograd of a
// kernel, and the addition of torch.utils.checkpoint to a layer's forward and backward. Measured
// with validation/peers' model "narrow", which leaves the GPU nearly idle, on an H200 machine: 28
// layers less 8, over the launch of an operation in the same process (docs/other-systems.md has the
// rows).
constexpr double kForwardOperations = 6, kBackwardOperations = 9.7;
constexpr double kCheckpointForward = 118, kCheckpointBackward = 149;

// Bytes per logit. Forward: bf16, fp32, log-softmax. At the start of backward: log-softmax, its
// gradient and the fp32 logits' gradient; bf16 logits and fp32 logits are already freed.
constexpr double kLogitForward = 10, kLogitBackward = 12;
// Then the gradient of the bf16 logits, and the table's gradient at the same time.
constexpr double kLogitGradient = kBf16;
// In eighths (torchtune's CEWithChunkedOutputLoss). Forward: bf16 and log-softmax of all, fp32 of
// an eighth. Backward: log-softmax, then the bf16 gradient, of all, and two in fp32 of an eighth.
constexpr double kEighths = 8;
constexpr double kChunkedForward = kBf16 + kFp32 + kFp32 / kEighths;
constexpr double kChunkedBackward = kFp32 + 2 * kFp32 / kEighths;

}  // namespace

double pinned_bytes(double bytes) {
    return static_cast<double>(std::bit_ceil(static_cast<std::uint64_t>(std::ceil(bytes))));
}

void declare_processes(const MachineSpec& machine, double processes, PlanBuilder& build) {
    build.on_host(processes == 1 ? "process" : "processes", MemoryKind::process,
                  processes * static_cast<double>(machine.host.process_base));
    build.on_host("Python modules", MemoryKind::process, processes * kPyTorchModules);
}

double freshly_mapped(const std::vector<std::int64_t>& tensors, double bytes_of_element) {
    constexpr double kLargestThreshold = 32 * kMiB;
    double bytes = 0;
    for (const std::int64_t tensor : tensors) {
        const double own = bytes_of_element * static_cast<double>(tensor);
        if (own > kLargestThreshold) bytes += own;
    }
    return bytes;
}

OperationId copy_to_pageable(PlanBuilder& build, int layer, Dependencies waits, Operation all,
                             double fresh) {
    all.pageable = true;
    Operation mapped = all;
    mapped.to_fresh_pages = true;
    mapped.link_bytes = fresh;
    all.link_bytes -= fresh;
    OperationId last = -1;
    for (Operation* const copy : {&all, &mapped}) {
        if (copy->link_bytes <= 0) continue;
        last = build.add(OperationKind::copy_gradients_out, layer, std::exchange(waits, {}),
                         std::move(*copy));
        waits = {{last}};
    }
    return last;
}

double width_of_token(const FeedForwardSpec& f) {
    return static_cast<double>(f.experts > 0
                                   ? f.intermediate * f.experts_per_token + f.shared_intermediate
                                   : f.intermediate);
}

Kernel embedding_gradient_kernel(const ModelSpec& model, const TrainingSpec& pass) {
    return memory_bound("embedding backward", table_bytes(model) + 3 * input_bytes(model, pass), 2);
}

Elements module_tensors(const ModelSpec& model, const LayerSpec& layer) {
    Elements out;
    for (const ParameterTensor& tensor : layer_tensors(model, layer))
        for (const std::int64_t rows : tensor.rows_of_parts())
            append(out, tensor.count, rows * tensor.columns);
    return out;
}

Elements root_tensors(const ModelSpec& model) {
    Elements out = {model.vocabulary * model.hidden};
    if (model.learned_positions > 0) out.push_back(model.learned_positions * model.hidden);
    append(out, model.norm_bias ? 2 : 1, model.hidden);
    if (!model.tied_embeddings) out.push_back(model.vocabulary * model.hidden);
    return out;
}

std::int64_t parameter_tensors(const ModelSpec& model) {
    auto count = static_cast<std::int64_t>(root_tensors(model).size());
    for (const int kind : model.layers)
        count += static_cast<std::int64_t>(
            module_tensors(model, model.kinds[static_cast<std::size_t>(kind)]).size());
    return count;
}

SavedBytes saved_bytes_per_token(const ModelSpec& model, const LayerSpec& layer) {
    const AttentionSpec& a = layer.attention;
    const FeedForwardSpec& f = layer.feed_forward;
    const double hidden = static_cast<double>(model.hidden * kBf16);
    const double width = static_cast<double>(kBf16) * width_of_token(f);
    const double qkv = static_cast<double>((a.query_width() + 2 * a.key_width()) * kBf16);
    const double copies =
        f.experts > 0 ? 2.0 * static_cast<double>(f.experts_per_token) * hidden : 0;
    const double unnormed =
        a.qk_norm ? static_cast<double>((a.query_width() + a.key_width()) * kBf16) : 0;
    SavedBytes bytes;
    // Both normed inputs and the tensor between the halves; q, k, v, the attention's output and one
    // number per head; gate, its activation, up and their product. Norms also save one number per
    // row.
    bytes.saved = (layer.norms + 1) * hidden + layer.norms * static_cast<double>(kFp32) + qkv +
                  unnormed + static_cast<double>(a.output_width() * kBf16 + a.heads * kFp32) +
                  (f.gated ? 4 : 2) * width + copies;
    // Measured on the H200, 32768 tokens of Qwen2.5-7B: gate's activation, up and their product,
    // and with them the residual, the normed input and two more tensors of that size.
    bytes.forward_temporary = 4 * hidden + (f.gated ? 3 : 2) * width + copies;
    // Also measured: the gradients of activation, up and product; the product is freed.
    bytes.backward_temporary = (f.gated ? 2 : 1) * width;
    return bytes;
}

void PythonThread::wait_for(OperationId operation, int layer) {
    if (operation < 0) return;
    add(layer);
    waits_.push_back({operation});
}

Dependencies PythonThread::reached(int layer) {
    add(layer);
    Dependencies reached = waits_;
    reached.push_back({last_});
    return reached;
}

void PythonThread::add(int layer) {
    if (not_added_ == 0) return;
    Operation python;
    python.eager_operations = std::exchange(not_added_, 0);
    last_ = build_.add(OperationKind::issue, layer, std::exchange(waits_, {}), std::move(python));
    if (first_ < 0) first_ = last_;
}

namespace {

/// One pass of one GPU: its micro-batch as the batch of a training spec.
TrainingSpec training_of_pass(const TrainingSpec& training) {
    TrainingSpec pass = training;
    pass.batch = training.micro_batch_sequences();
    pass.micro_batch = 0;
    pass.gpus = 1;
    return pass;
}

}  // namespace

MicroBatchStep::MicroBatchStep(const ModelSpec& model, const MachineSpec& machine,
                               const TrainingSpec& training, KernelStyle style,
                               double eager_operations_per_launch)
    : model_(model),
      machine_(machine),
      training_(training),
      pass_(training_of_pass(training)),
      layers_(model.layer_count()),
      build_(style, eager_operations_per_launch, training.attention) {}

StepPlan MicroBatchStep::plan() {
    declare();
    for (micro_batch_ = 0; micro_batch_ < training_.micro_batches(); ++micro_batch_) {
        build_.begin_micro_batch(micro_batch_);
        pass();
    }
    build_.begin_micro_batch(0);
    optimize();
    finish();
    return build_.finish();
}

PyTorchStep::PyTorchStep(const ModelSpec& model, const MachineSpec& machine,
                         const TrainingSpec& training, double eager_operations_per_launch)
    : MicroBatchStep(model, machine, training, kStyle, eager_operations_per_launch) {
    declare_kernels();
    build_.on_device("cuBLAS workspaces", MemoryKind::workspace, kBlasWorkspaces);
}

void PyTorchStep::pass() {
    declare_buffers();
    begin_pass();
    for (int layer = 0; layer < layers_; ++layer)
        module(OperationKind::forward, layer, forward(layer));
    module(OperationKind::loss, layers_, loss());
    module(OperationKind::backward, layers_, loss_backward());
    for (int layer = layers_ - 1; layer >= 0; --layer)
        module(OperationKind::backward, layer, backward(layer));
    if (!adapts())
        module(OperationKind::embedding_backward, kEmbeddingLayer,
               gpu_operation({embedding_backward_}, {gradient_}));
}

PyTorchStep::Parameters PyTorchStep::elements(int layer) const {
    if (layer == kEmbeddingLayer) {
        const auto root =
            static_cast<double>(embedding_parameters(model_) + head_parameters(model_));
        return {root, adapts() ? 0 : root};
    }
    const double own = parameters_of_layer(model_, layer);
    const auto adapters =
        static_cast<double>(adapter_parameters(model_, model_.layer(layer), training_.adapters()));
    return {own + adapters, adapts() ? adapters : own};
}

PyTorchStep::Parameters PyTorchStep::all_elements() const {
    Parameters sum = elements(kEmbeddingLayer);
    for (int layer = 0; layer < layers_; ++layer) {
        sum.all += elements(layer).all;
        sum.trained += elements(layer).trained;
    }
    return sum;
}

std::int64_t PyTorchStep::trained_tensors(int layer) const {
    if (layer == kEmbeddingLayer)
        return adapts() ? 0 : static_cast<std::int64_t>(root_tensors(model_).size());
    return adapts() ? adapter_tensors(model_, model_.layer(layer), training_.adapters())
                    : static_cast<std::int64_t>(tensors_of(layer).size());
}

std::int64_t PyTorchStep::trained_tensors() const {
    std::int64_t sum = trained_tensors(kEmbeddingLayer);
    for (int layer = 0; layer < layers_; ++layer) sum += trained_tensors(layer);
    return sum;
}

void PyTorchStep::declare_kernels() {
    const TokenBlock block = pass_.batch_block();
    const AdapterShape adapters = pass_.adapters();
    for (const LayerSpec& kind : model_.kinds)
        kinds_.push_back(
            {build_.kernels(forward_kernels(model_, kind, block, kStyle, {}, adapters)),
             build_.kernels(backward_kernels(model_, kind, block, kStyle, false, {}, adapters))});
    const double input = input_bytes(model_, pass_);
    embedding_ = build_.kernels({memory_bound("embedding", 2 * input)});
    embedding_backward_ = build_.kernels({embedding_gradient_kernel(model_, pass_)});
    // A checkpoint in the manner of peft makes the first layer's input need a gradient.
    first_backward_ = kinds_[kind_of(model_, 0)].backward;
    if (adapts() && keeps_all(0))
        first_backward_ = build_.kernels(
            first_backward_kernels(model_, model_.layer(0), block, kStyle, adapters));
    declare_loss_kernels();
}

void PyTorchStep::declare_loss_kernels() {
    const TokenBlock block = pass_.batch_block();
    if (pass_.loss == LossKernel::fused) {
        loss_ = build_.kernels(fused_loss_forward_kernels(model_, block, kStyle, adapts()));
        loss_backward_ = build_.kernels(fused_loss_backward_kernels(model_, block, kStyle));
    } else {
        loss_ = build_.kernels(whole_loss_forward_kernels(model_, block, kStyle));
        loss_backward_ =
            build_.kernels(whole_loss_backward_kernels(model_, block, kStyle, adapts()));
    }
}

void PyTorchStep::declare_buffers() {
    const double input = input_bytes(model_, pass_);
    inputs_.clear();
    saved_.clear();
    for (int layer = 0; layer < layers_; ++layer) {
        inputs_.push_back(build_.device_buffer("layer input", Kind::checkpoints, input));
        const double bytes = saved_bytes_per_token(model_, model_.layer(layer)).saved;
        saved_.push_back(keeps_all(layer) ? activations("autograd's saved tensors", bytes)
                                          : kNoBuffer);
    }
    last_ = build_.device_buffer("last hidden state, and normed", Kind::activations, 2 * input);
    gradient_ = build_.device_buffer("gradient of the hidden state", Kind::activations, input);
}

BufferId PyTorchStep::activations(const char* name, double bytes_per_token) {
    return build_.device_buffer(name, Kind::activations, tokens(pass_) * bytes_per_token);
}

double PyTorchStep::eager_operations(double of_a_launch, std::int32_t kernels) const {
    return of_a_launch * static_cast<double>(build_.launches(gpu_operation({kernels})));
}

Operation PyTorchStep::forward(int layer) {
    const auto index = static_cast<std::size_t>(layer);
    const double temporary = saved_bytes_per_token(model_, model_.layer(layer)).forward_temporary;
    Operation work = gpu_operation(
        {kinds_[kind_of(model_, layer)].forward},
        {inputs_[index],
         keeps_all(layer) ? saved_[index] : activations("forward temporaries", temporary)});
    if (layer == 0) work.kernels.push_front(embedding_);
    work.eager_operations = kForwardOperations * static_cast<double>(build_.launches(work)) +
                            (keeps_all(layer) ? 0 : kCheckpointForward);
    return work;
}

double PyTorchStep::loss_forward_bytes() const {
    const double words = static_cast<double>(model_.vocabulary);
    switch (pass_.loss) {
        case LossKernel::whole:
            return tokens(pass_) * (words * kLogitForward);
        case LossKernel::chunked:
            return tokens(pass_) * words * kChunkedForward;
        case LossKernel::fused:
            break;
    }
    // A chunk's bf16 logits, the gradient of all hidden states, and the head's sum and addend.
    const auto rows =
        static_cast<double>(fused_loss_chunk(model_, static_cast<std::int64_t>(tokens(pass_))));
    return rows * words * kBf16 + input_bytes(model_, pass_) +
           (adapts() ? 0 : 2 * table_bytes(model_));
}

double PyTorchStep::loss_backward_bytes() const {
    const double table = adapts() ? 0 : table_bytes(model_);
    if (pass_.loss == LossKernel::fused) return input_bytes(model_, pass_) + table;
    const double words = static_cast<double>(model_.vocabulary);
    const double first = pass_.loss == LossKernel::whole ? kLogitBackward : kChunkedBackward;
    return std::max(tokens(pass_) * (words * first),
                    tokens(pass_) * (words * kLogitGradient) + table);
}

Operation PyTorchStep::loss() {
    return gpu_operation({loss_},
                         {last_, build_.device_buffer("logits", Kind::loss, loss_forward_bytes())});
}

Operation PyTorchStep::loss_backward() {
    return gpu_operation({loss_backward_},
                         {last_, build_.device_buffer("logits and their gradients", Kind::loss,
                                                      loss_backward_bytes())});
}

Operation PyTorchStep::backward(int layer) {
    const auto index = static_cast<std::size_t>(layer);
    const SavedBytes bytes = saved_bytes_per_token(model_, model_.layer(layer));
    const LayerKernels& own = kinds_[kind_of(model_, layer)];
    const std::int32_t kernels = layer == 0 ? first_backward_ : own.backward;
    Operation work = gpu_operation(
        {kernels}, {inputs_[index], gradient_,
                    activations("backward of a layer",
                                bytes.backward_temporary + (keeps_all(layer) ? 0 : bytes.saved))});
    work.eager_operations = eager_operations(kBackwardOperations, kernels);
    if (keeps_all(layer)) return also_using(std::move(work), {saved_[index]});
    work.eager_operations +=
        eager_operations(kForwardOperations, own.forward) + kCheckpointBackward;
    work.kernels.push_front(own.forward);
    return work;
}

}  // namespace sluice
