#include "sim/plan/schedules/zero3_pass.h"

#include <algorithm>
#include <utility>

#include "sim/plan/schedules/pytorch_memory.h"
#include "sim/plan/schedules/shapes.h"

namespace sluice {
namespace {

// Bytes a gradient moves on the device to be reduced: into the bucket, joined, divided (4 each); to
// be added to what came back (6); for the optimizer, widened to fp64 and read for the norm (18),
// cast to fp32 (6).
constexpr double kReduceTraffic = 12, kAddTraffic = 6, kToOptimizerTraffic = 24;
constexpr std::int64_t kReduceLaunches = 3, kAddLaunches = 1, kToOptimizerLaunches = 5;

// Host time of DeepSpeed's hooks, in that of an eager PyTorch operation, measured as that of the
// plain model (plain_model.cpp): a module's call, the same in backward, a parameter that is
// fetched, a gradient that is reduced. Modules that compute nothing gave the first two, 0.24 and
// 0.38 ms where an operation takes 6 us; what is left of a layer is the others'.
constexpr double kCallOperations = 39, kBackwardCallOperations = 23;
constexpr double kFetchOperations = 11, kReduceOperations = 54;

}  // namespace

Zero3Pass::Zero3Pass(const ModelSpec& model, const MachineSpec& machine,
                     const TrainingSpec& training, double bucket_elements)
    : model_(model),
      machine_(machine),
      training_(training),
      pass_(training_of_pass(training)),
      layers_(model.layer_count()),
      modules_(model),
      head_{modules_.head()},
      build_(KernelStyle::plain, kOfPythonThread),
      python_(build_),
      network_(model, pass_, build_),
      buckets_(bucket_elements) {}

void Zero3Pass::forward_and_backward() {
    build_.on_device("reduce bucket", Kind::gradients, kBf16 * buckets_.capacity());
    for (micro_batch_ = 0; micro_batch_ < training_.micro_batches(); ++micro_batch_) {
        build_.begin_micro_batch(micro_batch_);
        if (!is_first()) {
            network_.next_pass();
            python_.wait_for(last_left(), kEmbeddingLayer);
            begin_pass();
        }
        if (model_.tied_embeddings)
            tied_gradient_ =
                build_.device_buffer("tied table's gradient", Kind::gradients, table_bytes(model_));
        forward();
        backward();
    }
    build_.begin_micro_batch(0);
}

OperationId Zero3Pass::compute(const Modules& modules, Operation work) {
    std::vector<Dependency> waits = python_.reached(modules.layer);
    const double fetches = kFetchOperations * static_cast<double>(modules.used.size());
    const Fetched fetched = fetch(modules.calls, modules.layer, modules.used,
                                  std::exchange(work.eager_operations, 0) + fetches);
    waits.insert(waits.end(), fetched.waits.begin(), fetched.waits.end());
    work.uses.insert(work.uses.end(), fetched.released.begin(), fetched.released.end());
    return build_.add(modules.kind, Lane::compute, modules.layer, std::move(waits),
                      std::move(work));
}

void Zero3Pass::forward() {
    Fetched embedding =
        fetch(2, kEmbeddingLayer, embedding_, 2 * kCallOperations + kFetchOperations);
    for (int layer = 0; layer < layers_; ++layer) {
        Operation work = network_.forward(layer);
        work.eager_operations += kCallOperations * modules_.calls_of(layer);
        const std::vector<BufferId> released = std::exchange(embedding.released, {});
        work.uses.insert(work.uses.end(), released.begin(), released.end());
        compute({OperationKind::forward, layer, modules_.calls_of(layer), modules_.of_layer(layer)},
                std::move(work));
    }
    Operation loss = network_.loss();
    loss.eager_operations += 2 * kCallOperations;
    compute({OperationKind::loss, layers_, 2, head_}, std::move(loss));
}

void Zero3Pass::backward() {
    backward_of({OperationKind::backward, layers_, 3, head_}, 0, network_.loss_backward(),
                head_tensors());
    for (int layer = layers_ - 1; layer >= 0; --layer) {
        std::vector<std::int64_t> tensors = module_tensors(model_, model_.layer(layer));
        std::reverse(tensors.begin(), tensors.end());
        const int calls = modules_.calls_of(layer);
        backward_of({OperationKind::backward, layer, 2 * calls, modules_.of_layer(layer)}, calls,
                    network_.backward(layer), tensors);
    }
    backward_of({OperationKind::embedding_backward, kEmbeddingLayer, 1, embedding_}, 0,
                network_.embedding_backward(), {embedding_parameters(model_)});
    leave(buckets_.take_rest(), kEmbeddingLayer);
}

Zero3Pass::SentBucket Zero3Pass::send(const GradientBucket& bucket, int layer) {
    const BufferId gradients = build_.device_buffer("gradients on their way", Kind::gradients,
                                                    bucket.device_bytes(is_last()));
    const Operation copy = copy_operation(kBf16 * bucket.elements, {gradients});
    const auto out = [&](std::vector<Dependency> waits) {
        return build_.add(OperationKind::copy_gradients_out, Lane::device_to_host, layer,
                          std::move(waits), copy);
    };
    const auto in = [&](std::vector<Dependency> waits) {
        return build_.add(OperationKind::copy_gradients_in, Lane::host_to_device, layer,
                          std::move(waits), copy);
    };
    std::vector<Dependency> waits = python_.reached(layer);
    waits.push_back({bucket.last, false});
    if (is_first()) return {bucket, gradients, in({{out(std::move(waits)), false}})};
    waits.push_back({last_left(), false});
    return {bucket, gradients, out({{in(std::move(waits)), false}})};
}

void Zero3Pass::leave(const GradientBucket& bucket, int layer) {
    const SentBucket sent = send(bucket, layer);
    left_.push_back(is_last() ? to_optimizer(sent, layer) : sent.last);
}

KernelList Zero3Pass::reduce_kernels(const std::vector<std::int64_t>& tensors) const {
    double elements = 0;
    for (const std::int64_t tensor : tensors) elements += static_cast<double>(tensor);
    const double traffic =
        kReduceTraffic + (is_first() ? 0 : kAddTraffic) + (is_last() ? kToOptimizerTraffic : 0);
    const std::int64_t launches =
        kReduceLaunches + (is_first() ? 0 : kAddLaunches) + (is_last() ? kToOptimizerLaunches : 0);
    return {memory_bound("reduce gradients", traffic * elements,
                         launches * static_cast<std::int64_t>(tensors.size()))};
}

/// Head, unless tied, and final norm.
std::vector<std::int64_t> Zero3Pass::head_tensors() const {
    std::vector<std::int64_t> tensors = {model_.hidden};
    if (!model_.tied_embeddings) tensors.insert(tensors.begin(), model_.vocabulary * model_.hidden);
    return tensors;
}

void Zero3Pass::backward_of(const Modules& modules, int recomputed_calls, Operation work,
                            const std::vector<std::int64_t>& tensors) {
    work.eager_operations += kCallOperations * recomputed_calls +
                             kBackwardCallOperations * (modules.calls - recomputed_calls) +
                             kReduceOperations * static_cast<double>(tensors.size());
    if (recomputed_calls > 0)
        work.eager_operations += kFetchOperations * static_cast<double>(modules.used.size());
    work.kernels.push_back(build_.kernels(reduce_kernels(tensors)));
    if (tied_gradient_ != kNoBuffer) work.uses.push_back(tied_gradient_);
    const OperationId done = compute(modules, std::move(work));
    for (const std::int64_t tensor : tensors) {
        if (const auto full = buckets_.add(static_cast<double>(tensor), done))
            leave(*full, modules.layer);
    }
}

}  // namespace sluice
