// Which code do all uses of ZeRO-3 on one GPU share? The model's forward and backward, parameters
// that arrive before a module, and gradients that leave in buckets after it.
//
// Micro-batches are DeepSpeed's gradient_accumulation_steps (runtime/zero/stage3.py's
// partition_grads, parameter_offload.py's start of forward; the same in 0.19.8 and at edaa722).
// Each fetches the parameters again, by the trace of one forward and backward. The first gradients
// are copied to pinned bf16 and back (data_types.grad_accum_dtype is the model's type unless it is
// set). Later ones are added on the device to the copy that came back, and the sum is copied out
// again. Only the sums of the last micro-batch become the optimizer's fp32 gradients, after their
// norm. At the end of each backward the host waits until all gradients have left.
//
// Python: modules run on the GPU while the host still issues them, so they begin when it does.
// Operations after a module, such as gradients that leave, come after the module's Python.
#pragma once

#include <utility>

#include "sim/plan/schedules/pytorch.h"

namespace sluice {

/// Limits of the coordinator of deepspeed 0.19.8, in elements of parameters.
struct FetchLimits {
    std::int64_t prefetch_bucket = 50'000'000;     ///< stage3_prefetch_bucket_size
    std::int64_t live = 1'000'000'000;             ///< stage3_max_live_parameters
    std::int64_t reuse_distance = 1'000'000'000;   ///< stage3_max_reuse_distance
    std::int64_t persistence_threshold = 100'000;  ///< such a tensor stays on the device
};

/// Parameters on storage (ZeRO-Infinity). A read takes a buffer of host memory, which the parameter
/// keeps until it is dropped from the device.
struct OnStorage {
    std::vector<bool> parameters;      ///< which of them; empty: none
    int buffers = 0;                   ///< buffer_count of offload_param
    std::vector<int> buffers_of = {};  ///< that each of them takes; empty: one
};

/// Follows the modules of one step in the order of their calls: forward, recomputation and
/// backward. The trace of the previous step is known, as from the third step on.
class ParameterFetches {
  public:
    /// `elements` of each parameter; `calls`: the parameters that each module call of a step uses,
    /// in order.
    ParameterFetches(std::vector<std::int64_t> elements, std::vector<std::vector<int>> calls,
                     FetchLimits limits = {}, OnStorage on_storage = {});

    /// Indices of parameters. Each list is copied in one after another.
    struct Call {
        std::vector<int> read_first;  ///< missing ones, read from storage
        std::vector<int> missing;     ///< copied in now; the module waits
        std::vector<int> prefetched;  ///< copied in while it runs
        std::vector<int> read_ahead;  ///< from storage, after those copies
        std::vector<int> released;    ///< after it has run
        bool missing_wait = false;    ///< for all reads in flight
        bool prefetched_wait = false;
    };
    /// The next call. Precondition: one is left.
    Call next();
    /// Whether a parameter was missing when no buffer was free; DeepSpeed then stops with an error.
    bool out_of_buffers() const { return out_of_buffers_; }
    std::size_t calls() const { return calls_.size(); }

  private:
    enum class Place : std::uint8_t { storage, under_way, buffer };
    struct Use {
        int parameter;
        std::ptrdiff_t call;
    };
    std::vector<int> fetch_missing(const std::vector<int>& used);
    void take_from_queue(const std::vector<int>& used);
    std::vector<int> prefetch();
    std::vector<int> read_missing(const std::vector<int>& missing);
    std::vector<int> read_ahead();
    void take_buffer(int parameter);
    bool wait_for_reads(const std::vector<int>& parameters);
    std::vector<int> release(const std::vector<int>& used);
    void move_reuse_window();
    void bring(int parameter);
    void set_unused(int parameter, bool unused);

