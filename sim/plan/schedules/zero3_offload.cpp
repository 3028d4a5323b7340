// ZeRO-3 of DeepSpeed 0.19.8 on one GPU, parameters and optimizer in pinned host memory (from
// reading runtime/zero/stage3.py, partitioned_param_coordinator.py, parameter_offload.py,
// partition_parameters.py, runtime/comm/coalesced_collectives.py and csrc/includes/cpu_adam.h),
// with a plain PyTorch model. Settings: overlap_comm, contiguous_gradients, reduce_bucket_size 2e8,
// stage3_prefetch_bucket_size 5e7, stage3_param_persistence_threshold 1e5, sub_group_size 1e9, all
// else at its default.
//
// Parameters: each module's are copied in, and those of the next modules while it runs
// (zero3_fetches.h). With one rank a gather is a plain copy on a stream of its own. The host waits
// for copies but not for compute, so that it allocates and copies well ahead.
//
// Gradients: copied into a bucket; a full one is reduced on a second stream, tensor by tensor: to
// pinned bf16, back to the device for its norm, and as fp32 to the sub-group's pinned buffer. The
// third bucket before must have left before the next one does.
//
// Update, when all has left: sub-group by sub-group the fp32 gradients are scaled (also where
// nothing is clipped), CPU Adam updates fp32 masters, and these are copied to the bf16 parameters.
#include <algorithm>
#include <utility>

#include "sim/plan/schedules/plain_model.h"
#include "sim/plan/schedules/pytorch_memory.h"
#include "sim/plan/schedules/schedules.h"
#include "sim/plan/schedules/shapes.h"
#include "sim/plan/schedules/zero3_fetches.h"
#include "sim/plan/schedules/zero3_gradients.h"
#include "sim/plan/schedules/zero3_memory.h"

namespace sluice {
namespace {

// Modules of a layer that hold no parameter to fetch: the layer, attention, feed-forward, norms.
constexpr int kEmptyModules = 5;
// Bytes a gradient moves on the device to be reduced: into the bucket, joined, divided (4 each),
// widened to fp64 and read for the norm (18), cast to fp32 (6).
constexpr double kReduceTraffic = 36;
constexpr std::int64_t kReduceLaunches = 8;
// fp32 master and both moments read and written, gradient read.
constexpr double kAdamTraffic = 7 * kFp32;
// HostWork::copy counts a byte read and written as one: fp32 read, bf16 written.
constexpr double kCopyBack = (kFp32 + kBf16) / 2.0;
constexpr std::size_t kBucketsUnderWay = 3;

class Zero3Offload {
  public:
    Zero3Offload(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& training)
        : model_(model),
          machine_(machine),
          training_(training),
          layers_(model.layer_count()),
          build_(KernelStyle::plain),
          network_(model, training, build_),
          fetches_{number_parameters(), step_calls()} {}

    StepPlan plan() {
        const double outside = declare_zero3_host_memory(model_, machine_, build_);
        declare_device_memory();
        forward();
        backward();
        update();
        say_assumptions();
        declare_zero3_host_moments(model_, outside, build_);
        return build_.finish(std::vector<LayerPlacement>(static_cast<std::size_t>(layers_)));
    }

  private:
    using Kind = MemoryKind;
    using Parameters = std::vector<int>;

    // Parameters to fetch: the embedding is the first, the head (unless tied) the last.

    std::vector<std::int64_t> number_parameters() {
        std::vector<std::int64_t> elements = {embedding_parameters(model_)};
        for (int layer = 0; layer < layers_; ++layer) {
            Parameters& own = of_layer_.emplace_back();
            for (const std::int64_t tensor : module_tensors(model_, model_.layer(layer))) {
                if (tensor <= FetchLimits{}.persistence_threshold) continue;
                own.push_back(static_cast<int>(elements.size()));
                elements.push_back(tensor);
            }
        }
        if (!model_.tied_embeddings) {
            head_ = static_cast<int>(elements.size());
            elements.push_back(model_.vocabulary * model_.hidden);
        }
        elements_ = elements;
        copied_.assign(elements.size(), -1);
        buffers_.assign(elements.size(), kNoBuffer);
        return elements;
    }

    std::vector<Parameters> layer_calls(int layer) const {
        std::vector<Parameters> calls(kEmptyModules);
        for (const int parameter : of_layer_[static_cast<std::size_t>(layer)])
            calls.push_back({parameter});
        return calls;
    }

