// ZeRO-3 of DeepSpeed 0.19.8 on one GPU, parameters and optimizer in pinned host memory (from
// reading runtime/zero/stage3.py, partitioned_param_coordinator.py, parameter_offload.py,
// partition_parameters.py, runtime/comm/coalesced_collectives.py and csrc/includes/cpu_adam.h),
// with a plain PyTorch model. Settings: overlap_comm, contiguous_gradients, reduce_bucket_size 2e8,
// stage3_prefetch_bucket_size 5e7, stage3_param_persistence_threshold 1e5, sub_group_size 1e9
// unless asked for, all else at its default. Without recomputation a layer's modules are called
// once in backward.
//
// Parameters: each module's parameters are copied in, and those of the next modules while it runs
// (zero3.h). With one rank a gather is a plain copy on its own stream. The host waits for copies
// but not for compute, so it allocates and copies well ahead if its Python is faster than the GPU.
// Parameters that are fetched together share a handle: the first use of one waits for the whole
// stream, including later fetches.
//
// Gradients: they are copied into a bucket. A full bucket is reduced on a second stream, tensor by
// tensor: to pinned bf16, back to the device for its norm, and as fp32 to the sub-group's pinned
// buffer. A bucket leaves only after the third one before it has left. Micro-batches: zero3.h.
//
// Several GPUs of a node: each has its part of parameters, gradients and states. It copies its part
// in, or keeps it (--offload-params 0), and all gather; a bucket is reduce-scattered before it
// leaves. All processes together update on the node's cores.
//
// With --overlap-comm 0 copies run on the stream that computes, in the order of their calls.
//
// Update, after all gradients have left: sub-group by sub-group the fp32 gradients are scaled (even
// if nothing is clipped), CPU Adam updates fp32 masters, and these are copied to the bf16
// parameters.
#include <algorithm>

#include "sim/base/input_error.h"
#include "sim/plan/schedules/cluster.h"
#include "sim/plan/schedules/zero3.h"
#include "sim/specs/scenario/declare_option.h"

namespace sluice {
namespace {

constexpr std::size_t kBucketsUnderWay = 3;

class Zero3Offload : public Zero3Pass {
  public:
    Zero3Offload(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& training)
        : Zero3Pass(model, machine, training, kReduceBucketElements),
          sub_groups_(
              zero3_sub_groups(model, sub_group_elements(training, kZero3SubGroupElements))),
          calls_(modules_.step_calls(training.recompute != Recompute::none)),
          fetches_(modules_.elements(), calls_),
          arriving_(modules_.elements().size(), false),
          together_(modules_.elements().size()) {}

  private:
    void declare() override {
        declare_host_memory();
        declare_parameters_that_stay();
        Zero3Pass::declare();
    }

    void declare_host_memory() {
        const double all = all_parameters(model_);
        declare_processes(machine_, static_cast<double>(training_.gpus), build_);
        build_.on_host("fp32 masters and moments", Kind::optimizer_state, 3 * kFp32 * all);
        double of_sub_groups = 0;
        for (const double elements : sub_groups_) of_sub_groups += pinned_bytes(kFp32 * elements);
        // Each tensor is pinned by itself before it is copied into the flat buffer, which frees it;
        // but PyTorch's allocator keeps its memory.
        double first_copies = 0;
        for (const std::int64_t elements : zero3_tensors(model_))
            if (elements > FetchLimits{}.persistence_threshold)
                first_copies += pinned_bytes(kBf16 * static_cast<double>(elements));
        if (on_host())
            pin("pinned bf16 parameters", Kind::weights, pinned_bytes(kBf16 * all));
        else
            build_.on_device("a GPU's part of parameters", Kind::weights, kBf16 * all * part());
        pin("pinned bf16 gradients", Kind::gradients, pinned_bytes(kBf16 * all));
        pin("pinned fp32 gradients of sub-groups", Kind::gradients, of_sub_groups);
        pin("first pinned copies, kept by PyTorch", Kind::pinned_buffers, first_copies);
        outside_ = declare_tables_of_pinned();
    }

    void finish() override {
        build_.assume(kZero3AdamAssumption);
        if (training_.gpus > 1)
            build_.assume(
                "all GPUs of a node work in step; the other GPUs' copies take no host "
                "memory's rate from one's, and its cores update all parts at once");
        const Bytes steady = build_.host_peak();
        const auto moments = static_cast<Bytes>(2 * kFp32 * all_parameters(model_));
        build_.host_moments({steady - moments, "plus the file's pages, if they are not dropped"},
                            {steady, "moments appear at the first update"},
                            {steady, "nothing is freed between steps"},
                            {steady, "masters and moments are written as they are"},
                            steady - static_cast<Bytes>(outside_));
    }

    void trace_again() override {
        fetches_ = ParameterFetches(modules_.elements(), calls_);
        call_ = 0;
    }

    /// Copies in what the modules need and prefetch, when the host calls them. Half of a module's
    /// Python runs first, then the host waits.
    Fetched fetch(int calls, int layer, const Parameters&, double eager_operations) override {
        Fetched fetched;
        const double half_a_call = eager_operations / calls / 2;
        for (int i = 0; i < calls; ++i) {
            const ParameterFetches::Call call = fetches_.next();
            python_.work(half_a_call);
            copy_in(call.missing, layer);
            wait_for_parameters(calls_[call_++], layer);
            python_.work(half_a_call);
            copy_in(call.prefetched, layer);
            fetched.released.append(gathered(call.released));
        }
        fetched.waits = {{arrived_}};
        return fetched;
    }

