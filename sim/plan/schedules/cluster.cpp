// Data-parallel training with everything in device memory, over several GPUs and nodes: sharded
// (cluster_sharded.cpp) or replicated, below. The batch counts all GPUs; each takes an equal part,
// in micro-batches.
#include "sim/plan/schedules/cluster.h"

#include <fmt/format.h>

#include <cmath>

#include "sim/base/input_error.h"
#include "sim/specs/scenario/declare_option.h"

namespace sluice {
namespace {

constexpr const char* kNetworkRate = "network.per_gpu_gb_per_s";

/// A number of the machine that is not known, in words.
struct Unknown {
    std::string what;
    const char* path;
};

/// Throws InputError that names all of them, if there are any. `further`: flags that a part of the
/// cases needs.
void refuse_unknown(const MachineSpec& machine, std::int64_t gpus,
                    const std::vector<Unknown>& unknown, const std::string& further) {
    if (unknown.empty()) return;
    std::string what, flags;
    for (const Unknown& one : unknown) {
        what += (what.empty() ? "" : " and ") + one.what;
        flags += fmt::format(" --set {}=NUMBER", one.path);
    }
    const bool several = unknown.size() > 1;
    throw InputError(
        fmt::format("{}: --gpus is {}, but {} {} not known; give {} with{}{}", machine.id, gpus,
                    what, several ? "are" : "is", several ? "them" : "it", flags, further),
        "gpus");
}

GpuGroup gpu_group(const MachineSpec& machine, const TrainingSpec& training) {
    return {training.gpus, std::max<std::int64_t>(1, machine.interconnect.gpus_per_node)};
}

}  // namespace

bool joins_gpus(const MachineSpec& machine) {
    return machine.interconnect.gpus_per_node > 1 && !machine.interconnect.bus_by_gpus.empty();
}

void check_machine_of_gpus(const MachineSpec& machine, std::int64_t gpus) {
    if (gpus == 1) return;
    const InterconnectSpec& interconnect = machine.interconnect;
    const bool node_known = interconnect.gpus_per_node > 0;
    if (node_known && gpus > interconnect.gpus_per_node && gpus % interconnect.gpus_per_node != 0)
        throw InputError(
            fmt::format("--gpus is {}, expected at most the {} GPUs of a node of {}, or whole "
                        "nodes: give {} "
                        "or {}",
                        gpus, interconnect.gpus_per_node, machine.id,
                        gpus / interconnect.gpus_per_node * interconnect.gpus_per_node,
                        (gpus / interconnect.gpus_per_node + 1) * interconnect.gpus_per_node),
            "gpus");
    const GpuGroup group{gpus, node_known ? interconnect.gpus_per_node : gpus};
    std::vector<Unknown> unknown;
    if (!node_known)
        unknown.push_back({"the number of GPUs of a node", "gpu_interconnect.gpus_per_node"});
    if (group.in_a_node() > 1 && interconnect.bus_by_gpus.empty())
        unknown.push_back(
            {"the rate between the GPUs of a node", "gpu_interconnect.per_direction_gb_per_s"});
    if (group.nodes() > 1 && !interconnect.has_network())
        unknown.push_back(
            {fmt::format("the rate of the network between its {} nodes", group.nodes()),
             kNetworkRate});
    const std::string network =
        node_known || interconnect.has_network()
            ? ""
            : fmt::format(" and, for nodes of fewer than {} GPUs, --set {}=NUMBER", gpus,
                          kNetworkRate);
    refuse_unknown(machine, gpus, unknown, network);
}

void check_one_host(const MachineSpec& machine, std::int64_t gpus) {
    const auto of_host = static_cast<std::int64_t>(std::max(1.0, machine.host.gpus));
    if (gpus > of_host)
        throw InputError(fmt::format("--gpus is {}, expected at most the {} of a node of {}; give "
                                     "fewer, or --set host.gpus=NUMBER",
                                     gpus, of_host, machine.id),
                         "gpus");
}

Operation collective_operation(Collective collective, double size, std::int64_t gpus,
                               BufferUses uses) {
    Operation operation = copy_operation(ring_bytes(collective, size, gpus), std::move(uses));
    operation.collective = collective;
    operation.collective_bytes = size;
    return operation;
}

ClusterStep::ClusterStep(const ModelSpec& model, const MachineSpec& machine,
                         const TrainingSpec& training)
    : PyTorchStep(model, machine, training), group_(gpu_group(machine, training)) {}

void ClusterStep::declare() {
    // In a rack that is one domain of NVLink, each superchip has a host of its own.
    const auto in_a_node = static_cast<double>(group_.in_a_node());
    const double of_host = machine_.host.gpus;
    declare_processes(machine_, of_host > 0 ? std::min(of_host, in_a_node) : in_a_node, build_);
}

void ClusterStep::finish() {
    const Bytes processes = build_.host_peak();
    build_.host_moments({processes, "plus the file's pages, if they are not dropped"}, {processes},
                        {processes}, {processes, "tensors are copied to the host one at a time"});
    build_.assume(fmt::format(
        "memory is for each of the {} GPUs and for the host of one node; tokens/s are for all GPUs",
        group_.gpus));
    build_.assume(kMultiTensorAssumption);
    if (group_.gpus == 1) return;
    const InterconnectSpec& interconnect = machine_.interconnect;
    if (group_.in_a_node() > 1)
        for (const std::string& sentence : interconnect.assumptions) build_.assume(sentence);
    if (group_.nodes() > 1)
        for (const std::string& sentence : interconnect.network_assumptions)
            build_.assume(sentence);
    build_.assume(
        "collectives are rings, or trees where those are faster, as in NCCL's own model, without "
        "NVLink SHARP; they take no multiprocessors from compute");
    build_.assume("all GPUs work in step: none is slower, and no other traffic is on the network");
}

// Replicated: a whole model on every GPU, in the mixed precision of Megatron-LM's
// DistributedDataParallel (megatron/core/distributed and its guide to the distributed optimizer: 18
// bytes a parameter): bf16 parameters, fp32 gradients that all micro-batches add to, fp32 masters
// and moments. One step: forward and backward of each micro-batch. In the last backward, a layer's
// gradients are all-reduced during the previous layer's work. After all have arrived: the norm,
// AdamW on the masters, and bf16 parameters from them. With --sharding states (ZeRO-1, Megatron's
// distributed optimizer: 6 bytes a parameter and 12 over the number of GPUs) gradients are
// reduce-scattered instead, each GPU updates its part, and a layer's parameters are gathered while
// the layers before it run the next step's forward. With --sharding gradients (ZeRO-2 of DeepSpeed
// 0.18.6, runtime/zero/stage_1_and_2.py) bf16 gradients are reduce-scattered in each micro-batch
// and added to a shard, two reduce buckets are kept, and the next step waits for all parameters.
namespace {

// Device memory traffic in bytes per parameter. A gradient is added to its fp32 sum: bf16 read,
// fp32 read and written. Update: gradient read for the norm; master and both moments read and
// written, gradient read and zeroed, bf16 written.
constexpr double kSumTraffic = kBf16 + 2 * kFp32;
constexpr double kZero2Bucket = 5e8;  // reduce_bucket_size, in elements
constexpr double kNormTraffic = kFp32, kUpdateTraffic = 7 * kFp32 + kBf16, kZeroTraffic = kFp32;

Sharding sharding_of(const TrainingSpec& training) {
    return training.own.of<ClusterOptions>().sharding;
}

class Replicated : public ClusterStep {
  public:
    Replicated(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& training)
        : ClusterStep(model, machine, training),
          shards_gradients_(sharding_of(training) == Sharding::gradients),
          shards_states_(sharding_of(training) == Sharding::states || shards_gradients_) {}