    /// As recorded: the model, embedding, layers, final norm and head; then backward from the head
    /// on, each layer forward again before its backward.
    std::vector<Parameters> step_calls() const {
        std::vector<Parameters> calls = {{}, {0}};
        const auto append = [&calls](const std::vector<Parameters>& more) {
            calls.insert(calls.end(), more.begin(), more.end());
        };
        for (int layer = 0; layer < layers_; ++layer) append(layer_calls(layer));
        append({{}, {head_}});
        append({{}, {head_}, {}});
        for (int layer = layers_ - 1; layer >= 0; --layer) {
            std::vector<Parameters> own = layer_calls(layer);
            append(own);
            std::reverse(own.begin(), own.end());
            append(own);
        }
        append({{0}});
        return calls;
    }

    /// Copies in what `calls` modules need and what they prefetch. What the operation that stands
    /// for them waits for, and which parameters it is the last to use.
    struct Fetched {
        std::vector<Dependency> waits;
        std::vector<BufferId> released;
    };
    Fetched call_modules(int calls, int layer) {
        Fetched fetched;
        for (int i = 0; i < calls; ++i) {
            const ParameterFetches::Call call = fetches_.next();
            copy_in(call.missing, layer);
            copy_in(call.prefetched, layer);
            for (const int parameter : call.released)
                fetched.released.push_back(buffers_[static_cast<std::size_t>(parameter)]);
        }
        return fetched;
    }
    void wait_for(const Parameters& parameters, Fetched& fetched) const {
        for (const int parameter : parameters)
            fetched.waits.push_back({copied_[static_cast<std::size_t>(parameter)], false});
    }

    void copy_in(const Parameters& parameters, int layer) {
        if (parameters.empty()) return;
        double bytes = 0;
        std::vector<BufferId> uses;
        for (const int parameter : parameters) {
            const auto index = static_cast<std::size_t>(parameter);
            const double own = kBf16 * static_cast<double>(elements_[index]);
            bytes += own;
            buffers_[index] = build_.device_buffer("gathered parameter", Kind::weights, own);
            uses.push_back(buffers_[index]);
        }
        std::vector<Dependency> waits;
        if (buckets_left_.size() > kBucketsUnderWay)
            waits.push_back({buckets_left_[buckets_left_.size() - 1 - kBucketsUnderWay], false});
        const OperationId copied =
            build_.add(OperationKind::copy_weights_in, Lane::host_to_device, layer,
                       std::move(waits), copy_operation(bytes, std::move(uses)));
        if (first_copy_ < 0) first_copy_ = copied;
        for (const int parameter : parameters)
            copied_[static_cast<std::size_t>(parameter)] = copied;
    }

    OperationId compute(OperationKind kind, int layer, const Fetched& fetched, Operation work) {
        work.uses.insert(work.uses.end(), fetched.released.begin(), fetched.released.end());
        return build_.add(kind, Lane::compute, layer, fetched.waits, std::move(work));
    }

    void declare_device_memory() {
        build_.on_device("reduce bucket", Kind::gradients, kBf16 * kReduceBucketElements);
        double persistent = all_parameters(model_);
        for (const std::int64_t elements : elements_) persistent -= static_cast<double>(elements);
        build_.on_device("parameters that stay", Kind::weights, kBf16 * persistent);
        if (model_.tied_embeddings)
            tied_gradient_ =
                build_.device_buffer("tied table's gradient", Kind::gradients, table_bytes(model_));
    }

    int calls_of(int layer) const {
        return kEmptyModules + static_cast<int>(of_layer_[static_cast<std::size_t>(layer)].size());
    }

    void forward() {
        Fetched fetched = call_modules(2, kEmbeddingLayer);
        wait_for({0}, fetched);
        for (int layer = 0; layer < layers_; ++layer) {
            Fetched own = call_modules(calls_of(layer), layer);
            wait_for(of_layer_[static_cast<std::size_t>(layer)], own);
            if (layer == 0) {
                own.waits.insert(own.waits.end(), fetched.waits.begin(), fetched.waits.end());
                own.released.insert(own.released.end(), fetched.released.begin(),
                                    fetched.released.end());
            }
            compute(OperationKind::forward, layer, own, network_.forward(layer));
        }
        Fetched head = call_modules(2, layers_);
        wait_for({head_}, head);
        compute(OperationKind::loss, layers_, head, network_.loss());
    }

