// SuperOffload: ZeRO-3 of DeepSpeed on one superchip, parameters on the GPU, CPU Adam in a process
// of its own while backward goes on (from reading DeepSpeed at commit edaa722, after its release
// 0.19.5: runtime/superoffload/superoffload_stage3.py and superoffload_utils.py, which do the same
// work in the same order in 0.19.8, runtime/zero/stage3.py and ops/adam/cpu_adam.py; PyTorch
// 2.11.0's multiprocessing/reductions.py; ATen's native/cuda/Copy.cu at commit 007aa8a).
// Settings: those of DeepSpeedExamples/training/DeepSpeed-SuperOffload (finetune_qwen3-14b_1gpu.sh
// at commit 51495dc): no offload_param, overlap_comm false, reduce_bucket_size and sub_group_size
// 4e8, ratio 0.90, cpuadam_cores_perc 0.90.
//
// Sub-groups: the first (1 - ratio) of them, whose gradients come last, are updated on the GPU by
// torch.optim.AdamW, from fp32 masters, moments and gradients that stay there.
//
// Gradients: a full bucket goes tensor by tensor to pinned bf16, back for its norm, and as fp32 to
// its sub-group's gradient. All of this is on the stream of backward, which continues after it.
// That gradient is handed to the other process, so its memory is shared from then on and no longer
// pinned. Micro-batches: zero3.h; sub-groups are queued in the last one.
//
// Update: a sub-group with complete gradients is queued for the process at once, which copies them
// to a pinned buffer and runs CPU Adam. When all are done, the training process handles one
// sub-group after another. It scales the gradients (also those that were applied), turns fp32
// masters into bf16 on its remaining cores, copies them to the GPU and waits for the copy. With
// gradient_clipping (--clipping exact) sub-groups are updated only there, since this version does
// not speculate then.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "sim/plan/schedules/zero3.h"
#include "sim/specs/scenario/declare_option.h"

namespace sluice {
namespace {

constexpr double kSuperBucketElements = 4e8, kSubGroupElements = 4e8;
constexpr double kCoresOfOptimizer = 0.9;  // cpuadam_cores_perc
// Bytes a parameter of torch.optim.AdamW over lists of tensors (torch 2.11.0, optim/adam.py): decay
// 8, first moment 12, second 8 and 12, its root 8, divided 8, plus epsilon 8, step 16; before it
// the gradient is scaled (8), after it the master becomes bf16 (6).
constexpr double kGpuUpdateTraffic = 94;
constexpr std::int64_t kGpuUpdateLaunches = 10;

/// Options of superoffload alone.
struct SuperOffloadOptions {
    std::int64_t offload_percent = 90;  ///< share of the sub-groups that the CPU updates
};

class SuperOffload : public Zero3Pass {
  public:
    SuperOffload(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& training)
        : Zero3Pass(model, machine, training, kSuperBucketElements),
          groups_(zero3_sub_groups(model, sub_group_elements(training, kSubGroupElements))),
          not_left_(all_parameters(model)),
          waiting_(groups_.size()) {
        const double on_cpu =
            static_cast<double>(training.own.of<SuperOffloadOptions>().offload_percent) / 100;
        on_gpu_ = static_cast<std::size_t>((1 - on_cpu) * static_cast<double>(groups_.size()));
        gpu_elements_ = std::accumulate(groups_.begin(), first_on_cpu(), 0.0);
        const double cores = machine.host.cores;
        const double others = std::floor((1 - kCoresOfOptimizer) * cores);
        optimizer_share_ = share_of_threads(cores - others);
        // 0 if no core is left, since the training process is then bound to none.
        training_share_ = others > 0 ? share_of_threads(others) : 1;
    }

  private:
    void declare() override {
        declare_device_memory();
        declare_host_memory();
        Zero3Pass::declare();
    }
    void finish() override {
        say_assumptions();
        declare_host_moments();
    }

    std::vector<double>::const_iterator first_on_cpu() const {
        return groups_.begin() + static_cast<std::ptrdiff_t>(on_gpu_);
    }
    bool clips() const { return training_.clipping == Clipping::exact; }