  private:
    void declare() override {
        ClusterStep::declare();
        declare_kernels();
        declare_memory();
    }

    double part(double all) const {
        return shards_states_ ? std::ceil(all / static_cast<double>(group_.gpus)) : all;
    }

    std::int32_t add_kernel(double parameters, std::int64_t tensors) {
        return build_.kernels(
            {memory_bound("sum of gradients", kSumTraffic * parameters, tensors)});
    }
    void declare_kernels() {
        for (int layer = 0; layer < layers_; ++layer) {
            const std::size_t kind = kind_of(model_, layer);
            if (kind < adds_.size() && adds_[kind] >= 0) continue;
            adds_.resize(model_.kinds.size(), -1);
            adds_[kind] = add_kernel(elements(layer).trained, trained_tensors(layer));
        }
        add_root_ = add_kernel(elements(kEmbeddingLayer).trained, trained_tensors(kEmbeddingLayer));
    }
    std::int32_t add_of(int layer) const {
        if (layer == kEmbeddingLayer) return add_root_;
        return adds_[kind_of(model_, layer)];
    }

    void declare_memory() {
        const auto [all, trained] = all_elements();
        build_.on_device("bf16 parameters", Kind::weights, kBf16 * all);
        build_.on_device("fp32 gradients", Kind::gradients,
                         kFp32 * (shards_gradients_ ? part(trained) : trained));
        if (shards_gradients_)
            build_.on_device("reduce buckets", Kind::gradients, 2 * kBf16 * kZero2Bucket);
        build_.on_device("fp32 masters and moments", Kind::optimizer_state,
                         3 * kFp32 * part(trained));
    }

    /// Updates of the previous step, in the order in which forward needs them.
    void gather_updated() {
        for (int layer = kEmbeddingLayer; layer < layers_; ++layer)
            gathers_.push_back(
                build_.add(OperationKind::all_gather, layer, {},
                           collective_operation(Collective::all_gather,
                                                kBf16 * elements(layer).trained, group_.gpus)));
    }

