#include <algorithm>
#include <utility>

#include "sim/plan/schedules/cluster.h"
#include "sim/plan/schedules/zero3.h"

namespace sluice {
namespace {

// Device memory traffic of a gradient in bytes. To be reduced: into the bucket, joined, divided (4
// each). To be added to the copy that came back: 6. For the optimizer: widened to fp64 and read for
// the norm (18), cast to fp32 (6).
constexpr double kReduceTraffic = 12, kZero3AddTraffic = 6, kToOptimizerTraffic = 24;
constexpr std::int64_t kReduceLaunches = 3, kAddLaunches = 1, kToOptimizerLaunches = 5;

// Host time of DeepSpeed's hooks, in units of an eager PyTorch operation, measured like the plain
// model's (pytorch.cpp): a module's call, the same in backward, a parameter that is fetched, a
// gradient that is reduced. Modules that compute nothing gave the first two (0.24 and 0.38 ms where
// an operation takes 6 us); the rest of a layer's time gave the others.
constexpr double kCallOperations = 39, kBackwardCallOperations = 23;
constexpr double kFetchOperations = 11, kReduceOperations = 54;

/// The norm is taken in fp64, over that many elements at a time.
constexpr double kNormElements = 2.5e8, kFp64 = 8;

}  // namespace

Zero3Pass::Zero3Pass(const ModelSpec& model, const MachineSpec& machine,
                     const TrainingSpec& training, double bucket_elements)
    : PyTorchStep(model, machine, training, kOfPythonThread),
      modules_(model),
      head_{modules_.head()},
      python_(build_),
      bucket_elements_(bucket_elements),
      on_device_(modules_.elements().size(), kNoBuffer) {}

void Zero3Pass::declare() {
    build_.on_device("reduce bucket", Kind::gradients, kBf16 * bucket_elements_);
}

Operation Zero3Pass::gather(const Parameters& parameters) {
    Operation copy;
    for (const int parameter : parameters) {
        const auto index = static_cast<std::size_t>(parameter);
        const double bytes = kBf16 * static_cast<double>(modules_.elements()[index]);
        on_device_[index] = build_.device_buffer("gathered parameter", Kind::weights, bytes);
        copy.link_bytes += bytes * part();
        copy.uses.push_back(on_device_[index]);
    }
    return copy;
}

BufferUses Zero3Pass::gathered(const Parameters& parameters) const {
    BufferUses buffers;
    for (const int parameter : parameters)
        buffers.push_back(on_device_[static_cast<std::size_t>(parameter)]);
    return buffers;
}

/// Host time of fetching them, in eager operations.
double Zero3Pass::fetch_operations(const Parameters& parameters) const {
    double tensors = 0;
    for (const int parameter : parameters)
        tensors += modules_.tensors()[static_cast<std::size_t>(parameter)];
    return kFetchOperations * tensors;
}

void Zero3Pass::declare_parameters_that_stay() {
    double persistent = all_parameters(model_);
    for (const std::int64_t elements : modules_.elements())
        persistent -= static_cast<double>(elements);
    build_.on_device("parameters that stay", Kind::weights, kBf16 * persistent);
}

void Zero3Pass::pin(const char* name, Kind kind, double bytes) {
    build_.on_host(name, kind, bytes);
    pinned_ += bytes;
}

double Zero3Pass::declare_tables_of_pinned() {
    // Per pinned byte: the growth of used memory when 5.1 GB were pinned on the H200 machine.
    constexpr double kTables = 0.0157;
    build_.on_host("tables of pinned pages", Kind::process, kTables * pinned_);
    return kTables * pinned_;
}

void Zero3Pass::begin_pass() {
    if (!is_first()) {
        python_.wait_for(last_left(), kEmbeddingLayer);
        trace_again();
    }
    if (model_.tied_embeddings)
        tied_gradient_ =
            build_.device_buffer("tied table's gradient", Kind::gradients, table_bytes(model_));
    embedding_released_ =
        fetch(2, kEmbeddingLayer, embedding_, 2 * kCallOperations + kFetchOperations).released;
}

void Zero3Pass::module(OperationKind kind, int layer, Operation work) {
    const bool is_forward = kind == OperationKind::forward || kind == OperationKind::loss;
    const bool of_layer = is_layer(layer);
    const Parameters& used = of_layer           ? modules_.of_layer(layer)
                             : layer == layers_ ? head_
                                                : embedding_;
    // Calls of the host; a layer's calls are made forward again before its backward.
    int calls = of_layer ? modules_.calls_of(layer) : is_forward ? 2 : layer == layers_ ? 3 : 1;
    const std::vector<std::int64_t> tensors =
        is_forward ? std::vector<std::int64_t>{} : tensors_with_gradients(layer);
    if (is_forward) {
        work.eager_operations += kCallOperations * calls;
        work = also_using(std::move(work), std::exchange(embedding_released_, {}));
    } else {
        const bool recomputes = of_layer && pass_.recompute != Recompute::none;
        const int again = recomputes ? calls : 0, backward = calls;
        calls = again + backward;
        work.eager_operations += kCallOperations * again + kBackwardCallOperations * backward +
                                 kReduceOperations * static_cast<double>(tensors.size());
        if (recomputes) work.eager_operations += fetch_operations(used);
        work.kernels.push_back(build_.kernels(reduce_kernels(tensors)));
        work.uses.push_back(tied_gradient_);
    }
    Dependencies waits = python_.reached(layer);
    const double fetches = fetch_operations(used);
    const Fetched fetched =
        fetch(calls, layer, used, std::exchange(work.eager_operations, 0) + fetches);
    waits.append(fetched.waits);
    waits.push_back({in_line()});
    const OperationId done =
        build_.add(kind, layer, std::move(waits), also_using(std::move(work), fetched.released));
    follow(done);
    for (const std::int64_t tensor : tensors)
        if (const auto full = filling_.add(static_cast<double>(tensor), done, bucket_elements_))
            leave(*full, layer);
    if (layer == kEmbeddingLayer) leave(std::exchange(filling_, {}), kEmbeddingLayer);
}

/// In the order in which backward computes them. The head's: itself, unless tied, and final norm.
std::vector<std::int64_t> Zero3Pass::tensors_with_gradients(int layer) const {
    if (layer == kEmbeddingLayer) return {embedding_parameters(model_)};
    if (layer == layers_)
        return model_.tied_embeddings
                   ? std::vector{model_.hidden}
                   : std::vector{model_.vocabulary * model_.hidden, model_.hidden};
    std::vector<std::int64_t> tensors = tensors_of(layer);
    std::reverse(tensors.begin(), tensors.end());
    return tensors;
}

Zero3Pass::SentBucket Zero3Pass::send(const GradientBucket& bucket, int layer) {
    const BufferId gradients = build_.device_buffer("gradients on their way", Kind::gradients,
                                                    bucket.device_bytes(is_last()));
    const double bytes = kBf16 * bucket.elements;
    const auto move = [&](OperationKind kind, Waits waits) {
        return build_.add(kind, layer, std::move(waits),
                          copy_operation(bytes * part(), {gradients}));
    };
    constexpr auto kOut = OperationKind::copy_gradients_out, kIn = OperationKind::copy_gradients_in;
    Dependencies waits = python_.reached(layer);
    waits.push_back({bucket.last});
    waits.push_back({in_line()});
    if (training_.gpus > 1)
        waits = {{build_.add(
            OperationKind::reduce_scatter, layer, std::move(waits),
            collective_operation(Collective::reduce_scatter, bytes, training_.gpus, {gradients}))}};
    if (is_first()) return {bucket, gradients, move(kIn, {{move(kOut, std::move(waits))}})};
    waits.push_back({last_left()});
    return {bucket, gradients, move(kOut, {{move(kIn, std::move(waits))}})};
}

/// A full bucket leaves before the tensor goes into the next.
std::optional<GradientBucket> GradientBucket::add(double tensor_elements, OperationId computed_by,
                                                  double capacity) {
    std::optional<GradientBucket> full;
    if (tensors > 0 && elements + tensor_elements > capacity)
        full = std::exchange(*this, GradientBucket{});
    elements += tensor_elements;
    largest = std::max(largest, tensor_elements);
    if (tensor_elements > capacity) outside += tensor_elements;
    ++tensors;
    last = computed_by;
    return full;
}

void Zero3Pass::leave(const GradientBucket& bucket, int layer) {
    const SentBucket sent = send(bucket, layer);
    left_.push_back(is_last() ? to_optimizer(sent, layer) : sent.last);
    follow(left_.back());
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

OperationId Zero3Pass::update_on_cpu(double elements, Waits waits) {
    build_.add(OperationKind::clip_gradients, kEmbeddingLayer, std::move(waits),
               host_operation(HostWork::scale_fp32, kFp32 * elements));
    build_.add(OperationKind::update, kEmbeddingLayer, {},
               host_operation(HostWork::eager_adam, kZero3AdamTraffic * elements));
    return build_.add(OperationKind::copy_to_pinned, kEmbeddingLayer, {},
                      host_operation(HostWork::copy, kZero3CopyBack * elements));
}

double GradientBucket::device_bytes(bool to_optimizer) const {
    // Several tensors are joined again to be reduced. One after another comes back from the host in
    // bf16 (or is added to what came back), is widened for its norm and cast to fp32.
    const double joined = tensors > 1 ? kBf16 * elements : 0;
    const double norm = kFp64 * std::min(largest, kNormElements);
    const double fp32 = to_optimizer ? std::max<double>(norm, kFp32 * largest) : 0;
    return joined + kBf16 * outside + kBf16 * largest + fp32;
}

std::vector<std::int64_t> zero3_tensors(const ModelSpec& model) {
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

std::vector<double> zero3_sub_groups(const ModelSpec& model, double sub_group_size) {
    std::vector<double> groups = {0};
    for (const std::int64_t elements : zero3_tensors(model)) {
        if (groups.back() >= sub_group_size) groups.push_back(0);
        groups.back() += static_cast<double>(elements);
    }
    return groups;
}

}  // namespace sluice