    /// Share of its rate that host work has on fewer threads.
    double share_of_threads(double threads) const {
        const HostSpec& host = machine_.host;
        const Interpolated& adam = host.adam_bytes_per_s;
        return std::min(1.0, adam.at(threads) / adam.at(host.best_adam_threads));
    }

    void declare_device_memory() {
        build_.on_device("bf16 parameters", Kind::weights, kBf16 * all_parameters(model_));
        build_.on_device("masters and moments of the GPU's sub-groups", Kind::optimizer_state,
                         3 * kFp32 * gpu_elements_);
        build_.on_device("fp32 gradients of the GPU's sub-groups", Kind::gradients,
                         kFp32 * gpu_elements_);
        build_.on_device("CUDA context of the optimizer's process", Kind::workspace,
                         static_cast<double>(machine_.gpu.context));
    }

    void declare_host_memory() {
        const double all = all_parameters(model_), on_cpu = all - gpu_elements_;
        const auto process = static_cast<double>(machine_.host.process_base) + kPyTorchModules;
        build_.on_host("process", Kind::process, process);
        build_.on_host("optimizer's process", Kind::process, process);
        build_.on_host("shared fp32 masters", Kind::optimizer_state, kFp32 * on_cpu);
        build_.on_host("moments", Kind::optimizer_state, 2 * kFp32 * on_cpu);
        build_.on_host("shared fp32 gradients", Kind::gradients, kFp32 * on_cpu);
        double first_gradients = 0;
        for (auto group = first_on_cpu(); group != groups_.end(); ++group)
            first_gradients += pinned_bytes(kFp32 * *group);
        pin("pinned bf16 gradients", Kind::gradients, pinned_bytes(kBf16 * all));
        pin("first fp32 gradients, kept by PyTorch", Kind::pinned_buffers, first_gradients);
        pin("the optimizer's pinned gradient", Kind::pinned_buffers,
            pinned_bytes(kFp32 * *std::max_element(groups_.begin(), groups_.end())));
        outside_ = declare_tables_of_pinned();
    }

    void declare_host_moments() {
        const Bytes steady = build_.host_peak();
        const auto later = static_cast<Bytes>(3 * kFp32 * (all_parameters(model_) - gpu_elements_));
        build_.host_moments({steady - later, "plus the file's pages, if they are not dropped"},
                            {steady, "moments and shared gradients appear"},
                            {steady, "nothing is freed between steps"},
                            {steady, "states are written as they are"},
                            steady - static_cast<Bytes>(outside_));
    }

    Fetched fetch(int, int, const Parameters&, double eager_operations) override {
        python_.work(eager_operations);
        return {{{last_left()}}, {}};
    }

    OperationId to_optimizer(const SentBucket& sent, int layer) override {
        OperationId left = sent.last;
        const double before = not_left_;
        not_left_ = std::max(0.0, not_left_ - sent.bucket.elements);
        const double of_cpu = before - std::max(not_left_, std::min(before, gpu_elements_));
        if (of_cpu > 0) {
            Operation to_group = copy_operation(kFp32 * of_cpu, {sent.gradients});
            to_group.pageable = true;
            left =
                build_.add(OperationKind::copy_gradients_out, layer, {{left}}, std::move(to_group));
            python_.wait_for(left, layer);
        }
        if (!clips()) queue_complete_groups(left);
        return left;
    }

    /// Gradients come from the model's end on.
    void queue_complete_groups(OperationId left) {
        for (; waiting_ > on_gpu_; --waiting_) {
            const double elements_before = std::accumulate(
                groups_.begin(), groups_.begin() + static_cast<std::ptrdiff_t>(waiting_) - 1, 0.0);
            // Tensors are counted whole and not rounded, so that sums are exact.
            if (not_left_ > elements_before) return;
            updated_ = queue_on_cpu(groups_[waiting_ - 1], left);
        }
    }

    OperationId host_work(OperationKind kind, Lane lane, Waits waits, HostWork work, double bytes,
                          double share) {
        Operation operation = host_operation(work, bytes);
        operation.host_share = share;
        return build_.add(kind, lane, kEmbeddingLayer, std::move(waits), std::move(operation));
    }

    OperationId queue_on_cpu(double elements, OperationId after) {
        host_work(OperationKind::collect_gradients, Work::optimizer, {{after}}, HostWork::copy,
                  kFp32 * elements, optimizer_share_);
        return host_work(OperationKind::update, Work::optimizer, {}, HostWork::eager_adam,
                         kZero3AdamTraffic * elements, optimizer_share_);
    }