    std::vector<std::int64_t> elements_;
    std::vector<std::vector<int>> calls_;
    FetchLimits limits_;
    std::vector<Use> queue_;                   ///< uses in order
    std::size_t queued_ = 0;                   ///< the next one to prefetch
    std::ptrdiff_t call_ = 0;                  ///< the next one to call
    std::vector<std::ptrdiff_t> fetched_for_;  ///< the last call that a parameter was fetched for
    std::vector<bool> there_;
    std::int64_t live_ = 0;
    std::vector<Place> places_;
    std::vector<int> under_way_;  ///< from storage
    std::vector<bool> on_storage_;
    std::vector<int> buffers_of_;
    std::vector<bool> unused_yet_;      ///< prefetched, but not yet used by a module
    std::int64_t unused_elements_ = 0;  ///< elements of those
    std::ptrdiff_t window_begin_ = 0, window_end_ = 0;  ///< the calls that count as soon
    std::int64_t window_elements_ = 0;
    std::vector<int> uses_in_window_;  ///< of each parameter
    int free_buffers_;
    bool out_of_buffers_ = false;
};

/// Parameters to fetch, by index: the embedding is the first, the head (unless tied) the last.
/// Tensors of at most stage3_param_persistence_threshold elements stay on the device and are left
/// out. The experts of a layer are one parameter: ZeRO-3 trains them only where their block is a
/// leaf module (set_z3_leaf_modules), whose tensors are fetched and released together.
class Zero3Modules {
  public:
    using Parameters = std::vector<int>;

    explicit Zero3Modules(const ModelSpec& model);

    const std::vector<std::int64_t>& elements() const { return elements_; }
    /// Number of equal tensors that each parameter has: more than one only for experts.
    const std::vector<int>& tensors() const { return tensors_; }
    /// Number of the model's elements before a parameter, in the model's order.
    const std::vector<double>& elements_before() const { return elements_before_; }
    const Parameters& of_layer(int layer) const {
        return of_layer_[static_cast<std::size_t>(layer)];
    }
    int head() const { return head_; }
    /// Modules that are called in a forward of the layer.
    int calls_of(int layer) const;

    /// The recorded calls: the model, embedding, layers, final norm and head; then backward from
    /// the head on, with each layer's forward again before its backward, if that is `recomputed`.
    std::vector<Parameters> step_calls(bool recomputed = true) const;

  private:
    std::vector<Parameters> layer_calls(int layer) const;

    int layers_;
    int head_ = 0;
    std::vector<Parameters> of_layer_;
    std::vector<std::int64_t> elements_;
    std::vector<int> tensors_;
    std::vector<double> elements_before_;
};

/// Gradients that are reduced together, and sent to the host one after another.
struct GradientBucket {
    double elements = 0;
    double largest = 0;  ///< elements of one tensor
    double outside = 0;  ///< elements of tensors too large to be copied into the bucket
    std::int64_t tensors = 0;
    OperationId last = 0;  ///< the operation that computed the last of them

    /// Device bytes while it leaves, in addition to the bucket itself; `to_optimizer`: also in
    /// fp32, after its norm.
    double device_bytes(bool to_optimizer) const;
    /// Adds a tensor. If that exceeds `capacity` elements, returns the earlier content, which
    /// leaves first.
    std::optional<GradientBucket> add(double tensor_elements, OperationId computed_by,
                                      double capacity);
};

// Memory traffic of CPU Adam per parameter: fp32 master and both moments read and written, gradient
// read (csrc/includes/cpu_adam.h).
inline constexpr double kZero3AdamTraffic = 7 * kFp32;
// An fp32 master becomes a bf16 parameter: HostWork::copy counts a byte read and written as one.
inline constexpr double kZero3CopyBack = (kFp32 + kBf16) / 2.0;
inline constexpr const char* kZero3AdamAssumption =
    "DeepSpeed's CPU Adam on fp32 masters (28 bytes a parameter) and their copy to bf16 move host "
    "memory as fast as Adam on bf16 masters and a plain copy do";

/// Options of zero3-offload alone; other systems on its pass have the defaults.
struct Zero3Options {
    std::int64_t offload_params = 1;  ///< 0: each GPU keeps its part of them
    std::int64_t overlap_comm = 1;    ///< 0: copies run on the stream that computes
};

inline constexpr double kReduceBucketElements = 2e8;   ///< DeepSpeed's reduce_bucket_size
inline constexpr double kZero3SubGroupElements = 1e9;  ///< sub_group_size
/// As given, or the schedule's own.
inline double sub_group_elements(const TrainingSpec& training, double own) {
    const auto asked = static_cast<double>(training.sub_group_elements);
    return asked > 0 ? asked : own;
}

/// Elements of every tensor in the model's order: embedding, layers, final norm, head.
std::vector<std::int64_t> zero3_tensors(const ModelSpec& model);

/// Elements that the optimizer updates at once: tensors in the model's order, cut after the one
/// that completes sub_group_size elements.
std::vector<double> zero3_sub_groups(const ModelSpec& model,
                                     double sub_group_size = kZero3SubGroupElements);

/// How ZeRO-Infinity divides a model for storage. Counts are of elements.
struct InfinityLayout {
    /// `modules` must outlive it.
    InfinityLayout(const ModelSpec& model, const Zero3Modules& modules, double sub_group_size);
    ParameterFetches fetches(int buffers) const;

