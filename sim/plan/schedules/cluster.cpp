// Data-parallel training with everything in device memory, over several GPUs and nodes: sharded
// (cluster_sharded.cpp) or replicated (cluster_replicated.cpp). The batch is of all GPUs together;
// each takes an equal part, in micro-batches.
#include "sim/plan/schedules/cluster.h"

#include <fmt/format.h>

#include "sim/base/input_error.h"
#include "sim/plan/schedules/pytorch_memory.h"
#include "sim/plan/schedules/pytorch_optimizer.h"
#include "sim/plan/schedules/schedules.h"

namespace sluice {
namespace {

[[noreturn]] void unknown(const MachineSpec& machine, const std::string& what, const char* path,
                          const char* field) {
    throw InputError(fmt::format("{}: {}; give it with --set {}=NUMBER", machine.id, what, path),
                     field);
}

void check_machine(const MachineSpec& machine, std::int64_t gpus) {
    if (gpus == 1) return;
    const InterconnectSpec& interconnect = machine.interconnect;
    if (interconnect.gpus_per_node == 0)
        unknown(machine,
                fmt::format("--gpus is {}, but how many GPUs a node has is not known", gpus),
                "gpu_interconnect.gpus_per_node", "gpus");
    if (gpus > interconnect.gpus_per_node && gpus % interconnect.gpus_per_node != 0)
        throw InputError(
            fmt::format("--gpus is {}, expected at most the {} GPUs of a node of {}, or whole "
                        "nodes: give {} "
                        "or {}",
                        gpus, interconnect.gpus_per_node, machine.id,
                        gpus / interconnect.gpus_per_node * interconnect.gpus_per_node,
                        (gpus / interconnect.gpus_per_node + 1) * interconnect.gpus_per_node),
            "gpus");
    const GpuGroup group{gpus, interconnect.gpus_per_node};
    if (group.in_a_node() > 1 && interconnect.bus_by_gpus.empty())
        unknown(machine, "the rate between the GPUs of a node is not known",
                "gpu_interconnect.per_direction_gb_per_s", "settings");
    if (group.nodes() > 1 && !interconnect.has_network())
        unknown(machine,
                fmt::format("--gpus is {}, which needs {} nodes, but the rate of their network is "
                            "not known",
                            gpus, group.nodes()),
                "network.per_gpu_gb_per_s", "gpus");
}

GpuGroup gpu_group(const MachineSpec& machine, const TrainingSpec& training) {
    return {training.gpus, std::max<std::int64_t>(1, machine.interconnect.gpus_per_node)};
}

}  // namespace

Operation collective_operation(Collective collective, double size, std::int64_t gpus,
                               std::vector<BufferId> uses) {
    Operation operation = copy_operation(ring_bytes(collective, size, gpus), std::move(uses));
    operation.collective = collective;
    operation.collective_bytes = size;
    return operation;
}

ClusterStep::ClusterStep(const ModelSpec& model, const MachineSpec& machine,
                         const TrainingSpec& training)
    : model_(model),
      training_(training),
      group_(gpu_group(machine, training)),
      layers_(model.layer_count()),
      build_(KernelStyle::plain),
      machine_(machine),
      pass_(training_of_pass(training)),
      network_(model, pass_, build_) {}

StepPlan ClusterStep::plan() {
    declare_host();
    declare();
    for (micro_batch_ = 0; micro_batch_ < training_.micro_batches(); ++micro_batch_) {
        build_.begin_micro_batch(micro_batch_);
        if (!is_first()) network_.next_pass();
        forward();
        backward();
    }
    build_.begin_micro_batch(0);
    optimize();
    declare_host_moments();
    say_assumptions();
    return build_.finish(std::vector<LayerPlacement>(static_cast<std::size_t>(layers_),
                                                     {OptimizerPlacement::resident, true}));
}

/// The processes of a node.
void ClusterStep::declare_host() {
    const auto processes = static_cast<double>(group_.in_a_node());
    build_.on_host("processes", Kind::process,
                   processes * static_cast<double>(machine_.host.process_base));
    build_.on_host("Python modules", Kind::process, processes * kPyTorchModules);
}

void ClusterStep::declare_host_moments() {
    const Bytes processes = build_.host_peak();
    build_.moment("loading", processes, "plus the file's pages, if they are not dropped");
    build_.moment("first step", processes, "");
    build_.moment("steady", processes, "");
    build_.moment("saving", processes, "tensors are copied to the host one at a time");
    build_.resident_between_steps(processes);
}

void ClusterStep::say_assumptions() {
    build_.assume(fmt::format(
        "memory is of each of the {} GPUs, and of the host of one node; tokens/s are of all GPUs",
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
        "collectives are rings, or trees where those are faster, as NCCL's own model has them, "
        "without NVLink SHARP; they take no multiprocessors from compute");
    build_.assume("all GPUs work in step: none is slower, and no other traffic is on the network");
}

StepPlan plan_cluster(const ModelSpec& model, const MachineSpec& machine,
                      const TrainingSpec& training) {
    check_machine(machine, training.gpus);
    return training.sharding == Sharding::full ? plan_sharded(model, machine, training)
                                               : plan_replicated(model, machine, training);
}

}  // namespace sluice
