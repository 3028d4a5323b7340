#include "sim/plan/schedules/zero3_pass.h"

#include <algorithm>
#include <utility>

#include "sim/plan/schedules/pytorch_memory.h"
#include "sim/plan/schedules/shapes.h"

namespace sluice {
namespace {

// Bytes a gradient moves on the device to be reduced: into the bucket, joined, divided (4 each),
// widened to fp64 and read for the norm (18), cast to fp32 (6).
constexpr double kReduceTraffic = 36;
constexpr std::int64_t kReduceLaunches = 8;

}  // namespace

Zero3Pass::Zero3Pass(const ModelSpec& model, const MachineSpec& machine,
                     const TrainingSpec& training, double bucket_elements)
    : model_(model),
      machine_(machine),
      training_(training),
      layers_(model.layer_count()),
      modules_(model),
      build_(KernelStyle::plain),
      network_(model, training, build_),
      buckets_(bucket_elements) {}

void Zero3Pass::Fetched::add(const Fetched& more) {
    waits.insert(waits.end(), more.waits.begin(), more.waits.end());
    released.insert(released.end(), more.released.begin(), more.released.end());
}

void Zero3Pass::forward_and_backward() {
    build_.on_device("reduce bucket", Kind::gradients, kBf16 * buckets_.capacity());
    if (model_.tied_embeddings)
        tied_gradient_ =
            build_.device_buffer("tied table's gradient", Kind::gradients, table_bytes(model_));
    forward();
    backward();
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
    leave(buckets_.rest(), kEmbeddingLayer);
}

Zero3Pass::SentBucket Zero3Pass::send(const GradientBucket& bucket, int layer) {
    const BufferId gradients =
        build_.device_buffer("gradients on their way", Kind::gradients, bucket.device_bytes());
    const double bytes = kBf16 * bucket.elements;
    const OperationId out =
        build_.add(OperationKind::copy_gradients_out, Lane::device_to_host, layer,
                   {{bucket.last, false}}, copy_operation(bytes, {gradients}));
    const OperationId back = build_.add(OperationKind::copy_gradients_in, Lane::host_to_device,
                                        layer, {{out, false}}, copy_operation(bytes, {gradients}));
    return {gradients, back};
}

/// Head, unless tied, and final norm.
std::vector<std::int64_t> Zero3Pass::head_tensors() const {
    std::vector<std::int64_t> tensors = {model_.hidden};
    if (!model_.tied_embeddings) tensors.insert(tensors.begin(), model_.vocabulary * model_.hidden);
    return tensors;
}

void Zero3Pass::backward_of(OperationKind kind, int layer, const Fetched& fetched, Operation work,
                            const std::vector<std::int64_t>& tensors) {
    double elements = 0;
    for (const std::int64_t tensor : tensors) elements += static_cast<double>(tensor);
    work.kernels.push_back(build_.kernels(
        {memory_bound("reduce gradients", kReduceTraffic * elements,
                      kReduceLaunches * static_cast<std::int64_t>(tensors.size()))}));
    if (tied_gradient_ != kNoBuffer) work.uses.push_back(tied_gradient_);
    const OperationId done = compute(kind, layer, fetched, std::move(work));
    for (const std::int64_t tensor : tensors) {
        if (const auto full = buckets_.add(static_cast<double>(tensor), done)) leave(*full, layer);
    }
}

}  // namespace sluice