    const Zero3Modules* modules;
    std::vector<double> sub_groups;  ///< that the optimizer updates at once
    double largest_sub_group = 0;
    std::size_t sub_groups_on_host =
        0;  ///< the first ones, within max_in_cpu, whose parameters stay in memory
    std::vector<bool> on_storage;    ///< by parameter
    double elements_on_storage = 0;  ///< parameters; all states are on storage
    double largest_tensor = 0;       ///< buffer_size of offload_param
    int parameter_buffers = 0;       ///< its buffer_count
};

/// A system defines where parameters come from, where gradients go, and how they are applied.
class Zero3Pass : public PyTorchStep {
  protected:
    /// `bucket_elements`: reduce_bucket_size. Everything else must outlive it.
    Zero3Pass(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& training,
              double bucket_elements);

    using Parameters = Zero3Modules::Parameters;

    /// Dependencies of a group of modules in addition to the start of their Python, and buffers
    /// that they are the last to use.
    struct Fetched {
        Waits waits;
        BufferUses released;
    };
    /// The host calls the next `calls` modules, which use the parameters `used` and take
    /// `eager_operations` of its time; python_ must run for that time.
    virtual Fetched fetch(int calls, int layer, const Parameters& used,
                          double eager_operations) = 0;
    /// The copy of parameters to new buffers on the device.
    Operation gather(const Parameters& parameters);
    /// The parameters' current buffers, after their copies.
    BufferUses gathered(const Parameters& parameters) const;
    /// A second or later micro-batch begins; python_ has waited for last_left().
    virtual void trace_again() {}

    /// A bucket's gradients on the device, and the last copy between device and pinned bf16.
    struct SentBucket {
        const GradientBucket& bucket;
        BufferId gradients;
        OperationId last;
    };
    /// The last micro-batch's gradients of a bucket go to the optimizer's; `layer` computed the
    /// last of them. Returns the last copy.
    virtual OperationId to_optimizer(const SentBucket& sent, int layer) = 0;
    /// The last copy of a bucket in any micro-batch; -1 if none has left.
    OperationId last_left() const { return left_.empty() ? -1 : left_.back(); }
    /// One of several GPUs has this part of all parameters, gradients and states.
    double part() const { return 1 / static_cast<double>(training_.gpus); }
    /// Without overlap_comm, copies and modules have one stream: its last operation; else -1.
    OperationId in_line() const { return in_line_; }
    void follow(OperationId operation) {
        if (training_.own.of<Zero3Options>().overlap_comm == 0) in_line_ = operation;
    }
    /// The last copy of each bucket, in order.
    const std::vector<OperationId>& buckets_left() const { return left_; }

    /// The bucket.
    void declare() override;
    /// Parameters of at most stage3_param_persistence_threshold elements, on the device.
    void declare_parameters_that_stay();
    void pin(const char* name, Kind kind, double bytes);
    /// Adds the system's and the driver's tables of all pinned memory; returns their bytes, which
    /// are outside the process.
    double declare_tables_of_pinned();
    void begin_pass() override;
    void module(OperationKind kind, int layer, Operation work) override;
    /// Scales a sub-group's gradients, updates its masters and copies them to bf16. Returns the
    /// last operation.
    OperationId update_on_cpu(double elements, Waits waits);

    const Zero3Modules modules_;
    const Parameters embedding_ = {0}, head_;
    PythonThread python_;

  private:
    double fetch_operations(const Parameters& parameters) const;
    void leave(const GradientBucket& bucket, int layer);
    SentBucket send(const GradientBucket& bucket, int layer);
    KernelList reduce_kernels(const std::vector<std::int64_t>& tensors) const;
    std::vector<std::int64_t> tensors_with_gradients(int layer) const;

    double pinned_ = 0;             ///< bytes
    const double bucket_elements_;  ///< reduce_bucket_size
    GradientBucket filling_;
    std::vector<BufferId> on_device_;  ///< of each parameter, after it was gathered
    BufferId tied_gradient_ = kNoBuffer;
    BufferUses embedding_released_;  ///< after the first layer has run
    std::vector<OperationId> left_;
    OperationId in_line_ = -1;
};

}  // namespace sluice