    void optimize() override {
        Waits before = {{last_left()}, {updated_}};
        for (std::size_t group = 0; group < on_gpu_; ++group) update_on_gpu(groups_[group], before);
        for (std::size_t group = on_gpu_; group < groups_.size(); ++group)
            before = {{finish_on_cpu(groups_[group], before)}};
        for (const Dependency& last : before)
            if (last.operation >= 0) build_.wait(python_.first(), {last.operation, true});
    }

    /// The host does not wait for it.
    void update_on_gpu(double elements, const Waits& after) {
        const BufferId root =
            build_.device_buffer("root of the second moment", Kind::workspace, kFp32 * elements);
        const std::int32_t kernels = build_.kernels(
            {memory_bound("AdamW", kGpuUpdateTraffic * elements, kGpuUpdateLaunches)});
        updated_on_gpu_ = build_.add(OperationKind::update, Work::compute, kEmbeddingLayer, after,
                                     gpu_operation({kernels}, {root}));
    }

    /// Returns the copy that the host waits for.
    OperationId finish_on_cpu(double elements, const Waits& after) {
        OperationId done = host_work(OperationKind::clip_gradients, Work::host, after,
                                     HostWork::scale_fp32, kFp32 * elements, training_share_);
        if (clips()) done = queue_on_cpu(elements, done);
        done = host_work(OperationKind::copy_to_pinned, Work::host, {{done}}, HostWork::copy,
                         kZero3CopyBack * elements, training_share_);
        Operation copy = copy_operation(kBf16 * elements);
        copy.pageable = true;
        // On the stream of the GPU's update.
        return build_.add(OperationKind::copy_weights_in, kEmbeddingLayer,
                          {{done}, {updated_on_gpu_}}, std::move(copy));
    }

    void say_assumptions() {
        build_.assume(kZero3AdamAssumption);
        build_.assume("on a part of the cores, host work slows down by the same factor as Adam");
        build_.assume("gradients go to shared memory as fast as weights come from pageable memory");
    }

    const std::vector<double> groups_;  ///< elements of sub-groups, in the model's order
    std::size_t on_gpu_ = 0;            ///< number of first ones that the GPU updates
    double gpu_elements_ = 0;
    double outside_ = 0;  ///< bytes that the system uses outside the processes
    double optimizer_share_ = 1,
           training_share_ = 1;        ///< over the rate of host work with all threads
    double not_left_;                  ///< gradients that have not arrived, in elements
    std::size_t waiting_;              ///< sub-groups that are not complete
    OperationId updated_ = -1;         ///< the last sub-group updated in backward
    OperationId updated_on_gpu_ = -1;  ///< the last sub-group updated on the GPU
};

}  // namespace

ScheduleRecord superoffload_schedule() {
    return {
        .name = "superoffload",
        .about =
            "DeepSpeed updates most parameters on the processor and the last on the GPU; "
            "it is made for superchips.",
        .plan = plan_of<SuperOffload>,
        .options = {"sub_group_elements", "clipping", "attention"},
        .own_options =
            {number_option<&SuperOffloadOptions::offload_percent>(
                 {OptionGroup::system, "device_budget_bytes"}, "offload_percent", "percent", 0, 100,
                 "share of the sub-groups that the processor updates",
                 "share of the sub-groups that the processor updates (DeepSpeed's ratio); states "
                 "of the others stay on the device")
                 .varied_over({0, 25, 50, 75, 90, 100})},
        .program = {.name = "DeepSpeed SuperOffload",
                    .gpu_makers = {"NVIDIA"},
                    .source = "DeepSpeed 0.19.8; experts: its example Qwen3-30B-A3B, "
                              "github:deepspeedai/DeepSpeedExamples/pull/990",
                    .date = "2026-11-23"},
        // github:deepspeedai/DeepSpeedExamples@51495dc, training/DeepSpeed-SuperOffload.
        .users_run = {{"sub_group_elements", "4e8"}, {"offload_percent", "90"}},
        .structural_error = kErrorOffloading,
        .phases = plain_phases()};
}

}  // namespace sluice
