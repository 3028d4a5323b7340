#include "sim/simulate/node_share.h"

#include <algorithm>

#include "sim/simulate/operation_cost.h"

namespace sluice {

NodeShare memory_share(Bytes host_peak, const TrainingSpec& training, const MachineSpec& machine) {
    const HostSpec& host = machine.host;
    NodeShare out;
    out.gpus = static_cast<double>(training.gpus);
    out.node_gpus = host.gpus;
    const double offered =
        static_cast<double>(std::max(host.node_memory - host.system_reserve, Bytes{1}));
    out.host_memory = static_cast<double>(host_peak) / offered;
    return out;
}

NodeShare share_before_step(const StepProgram& program, Bytes host_peak,
                            const TrainingSpec& training, const MachineSpec& machine) {
    NodeShare out = memory_share(host_peak, training, machine);
    if (std::ranges::any_of(program.operations, [](const Operation& operation) {
            return operation.lane.work == Work::optimizer;
        }))
        out.cores = optimizer_threads(machine, training) / machine.host.cores;
    return out;
}

NodeShare node_share(const TimedPlan& timed, const MachineSpec& machine) {
    NodeShare out = share_before_step(timed.plan.program, timed.plan.fit.host().peak.bytes,
                                      timed.asked.training, machine);
    out.host_bandwidth = timed.step.used(Resource::host_dram) / machine.host.sockets;
    return out;
}

}  // namespace sluice