    void wait_for_parameters(const Parameters& used, int layer) {
        const bool waits = std::any_of(used.begin(), used.end(), [this](int parameter) {
            return arriving_[static_cast<std::size_t>(parameter)];
        });
        if (!waits) return;
        arrived_ = last_copy_;
        python_.wait_for(arrived_, layer);
        for (const int parameter : used)
            for (const int other : together_[static_cast<std::size_t>(parameter)])
                arriving_[static_cast<std::size_t>(other)] = false;
    }

    void copy_in(const Parameters& parameters, int layer) {
        if (parameters.empty()) return;
        Waits waits = python_.reached(layer);
        waits.push_back({in_line()});
        const std::vector<OperationId>& left = buckets_left();
        if (left.size() > kBucketsUnderWay)
            waits.push_back({left[left.size() - 1 - kBucketsUnderWay]});
        Operation copy = gather(parameters);
        const double bytes = copy.link_bytes / part();
        const BufferUses buffers = copy.uses;
        if (on_host())
            waits = {{last_copy_ = build_.add(OperationKind::copy_weights_in, layer,
                                              std::move(waits), std::move(copy))}};
        if (training_.gpus > 1)
            last_copy_ = build_.add(
                OperationKind::all_gather, layer, std::move(waits),
                collective_operation(Collective::all_gather, bytes, training_.gpus, buffers));
        follow(last_copy_);
        for (const int parameter : parameters) {
            arriving_[static_cast<std::size_t>(parameter)] = true;
            together_[static_cast<std::size_t>(parameter)] = parameters;
        }
    }

    bool on_host() const { return training_.own.of<Zero3Options>().offload_params != 0; }

    OperationId to_optimizer(const SentBucket& sent, int layer) override {
        return build_.add(OperationKind::copy_gradients_out, layer, {{sent.last}},
                          copy_operation(kFp32 * sent.bucket.elements * part(), {sent.gradients}));
    }

    void optimize() override {
        OperationId last = last_left();
        for (const double elements : sub_groups_) {
            last = update_on_cpu(elements, {{last}});
            if (!on_host())
                last = build_.add(OperationKind::copy_weights_in, kEmbeddingLayer, {{last}},
                                  copy_operation(kBf16 * elements * part()));
        }
        build_.wait(python_.first(), {last, true});
    }

    const std::vector<double> sub_groups_;
    const std::vector<Parameters> calls_;  ///< of modules, by the parameters that they use
    ParameterFetches fetches_;
    std::size_t call_ = 0;                       ///< index of the next one
    std::vector<bool> arriving_;                 ///< parameters that the host has not waited for
    std::vector<Parameters> together_;           ///< parameters that were fetched together
    double outside_ = 0;                         ///< bytes that the system uses outside the process
    OperationId last_copy_ = -1, arrived_ = -1;  ///< the host has waited for the second
};

/// Parameters on one GPU would need no gathering.
void check_zero3(const MachineSpec& machine, const TrainingSpec& training) {
    check_machine_of_gpus(machine, training.gpus);
    check_one_host(machine, training.gpus);
    if (training.own.of<Zero3Options>().offload_params == 0 && training.gpus == 1)
        throw InputError(
            "--offload-params is 0 on one GPU, expected several GPUs that divide the parameters; "
            "give --gpus or leave it out",
            "offload_params");
}

}  // namespace

ScheduleRecord zero3_offload_schedule() {
    return {
        .name = "zero3-offload",
        .about =
            "DeepSpeed keeps parameters and states on the host, and gathers each layer for "
            "the GPU; it takes much host memory.",
        .measured_system = "DeepSpeed ZeRO-3 CPU offload",
        .plan =
            [](const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& training) {
                check_zero3(machine, training);
                return Zero3Offload(model, machine, training).plan();
            },
        .options = {"gpus", "recompute", "sub_group_elements", "attention"},
        .own_options = {number_option<&Zero3Options::offload_params>(
                            {OptionGroup::system, "device_budget_bytes"}, "offload_params", "", 0,
                            1, "0: each GPU keeps its part of the parameters",
                            "0: each of DeepSpeed's GPUs keeps its part of the parameters"),
                        number_option<&Zero3Options::overlap_comm>(
                            {OptionGroup::system, "device_budget_bytes"}, "overlap_comm", "", 0, 1,
                            "0: DeepSpeed copies on the stream that computes")},
        .program = {.name = "DeepSpeed ZeRO-3",
                    .gpu_makers = {"NVIDIA", "AMD"},
                    .source = "DeepSpeed 0.19.8; AMD: logs of an MI355X, "
                              "github:chinmaydk99/MegaTrain@69d5ab61; experts: "
                              "github:deepspeedai/DeepSpeed/pull/4966",
                    .date = "2026-11-23"},
        .keeps_inputs_alone = true,
        // github:huggingface/transformers@e7a1419, tests/deepspeed/ds_config_zero3.json;
        // github:deepspeedai/DeepSpeedExamples@51495dc, training/DeepSpeed-SuperOffload.
        .users_run = {{"recompute", "full"},
                      {"overlap_comm", "1"},
                      {"offload_params", "1"},
                      {"sub_group_elements", "1e9"}},
        .structural_error = kErrorOffloading,
        .phases = plain_phases()};
}

}  // namespace sluice
