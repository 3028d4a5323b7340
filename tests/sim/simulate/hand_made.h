// Small plans and a machine with round numbers, so that a test's expectation can be computed by
// hand.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/simulate/simulate_step.h"

namespace sluice::test {

/// Link 50 GB/s in, 40 out, 60 both ways together; host memory 200 GB/s; device memory 4000 GB/s;
/// memory-bound kernels only, so that 4 GB of kernel traffic take 1 ms. Adam 100 GB/s with any
/// number of threads.
inline MachineSpec round_machine() {
    MachineSpec machine;
    machine.gpu.memory_bandwidth = 4000e9;
    machine.gpu.gemm_flops_per_s = 1e15;
    machine.gpu.multiprocessors = 100;
    machine.gpu.memory_capacity = Bytes{100'000'000'000};
    machine.link.host_to_device = 50e9;
    machine.link.device_to_host = 40e9;
    machine.link.both_ways_total = 60e9;
    machine.link.pageable_host_to_device = 10e9;
    machine.link.pageable_device_to_fresh_host = 2e9;
    machine.host.memory_capacity = Bytes{1'000'000'000'000};
    machine.host.dram_bandwidth = 200e9;
    machine.host.adam_bytes_per_s = Interpolated({{1, 100e9}});
    machine.host.best_adam_threads = machine.host.adam_threads_after_norm = 1;
    machine.host.memory_copy = machine.host.first_touch = machine.host.zero = machine.host.release =
        50e9;
    machine.host.scale = machine.host.norm_and_scale = machine.host.eager_adam_bytes_per_s = 50e9;
    return machine;
}

/// Builds plans operation by operation; each returns its id.
class HandMadePlan {
  public:
    OperationId copy_in(double bytes, Dependencies waits = {}) {
        return add(OperationKind::copy_weights_in, Work::host_to_device, std::move(waits),
                   [&](Operation& op) { op.link_bytes = bytes; });
    }
    OperationId copy_out(double bytes, Dependencies waits = {}) {
        return add(OperationKind::copy_gradients_out, Work::device_to_host, std::move(waits),
                   [&](Operation& op) { op.link_bytes = bytes; });
    }
    /// A kernel that takes `seconds` on round_machine().
    OperationId compute(Seconds seconds, Dependencies waits = {}) {
        plan.program.kernel_lists.push_back({memory_bound("kernel", seconds * 4000e9)});
        const auto list = static_cast<std::int32_t>(plan.program.kernel_lists.size()) - 1;
        return add(OperationKind::forward, Work::compute, std::move(waits),
                   [&](Operation& op) { op.kernels = {list}; });
    }
    /// A matrix product of these dimensions.
    OperationId product(std::int64_t m, std::int64_t n, std::int64_t k) {
        plan.program.kernel_lists.push_back({gemm("product", GemmRole::forward, m, n, k)});
        const auto list = static_cast<std::int32_t>(plan.program.kernel_lists.size()) - 1;
        return add(OperationKind::forward, Work::compute, {},
                   [&](Operation& op) { op.kernels = {list}; });
    }
    void wait_for_step_before(OperationId waiting, OperationId on) {
        plan.program.operations[static_cast<std::size_t>(waiting)].waits_for.push_back({on, true});
    }
    OperationId adam(double bytes, Dependencies waits = {}) {
        return add(OperationKind::update, Work::optimizer, std::move(waits), [&](Operation& op) {
            op.host_work = HostWork::adam;
            op.host_bytes = bytes;
        });
    }

    Operation& at(OperationId id) { return plan.program.operations[static_cast<std::size_t>(id)]; }

    StepPlan plan;

  private:
    template <typename Fill>
    OperationId add(OperationKind kind, Lane lane, Dependencies waits, Fill fill) {
        Operation op;
        op.kind = kind;
        op.lane = lane;
        op.waits_for = std::move(waits);
        fill(op);
        plan.program.operations.push_back(std::move(op));
        return static_cast<OperationId>(plan.program.operations.size()) - 1;
    }
};

inline Seconds duration(const SimulatedStep& step, OperationId id) {
    const OperationInterval& interval = step.operations[static_cast<std::size_t>(id)];
    return interval.end - interval.start;
}

}  // namespace sluice::test
