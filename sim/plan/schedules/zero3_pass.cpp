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

}  // namespace

Zero3Pass::Zero3Pass(const ModelSpec& model, const MachineSpec& machine,
                     const TrainingSpec& training, double bucket_elements)
    : model_(model),
      machine_(machine),
      training_(training),
      pass_(training_of_pass(training)),
      layers_(model.layer_count()),
      modules_(model),
      build_(KernelStyle::plain),
      network_(model, pass_, build_),
      buckets_(bucket_elements) {}

void Zero3Pass::Fetched::add(const Fetched& more) {
    waits.insert(waits.end(), more.waits.begin(), more.waits.end());
    released.insert(released.end(), more.released.begin(), more.released.end());
}

void Zero3Pass::forward_and_backward() {
    build_.on_device("reduce bucket", Kind::gradients, kBf16 * buckets_.capacity());
    for (micro_batch_ = 0; micro_batch_ < training_.micro_batches(); ++micro_batch_) {
        build_.begin_micro_batch(micro_batch_);
        if (!is_first()) {
            network_.next_pass();
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

OperationId Zero3Pass::compute(OperationKind kind, int layer, const Fetched& fetched,
                               Operation work) {
    work.uses.insert(work.uses.end(), fetched.released.begin(), fetched.released.end());
    const OperationId added =
        build_.add(kind, Lane::compute, layer, fetched.waits, std::move(work));
    if (first_compute_ < 0) first_compute_ = added;
    return added;
}

void Zero3Pass::forward() {
    const Fetched embedding = fetch(2, kEmbeddingLayer, {0});
    for (int layer = 0; layer < layers_; ++layer) {
        Fetched own = fetch(modules_.calls_of(layer), layer, modules_.of_layer(layer));
        if (layer == 0) own.add(embedding);
        compute(OperationKind::forward, layer, own, network_.forward(layer));
    }
    const Fetched head = fetch(2, layers_, {modules_.head()});
    compute(OperationKind::loss, layers_, head, network_.loss());
}

void Zero3Pass::backward() {
    const Fetched head = fetch(3, layers_, {modules_.head()});
    backward_of(OperationKind::backward, layers_, head, network_.loss_backward(), head_tensors());
    for (int layer = layers_ - 1; layer >= 0; --layer) {
        const Fetched own = fetch(2 * modules_.calls_of(layer), layer, modules_.of_layer(layer));
        std::vector<std::int64_t> tensors = module_tensors(model_, model_.layer(layer));
        std::reverse(tensors.begin(), tensors.end());
        backward_of(OperationKind::backward, layer, own, network_.backward(layer), tensors);
    }
    const Fetched embedding = fetch(1, kEmbeddingLayer, {0});
    backward_of(OperationKind::embedding_backward, kEmbeddingLayer, embedding,
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
    const Dependency computed = {bucket.last, false};
    if (is_first()) return {bucket, gradients, in({{out({computed}), false}})};
    return {bucket, gradients, out({{in({computed, {last_left(), false}}), false}})};
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

void Zero3Pass::backward_of(OperationKind kind, int layer, const Fetched& fetched, Operation work,
                            const std::vector<std::int64_t>& tensors) {
    work.kernels.push_back(build_.kernels(reduce_kernels(tensors)));
    if (tied_gradient_ != kNoBuffer) work.uses.push_back(tied_gradient_);
    const OperationId done = compute(kind, layer, fetched, std::move(work));
    for (const std::int64_t tensor : tensors) {
        if (const auto full = buckets_.add(static_cast<double>(tensor), done)) leave(*full, layer);
    }
}

}  // namespace sluice
