#include <algorithm>
#include <utility>

#include "sim/plan/schedules/zero3.h"

namespace sluice {
namespace {

// Bytes a gradient moves on the device to be reduced: into the bucket, joined, divided (4 each); to
// be added to what came back (6); for the optimizer, widened to fp64 and read for the norm (18),
// cast to fp32 (6).
constexpr double kReduceTraffic = 12, kZero3AddTraffic = 6, kToOptimizerTraffic = 24;
constexpr std::int64_t kReduceLaunches = 3, kAddLaunches = 1, kToOptimizerLaunches = 5;

// Host time of DeepSpeed's hooks, in that of an eager PyTorch operation, measured as that of the
// plain model (pytorch.cpp): a module's call, the same in backward, a parameter that is
// fetched, a gradient that is reduced. Modules that compute nothing gave the first two, 0.24 and
// 0.38 ms where an operation takes 6 us; what is left of a layer is the others'.
constexpr double kCallOperations = 39, kBackwardCallOperations = 23;
constexpr double kFetchOperations = 11, kReduceOperations = 54;

/// The norm is taken in fp64, of so many elements at a time.
constexpr double kNormElements = 2.5e8, kFp64 = 8;

/// Every tensor in the model's order: embedding, layers, final norm, head.
std::vector<std::int64_t> all_tensors(const ModelSpec& model) {
    std::vector<std::int64_t> root = root_tensors(model);
    const auto after_layers = root.begin() + (model.learned_positions > 0 ? 2 : 1);
    std::vector<std::int64_t> all(root.begin(), after_layers);
    for (int layer = 0; layer < model.layer_count(); ++layer) {
        const std::vector<std::int64_t> own = module_tensors(model, model.layer(layer));
        all.insert(all.end(), own.begin(), own.end());
    }
    all.insert(all.end(), after_layers, root.end());
    return all;
}

/// Each tensor is pinned by itself before it is copied into the flat buffer, which frees it; but
/// PyTorch's allocator keeps it.
double first_copies(const ModelSpec& model) {
    double bytes = 0;
    for (const std::int64_t elements : all_tensors(model)) {
        if (elements > FetchLimits{}.persistence_threshold)
            bytes += pinned_bytes(kBf16 * static_cast<double>(elements));
    }
    return bytes;
}

}  // namespace

Zero3Pass::Zero3Pass(const ModelSpec& model, const MachineSpec& machine,
                     const TrainingSpec& training, double bucket_elements)
    : PyTorchStep(model, machine, training, kOfPythonThread),
      modules_(model),
      head_{modules_.head()},
      python_(build_),
      buckets_(bucket_elements) {}

void Zero3Pass::declare() {
    build_.on_device("reduce bucket", Kind::gradients, kBf16 * buckets_.capacity());
}

void Zero3Pass::pass() {
    if (!is_first()) {
        python_.wait_for(last_left(), kEmbeddingLayer);
        begin_pass();
    }
    if (model_.tied_embeddings)
        tied_gradient_ =
            build_.device_buffer("tied table's gradient", Kind::gradients, table_bytes(model_));
    forward();
    backward();
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
        std::vector<std::int64_t> tensors = tensors_of(layer);
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
    waits.push_back({bucket.last});
    if (is_first()) return {bucket, gradients, in({{out(std::move(waits))}})};
    waits.push_back({last_left()});
    return {bucket, gradients, out({{in(std::move(waits))}})};
}

void Zero3Pass::leave(const GradientBucket& bucket, int layer) {
    const SentBucket sent = send(bucket, layer);
    left_.push_back(is_last() ? to_optimizer(sent, layer) : sent.last);
}

KernelList Zero3Pass::reduce_kernels(const std::vector<std::int64_t>& tensors) const {
    double elements = 0;
    for (const std::int64_t tensor : tensors) elements += static_cast<double>(tensor);
    const double traffic = kReduceTraffic + (is_first() ? 0 : kZero3AddTraffic) +
                           (is_last() ? kToOptimizerTraffic : 0);
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

double GradientBucket::device_bytes(bool to_optimizer) const {
    // Several tensors are joined once more to be reduced; one after another comes back from the
    // host in bf16 (or is added up with what does), is widened for its norm and cast to fp32.
    const double joined = tensors > 1 ? kBf16 * elements : 0;
    const double norm = kFp64 * std::min(largest, kNormElements);
    const double fp32 = to_optimizer ? std::max<double>(norm, kFp32 * largest) : 0;
    return joined + kBf16 * outside + kBf16 * largest + fp32;
}

std::optional<GradientBucket> GradientBuckets::add(double tensor_elements,
                                                   OperationId computed_by) {
    std::optional<GradientBucket> full;
    if (filling_.tensors > 0 && filling_.elements + tensor_elements > capacity_)
        full = std::exchange(filling_, {});
    filling_.elements += tensor_elements;
    filling_.largest = std::max(filling_.largest, tensor_elements);
    if (tensor_elements > capacity_) filling_.outside += tensor_elements;
    ++filling_.tensors;
    filling_.last = computed_by;
    return full;
}

std::vector<double> zero3_sub_groups(const ModelSpec& model, double sub_group_size) {
    std::vector<double> groups = {0};
    for (const std::int64_t elements : all_tensors(model)) {
        if (groups.back() >= sub_group_size) groups.push_back(0);
        groups.back() += static_cast<double>(elements);
    }
    return groups;
}

void declare_parameters_that_stay(const ModelSpec& model, const Zero3Modules& modules,
                                  PlanBuilder& build) {
    double persistent = all_parameters(model);
    for (const std::int64_t elements : modules.elements())
        persistent -= static_cast<double>(elements);
    build.on_device("parameters that stay", MemoryKind::weights, kBf16 * persistent);
}

double declare_zero3_host_memory(const ModelSpec& model, const MachineSpec& machine,
                                 const std::vector<double>& sub_groups, PlanBuilder& build) {
    using Kind = MemoryKind;
    const double all = all_parameters(model);
    declare_processes(machine, 1, build);
    build.on_host("fp32 masters and moments", Kind::optimizer_state, 3 * kFp32 * all);
    double pinned = 0;
    const auto pin = [&](const char* name, Kind kind, double bytes) {
        build.on_host(name, kind, bytes);
        pinned += bytes;
    };
    double of_sub_groups = 0;
    for (const double elements : sub_groups) of_sub_groups += pinned_bytes(kFp32 * elements);
    pin("pinned bf16 parameters", Kind::weights, pinned_bytes(kBf16 * all));
    pin("pinned bf16 gradients", Kind::gradients, pinned_bytes(kBf16 * all));
    pin("pinned fp32 gradients of sub-groups", Kind::gradients, of_sub_groups);
    pin("first pinned copies, kept by PyTorch", Kind::pinned_buffers, first_copies(model));
    build.on_host("tables of pinned pages", Kind::process, kTablesOfPinned * pinned);
    return kTablesOfPinned * pinned;
}

void declare_zero3_host_moments(const ModelSpec& model, double outside_process,
                                PlanBuilder& build) {
    const Bytes steady = build.host_peak();
    const auto moments = static_cast<Bytes>(2 * kFp32 * all_parameters(model));
    build.moment("loading", steady - moments, "plus the file's pages, if they are not dropped");
    build.moment("first step", steady, "moments appear at the first update");
    build.moment("steady", steady, "nothing is freed between steps");
    build.moment("saving", steady, "masters and moments are written as they are");
    build.resident_between_steps(steady - static_cast<Bytes>(outside_process));
}

}  // namespace sluice