    void begin_pass() override {
        if (shards_states_ && is_first()) gather_updated();
        // A tied table's gradient is added to the sum after the embedding's.
        if (model_.tied_embeddings && !adapts())
            tied_gradient_ =
                build_.device_buffer("tied table's gradient", Kind::gradients, table_bytes(model_));
    }

    void module(OperationKind kind, int layer, Operation work) override {
        Waits waits;
        if (kind == OperationKind::forward && shards_states_ && is_first()) {
            const auto index = static_cast<std::size_t>(layer);
            waits = shards_gradients_ ? Waits{{gathers_.back()}}
                                      : Waits{{gathers_[index]}, {gathers_[index + 1]}};
        }
        const bool has_gradients = layer != layers_ && kind != OperationKind::forward;
        if (has_gradients) {
            if (!shards_gradients_) work.kernels.push_back(add_of(layer));
            work = also_using(std::move(work), {tied_gradient_, module_gradients(layer)});
        }
        last_ = build_.add(kind, layer, std::move(waits), std::move(work));
        if (has_gradients) reduce(layer);
    }

    void reduce(int layer) {
        if (!is_last() && !shards_gradients_) return;
        const auto [kind, collective] =
            shards_states_ ? std::pair(OperationKind::reduce_scatter, Collective::reduce_scatter)
                           : std::pair(OperationKind::all_reduce, Collective::all_reduce);
        reduced_ = build_.add(
            kind, layer, {{last_}},
            collective_operation(collective,
                                 (shards_gradients_ ? kBf16 : kFp32) * elements(layer).trained,
                                 group_.gpus));
    }

    void optimize() override {
        const double all = all_elements().trained;
        const std::int64_t tensors = trained_tensors();
        const auto kernel = [&](const char* name, double traffic) {
            return gpu_operation(
                {build_.kernels({memory_bound(name, traffic / kMultiTensorShareFp32, tensors)})});
        };
        last_ = build_.add(OperationKind::clip_gradients, Work::compute, kEmbeddingLayer,
                           {{reduced_}}, kernel("norm", kNormTraffic * part(all)));
        Dependencies waits;
        if (shards_states_)
            waits.push_back(
                {build_.add(OperationKind::all_reduce, kEmbeddingLayer, {{last_}},
                            collective_operation(Collective::all_reduce, kFp32, group_.gpus)),
                 false});
        const OperationId updated =
            build_.add(OperationKind::update, Work::compute, kEmbeddingLayer, std::move(waits),
                       kernel("AdamW", kUpdateTraffic * part(all) + kZeroTraffic * all));
        if (shards_states_) build_.wait(gathers_.front(), {updated, true});
    }

    const bool shards_gradients_, shards_states_;
    std::vector<std::int32_t> adds_;  ///< of each kind of layer
    std::int32_t add_root_ = 0;
    BufferId tied_gradient_ = kNoBuffer;
    std::vector<OperationId> gathers_;  ///< of the model's own parameters, then of each layer's
};

}  // namespace

ScheduleRecord cluster_schedule() {
    return {
        .name = "cluster",
        .about =
            "PyTorch splits parameters and states over several GPUs (FSDP2), or keeps them "
            "whole in each (DDP); this is fast, and pays for all of them.",
        .plan =
            [](const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& training) {
                check_machine_of_gpus(machine, training.gpus);
                return sharding_of(training) == Sharding::full
                           ? plan_sharded(model, machine, training)
                           : Replicated(model, machine, training).plan();
            },
        .options = {"gpus", "recompute", "keep_last_layers", "adam", "attention", "loss",
                    "adapter_rank", "adapter_targets", "adapter_dropout_percent"},
        .own_options = {choice_option<&ClusterOptions::sharding>(
            {OptionGroup::system, "batch"}, "sharding",
            {{"full", Sharding::full},
             {"states", Sharding::states},
             {"none", Sharding::none},
             {"gradients", Sharding::gradients}},
            "tensors split over the GPUs: all (FSDP2, ZeRO-3), none (DDP), ...",
            "tensors split over the GPUs: everything as in FSDP2 and ZeRO-3, "
            "gradients and states as in ZeRO-2, states as in ZeRO-1, nothing as in "
            "DDP")},
        .program = {.name = "PyTorch",
                    .gpu_makers = {"NVIDIA", "AMD"},
                    .source = "torch 2.11.0, torch.distributed; AMD: "
                              "docs.pytorch.org/docs/stable/notes/hip.html",
                    .date = "2026-11-23"},
        .keeps_inputs_alone = true,
        .several_gpus = true,
        // github:pytorch/torchtune@0031bfb, recipes/configs/llama3_1/70B_full.yaml.
        .users_run = {{"sharding", "full"}, {"recompute", "full"}, {"adam", "fused"}},
        .structural_error = kErrorOfSeveralGpus,
        .phases = plain_phases()};
}

}  // namespace sluice