    void backward() {
        Fetched head = call_modules(3, layers_);
        wait_for({head_}, head);
        backward_of(OperationKind::backward, layers_, head, network_.loss_backward(),
                    head_tensors());
        for (int layer = layers_ - 1; layer >= 0; --layer) {
            Fetched own = call_modules(2 * calls_of(layer), layer);
            wait_for(of_layer_[static_cast<std::size_t>(layer)], own);
            std::vector<std::int64_t> tensors = module_tensors(model_, model_.layer(layer));
            std::reverse(tensors.begin(), tensors.end());
            backward_of(OperationKind::backward, layer, own, network_.backward(layer), tensors);
        }
        Fetched embedding = call_modules(1, kEmbeddingLayer);
        wait_for({0}, embedding);
        backward_of(OperationKind::embedding_backward, kEmbeddingLayer, embedding,
                    network_.embedding_backward(), {embedding_parameters(model_)});
        leave(buckets_.rest(), kEmbeddingLayer);
    }

    /// Head, unless tied, and final norm.
    std::vector<std::int64_t> head_tensors() const {
        std::vector<std::int64_t> tensors = {model_.hidden};
        if (!model_.tied_embeddings)
            tensors.insert(tensors.begin(), model_.vocabulary * model_.hidden);
        return tensors;
    }

    void backward_of(OperationKind kind, int layer, const Fetched& fetched, Operation work,
                     const std::vector<std::int64_t>& tensors) {
        double elements = 0;
        for (const std::int64_t tensor : tensors) elements += static_cast<double>(tensor);
        work.kernels.push_back(build_.kernels(
            {memory_bound("reduce gradients", kReduceTraffic * elements,
                          kReduceLaunches * static_cast<std::int64_t>(tensors.size()))}));
        if (tied_gradient_ != kNoBuffer) work.uses.push_back(tied_gradient_);
        const OperationId done = compute(kind, layer, fetched, std::move(work));
        for (const std::int64_t tensor : tensors) {
            if (const auto full = buckets_.add(static_cast<double>(tensor), done))
                leave(*full, layer);
        }
    }

    void leave(const GradientBucket& bucket, int layer) {
        const BufferId reduced =
            build_.device_buffer("gradients on their way", Kind::gradients, bucket.device_bytes());
        const OperationId out =
            build_.add(OperationKind::copy_gradients_out, Lane::device_to_host, layer,
                       {{bucket.last, false}}, copy_operation(kBf16 * bucket.elements, {reduced}));
        const OperationId back =
            build_.add(OperationKind::copy_gradients_in, Lane::host_to_device, layer,
                       {{out, false}}, copy_operation(kBf16 * bucket.elements, {reduced}));
        buckets_left_.push_back(build_.add(OperationKind::copy_gradients_out, Lane::device_to_host,
                                           layer, {{back, false}},
                                           copy_operation(kFp32 * bucket.elements, {reduced})));
    }

    void update() {
        OperationId last = buckets_left_.back();
        for (const double elements : zero3_sub_groups(model_)) {
            build_.add(OperationKind::clip_gradients, Lane::optimizer, kEmbeddingLayer,
                       {{last, false}}, host_operation(HostWork::scale, kFp32 * elements));
            build_.add(OperationKind::update, Lane::optimizer, kEmbeddingLayer, {},
                       host_operation(HostWork::eager_adam, kAdamTraffic * elements));
            last = build_.add(OperationKind::copy_to_pinned, Lane::optimizer, kEmbeddingLayer, {},
                              host_operation(HostWork::copy, kCopyBack * elements));
        }
        build_.wait(first_copy_, {last, true});
    }

    void say_assumptions() {
        build_.assume(
            "DeepSpeed's CPU Adam on fp32 masters (28 bytes a parameter) and their copy to bf16 "
            "move "
            "host memory as fast as Adam on bf16 masters and a plain copy do");
        build_.assume("the Python of DeepSpeed's hooks is hidden behind the GPU's work");
    }

    const ModelSpec& model_;
    const MachineSpec& machine_;
    const TrainingSpec& training_;
    const int layers_;
    PlanBuilder build_;
    PlainModel network_;

    int head_ = 0;
    std::vector<Parameters> of_layer_;
    std::vector<std::int64_t> elements_;
    std::vector<OperationId> copied_;  ///< the last copy of each parameter
    std::vector<BufferId> buffers_;    ///< where it is now
    ParameterFetches fetches_;

    GradientBuckets buckets_;
    BufferId tied_gradient_ = kNoBuffer;
    std::vector<OperationId> buckets_left_;  ///< the last copy of each
    OperationId first_copy_ = -1;
};

}  // namespace

StepPlan plan_zero3_offload(const ModelSpec& model, const MachineSpec& machine,
                            const TrainingSpec& training) {
    return Zero3Offload(model, machine, training).plan();
}

}  // namespace sluice
