#include "sim/plan/schedules/plain_model.h"

#include <algorithm>

#include "sim/plan/schedules/pytorch_memory.h"
#include "sim/plan/schedules/shapes.h"

namespace sluice {
namespace {

constexpr KernelStyle kStyle = KernelStyle::plain;

// Host time of a plain PyTorch model, in that of an eager operation (measured with
// validation/peers' model "narrow", of which the GPU has next to nothing to do, on an H200 machine:
// 28 layers less 8, over the launch of an operation in the same process; docs/other-systems.md
// has the rows): Python and autograd of a kernel, and what torch.utils.checkpoint adds to a layer's
// forward and backward.
constexpr double kForwardOperations = 6, kBackwardOperations = 9.7;
constexpr double kCheckpointForward = 118, kCheckpointBackward = 149;

// Bytes a logit. Forward: bf16, fp32, log-softmax. Backward at its start: log-softmax, its gradient
// and that of the fp32 logits; bf16 logits and fp32 logits are freed by then.
constexpr double kLogitForward = 10, kLogitBackward = 12;
// Then the gradient of the bf16 logits, beside which the table's is made.
constexpr double kLogitGradient = kBf16;

}  // namespace

TrainingSpec training_of_pass(const TrainingSpec& training) {
    TrainingSpec pass = training;
    pass.batch = training.micro_batch_sequences();
    pass.micro_batch = 0;
    pass.gpus = 1;
    return pass;
}

PlainModel::PlainModel(const ModelSpec& model, const TrainingSpec& training, PlanBuilder& build)
    : model_(model), training_(training), build_(build) {
    declare_kernels();
    build_.on_device("cuBLAS workspaces", MemoryKind::workspace, kBlasWorkspaces);
    declare_buffers();
}

void PlainModel::next_pass() {
    inputs_.clear();
    saved_.clear();
    declare_buffers();
}

double PlainModel::bytes(double per_token) const { return tokens(training_) * per_token; }

const PlainModel::LayerKernels& PlainModel::kernels(int layer) const {
    return kinds_[static_cast<std::size_t>(model_.layers[static_cast<std::size_t>(layer)])];
}

void PlainModel::declare_kernels() {
    const TokenBlock block = training_.batch_block();
    for (const LayerSpec& kind : model_.kinds)
        kinds_.push_back({build_.kernels(forward_kernels(model_, kind, block, kStyle)),
                          build_.kernels(backward_kernels(model_, kind, block, kStyle))});
    const double input = input_bytes(model_, training_);
    embedding_ = build_.kernels({memory_bound("embedding", 2 * input)});
    // The table's gradient is zeroed, then each token's gradient is added to its row.
    embedding_backward_ =
        build_.kernels({memory_bound("embedding backward", table_bytes(model_) + 3 * input, 2)});
    loss_ = build_.kernels(whole_loss_forward_kernels(model_, block, kStyle));
    loss_backward_ = build_.kernels(whole_loss_backward_kernels(model_, block, kStyle));
}

void PlainModel::declare_buffers() {
    const double input = input_bytes(model_, training_);
    for (int layer = 0; layer < model_.layer_count(); ++layer) {
        inputs_.push_back(build_.device_buffer("layer input", MemoryKind::checkpoints, input));
        if (!keeps_all()) continue;
        saved_.push_back(
            build_.device_buffer("autograd's saved tensors", MemoryKind::activations,
                                 bytes(saved_bytes_per_token(model_, model_.layer(layer)).saved)));
    }
    last_ =
        build_.device_buffer("last hidden state, and normed", MemoryKind::activations, 2 * input);
    gradient_ =
        build_.device_buffer("gradient of the hidden state", MemoryKind::activations, input);
}

Operation PlainModel::forward(int layer) {
    const auto index = static_cast<std::size_t>(layer);
    std::vector<BufferId> uses = {inputs_[index]};
    if (keeps_all()) {
        uses.push_back(saved_[index]);
    } else {
        uses.push_back(build_.device_buffer(
            "forward temporaries", MemoryKind::activations,
            bytes(saved_bytes_per_token(model_, model_.layer(layer)).forward_temporary)));
    }
    std::vector<std::int32_t> lists = {kernels(layer).forward};
    if (layer == 0) lists.insert(lists.begin(), embedding_);
    Operation work = gpu_operation(std::move(lists), std::move(uses));
    work.eager_operations = kForwardOperations * static_cast<double>(build_.launches(work)) +
                            (keeps_all() ? 0 : kCheckpointForward);
    return work;
}

Operation PlainModel::loss() {
    const double logits = static_cast<double>(model_.vocabulary) * kLogitForward;
    return gpu_operation({loss_},
                         {last_, build_.device_buffer("logits", MemoryKind::loss, bytes(logits))});
}

Operation PlainModel::loss_backward() {
    const double words = static_cast<double>(model_.vocabulary);
    const double logits = std::max(bytes(words * kLogitBackward),
                                   bytes(words * kLogitGradient) + table_bytes(model_));
    return gpu_operation(
        {loss_backward_},
        {last_, build_.device_buffer("logits and their gradients", MemoryKind::loss, logits)});
}

Operation PlainModel::backward(int layer) {
    const auto index = static_cast<std::size_t>(layer);
    const SavedBytes of_layer = saved_bytes_per_token(model_, model_.layer(layer));
    const double own = of_layer.backward_temporary + (keeps_all() ? 0 : of_layer.saved);
    std::vector<BufferId> uses = {
        inputs_[index], gradient_,
        build_.device_buffer("backward of a layer", MemoryKind::activations, bytes(own))};
    Operation work = gpu_operation({kernels(layer).backward});
    work.eager_operations = kBackwardOperations * static_cast<double>(build_.launches(work));
    if (keeps_all()) {
        uses.push_back(saved_[index]);
    } else {
        Operation again = gpu_operation({kernels(layer).forward});
        work.eager_operations +=
            kForwardOperations * static_cast<double>(build_.launches(again)) + kCheckpointBackward;
        work.kernels.insert(work.kernels.begin(), again.kernels.front());
    }
    work.uses = std::move(uses);
    return work;
}

Operation PlainModel::embedding_backward() {
    return gpu_operation({embedding_backward_}, {gradient_});
}

}  // namespace sluice
