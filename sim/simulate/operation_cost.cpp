#include "sim/simulate/operation_cost.h"

#include <algorithm>
#include <bit>

#include "sim/plan/adam_part.h"

namespace sluice {
namespace {

// Memory traffic per payload byte: a copy reads and writes; a copy into fresh pages also zeroes
// them first; clipping reads for the norm, then reads and writes to scale.
constexpr double kCopyTraffic = 2, kFirstTouchTraffic = 3, kClipTraffic = 3;

// Elements per second in fp32 over bf16 (validation/peers/host_work.py in six processes on an H200
// machine: 0.63 to 0.83, and 0.74 to 0.85): for scaling; for summing up a norm and then scaling.
constexpr double kScaledInFp32 = 0.74, kNormAndScaledInFp32 = 0.80;

FlowDemand host_demand(const Operation& operation, const HostSpec& host, std::int64_t state_bytes,
                       double threads) {
    const double bytes = operation.host_bytes;
    switch (operation.host_work) {
        case HostWork::adam:
        case HostWork::adam_parameters:
        case HostWork::adam_moments: {
            const double rate = host.adam_of(state_bytes).at(threads) *
                                adam_part_rate(operation.host_work, state_bytes);
            const Seconds alone = bytes / rate;
            const Seconds call = host.adam_call.empty() ? 0 : host.adam_call.at(threads);
            return {bytes, rate * (alone > 0 ? alone / (alone + call) : 1)};
        }
        case HostWork::eager_adam:
            return {bytes, host.eager_adam_bytes_per_s};
        case HostWork::copy:
            return {kCopyTraffic * bytes, kCopyTraffic * host.memory_copy};
        case HostWork::first_touch:
            return {kFirstTouchTraffic * bytes, kFirstTouchTraffic * host.first_touch};
        case HostWork::zero_and_release:
            return {bytes, 1 / (1 / host.zero + 1 / host.release)};
        case HostWork::scale_fp32:
            return {kCopyTraffic * bytes, kCopyTraffic * 2 * kScaledInFp32 * host.scale};
        case HostWork::norm_and_scale:
            return {kClipTraffic * bytes, kClipTraffic * host.norm_and_scale};
        case HostWork::norm_and_scale_fp32:
            return {kClipTraffic * bytes,
                    kClipTraffic * 2 * kNormAndScaledInFp32 * host.norm_and_scale};
        case HostWork::none:
            break;
    }
    return {1, 1e15};
}

FlowDemand link_demand(const Operation& operation, const LinkSpec& link) {
    const bool in = operation.lane.work == Work::host_to_device;
    const double pageable = in || link.pageable_device_to_host == 0 ? link.pageable_host_to_device
                                                                    : link.pageable_device_to_host;
    if (operation.to_fresh_pages) return {operation.link_bytes, link.pageable_device_to_fresh_host};
    const double full = operation.pageable ? pageable
                        : in               ? link.host_to_device
                                           : link.device_to_host;
    return {operation.link_bytes,
            copy_rate(full, in ? link.share_to_device_by_bytes : link.share_to_host_by_bytes,
                      operation.link_bytes / operation.micro_batches)};
}

FlowDemand storage_demand(const Operation& operation, const StorageSpec& storage) {
    const double rate = operation.lane.work == Work::storage_read ? storage.read : storage.write;
    const double bytes = operation.link_bytes;
    return {bytes, bytes / (storage.latency + bytes / rate)};
}

/// A flow through device memory, which the ring reads and writes.
FlowDemand collective_demand(const Operation& operation, const InterconnectSpec& interconnect,
                             const GpuGroup& group) {
    const Seconds seconds =
        collective_time(interconnect, group, operation.collective, operation.collective_bytes);
    const double traffic = std::max(
        1.0, ring_memory_traffic(operation.collective, operation.collective_bytes, group.gpus));
    return {traffic, traffic / std::max(seconds, 1e-9)};
}

/// A GPU idles while it waits for the host.
KernelCost no_faster_than(Seconds issued, KernelCost cost, const ClockSpec& clock) {
    cost.joules += clock.idle_w * std::max(0.0, issued - cost.seconds);
    cost.seconds = std::max(cost.seconds, issued);
    cost.at_limit = std::max(cost.at_limit, issued);
    return cost;
}

}  // namespace

int optimizer_threads(const MachineSpec& machine, const TrainingSpec& training) {
    return training.optimizer_threads > 0
               ? static_cast<int>(training.optimizer_threads)
               : machine.host.adam_threads(training.schedule->ours &&
                                           training.updates_after_norm());
}

const KernelCost& KernelCosts::of(const KernelList& list, KernelStyle style) {
    std::uint64_t hash = list.size();
    for (const Kernel& one : list)
        for (const double number : {one.flops, one.bytes, one.work_bytes})
            hash = (hash ^ std::bit_cast<std::uint64_t>(number)) * 0x9e3779b97f4a7c15u;
    const auto [first, end] = known_.equal_range(hash);
    const auto found = std::find_if(first, end, [&](const auto& known) {
        return known.second.style == style && known.second.list == list;
    });
    if (found != end) return found->second.cost;
    return known_.emplace(hash, Known{list, style, kernels_cost(gpu_, list, style)})->second.cost;
}

std::vector<FlowDemand> operation_demands(const StepProgram& program, const MachineSpec& machine,
                                          const TrainingSpec& training) {
    KernelCosts costs(machine.gpu);
    return operation_demands(program, machine, training, costs);
}

std::vector<FlowDemand> operation_demands(const StepProgram& program, const MachineSpec& machine,
                                          const TrainingSpec& training, KernelCosts& of_kernels) {
    if (program.waits_to_derive)
        throw InternalError("a plan is timed before its waits are derived");
    std::vector<KernelCost> costs;
    std::vector<double> bytes;
    for (const KernelList& list : program.kernel_lists) {
        costs.push_back(of_kernels.of(list, program.style));
        bytes.push_back(total_bytes(list));
    }
    const double threads = optimizer_threads(machine, training);
    std::vector<FlowDemand> demands;
    demands.reserve(program.operations.size());
    for (const Operation& operation : program.operations) {
        if (operation.host_work != HostWork::none) {
            demands.push_back(host_demand(operation, machine.host, training.state_bytes, threads));
            demands.back().rate *= operation.host_share;
        } else if (operation.lane.work == Work::python) {
            const double operations = std::max(1.0, operation.eager_operations);
            demands.push_back({operations, 1 / std::max(machine.gpu.eager_launch, 1e-9)});
        } else if (operation.lane.work == Work::compute) {
            KernelCost cost;
            double traffic = 1;
            for (const std::int32_t list : operation.kernels) {
                cost += costs[static_cast<std::size_t>(list)];
                traffic += operation.kernel_runs * bytes[static_cast<std::size_t>(list)];
            }
            cost *= operation.kernel_runs;
            cost = no_faster_than(
                std::max(machine.gpu.eager_launch * operation.eager_operations, operation.at_least),
                cost, machine.gpu.clock);
            demands.push_back({traffic, traffic / std::max(cost.seconds, 1e-9), cost});
        } else if (operation.lane.work == Work::interconnect) {
            demands.push_back(collective_demand(
                operation, machine.interconnect,
                {training.gpus, std::max<std::int64_t>(1, machine.interconnect.gpus_per_node)}));
        } else if (uses_storage(operation.lane)) {
            demands.push_back(storage_demand(operation, machine.storage));
        } else {
            demands.push_back(link_demand(operation, machine.link));
        }
    }
    return demands;
}

Seconds PowerBudget::begin(Seconds now, const KernelCost& cost) {
    if (clock_.headroom_j == 0 || cost.seconds <= 0) return cost.seconds;
    const auto leave = [this](double joules) {
        joules_ = std::min(clock_.headroom_j, joules_ + joules);
    };
    leave((clock_.limit_w - clock_.idle_w) * (now - idle_since_));

    const double beyond = cost.joules - clock_.limit_w * cost.seconds;
    if (beyond <= joules_) {
        leave(-beyond);
        return cost.seconds;
    }
    const double at_highest = joules_ / beyond;  // share of the work
    joules_ = 0;
    // The rest runs at a clock between the two, at which it draws the limit. Time and energy are
    // interpolated linearly between them.
    const Seconds longer = cost.at_limit - cost.seconds;
    const double saved = cost.joules * (1 - clock_.energy_share) + clock_.limit_w * longer;
    const double slowed = saved > 0 ? std::min(1.0, beyond / saved) : 1.0;
    return cost.seconds + (1 - at_highest) * slowed * longer;
}

}  // namespace sluice
