#include "sim/simulate/step_work.h"

#include <algorithm>

#include "sim/simulate/step_bounds.h"

namespace sluice {
namespace {

/// Positions among the compute operations of a step and those before and after it.
class Windows {
  public:
    explicit Windows(const StepProgram& program)
        : program_(program), position_(program.operations.size()), after_(position_.size()) {
        constexpr unsigned kForward = 0, kBackward = 1, kUpdates = 2;
        for (std::size_t i = 0; i < position_.size(); ++i) {
            if (!computes(i)) continue;
            const OperationKind kind = program.operations[i].kind;
            const bool backward = kind == OperationKind::backward || kind == OperationKind::loss ||
                                  kind == OperationKind::embedding_backward;
            const bool forward = kind == OperationKind::forward;
            if (kinds_.empty() || (forward && kinds_.back() == kBackward))
                kinds_.push_back(kForward);
            if (backward && kinds_.back() == kForward) kinds_.push_back(kBackward);
            position_[i] = static_cast<std::int64_t>(part_.size());
            part_.push_back(static_cast<std::int64_t>(kinds_.size()) - 1);
            if (backward || forward) last_ = part_.size();
        }
        kinds_.push_back(kUpdates);
        for (std::size_t i = last_; i < part_.size(); ++i)
            part_[i] = static_cast<std::int64_t>(kinds_.size()) - 1;
        count_ = static_cast<std::int64_t>(part_.size());
        before_.assign(position_.size(), 2 * count_);
        after_.assign(position_.size(), -2 * count_);
        for (int round = 0; round < 2; ++round) find_after();
        for (int round = 0; round < 2; ++round) find_before();
    }

    StepParts parts(std::size_t i) const {
        const std::int64_t first = computes(i) ? part_of(position_[i]) : part_after(after_[i]);
        const std::int64_t last = std::max(first, part_of(before_[i] - 1));
        const auto parts = static_cast<std::int64_t>(kinds_.size());
        StepParts out = 0;
        for (std::int64_t part = first; part <= std::min(last, first + parts); ++part)
            out |= 1u << kinds_[static_cast<std::size_t>((part + 4 * parts) % parts)];
        return out;
    }

  private:
    /// Those of the step before are below 0.
    std::int64_t part_of(std::int64_t position) const {
        const std::int64_t step = (position + 4 * count_) / count_ - 4;
        return static_cast<std::int64_t>(kinds_.size()) * step +
               part_[static_cast<std::size_t>(position - step * count_)];
    }
    /// The part that begins or goes on once all operations before `position` have ended; it may be
    /// one without compute.
    std::int64_t part_after(std::int64_t position) const {
        const std::int64_t before = part_of(position - 1);
        return part_of(position) == before ? before : before + 1;
    }
    bool computes(std::size_t i) const { return program_.operations[i].lane == kFirstCompute; }

    /// The compute operation that follows the last one that must have ended.
    void find_after() {
        ByLane<std::int64_t> of_lane(program_.devices(), -2 * count_);
        for (std::size_t i = 0; i < after_.size(); ++i)
            if (!computes(i)) lane(of_lane, i) = after_[i] - count_;
        for (std::size_t i = 0; i < after_.size(); ++i) {
            std::int64_t& latest = lane(of_lane, i);
            for (const Dependency& wait : program_.operations[i].waits_for) {
                const auto on = static_cast<std::size_t>(wait.operation);
                latest = std::max(latest, (computes(on) ? position_[on] + 1 : after_[on]) -
                                              (wait.previous_step ? count_ : 0));
            }
            after_[i] = computes(i) ? position_[i] : latest;
        }
    }
    /// The first compute operation that must wait for it.
    void find_before() {
        ByLane<std::int64_t> of_lane(program_.devices(), 2 * count_);
        for (std::size_t i = before_.size(); i-- > 0;)
            if (!computes(i)) lane(of_lane, i) = before_[i] + count_;
        std::vector<std::int64_t> waiting(before_.size(), 2 * count_);
        const auto note = [&](bool previous) {
            for (std::size_t i = 0; i < before_.size(); ++i)
                for (const Dependency& wait : program_.operations[i].waits_for)
                    if (wait.previous_step == previous) {
                        const auto on = static_cast<std::size_t>(wait.operation);
                        waiting[on] =
                            std::min(waiting[on], (computes(i) ? position_[i] : before_[i]) +
                                                      (previous ? count_ : 0));
                    }
        };
        note(true);
        for (std::size_t i = before_.size(); i-- > 0;) {
            std::int64_t& earliest = lane(of_lane, i);
            earliest = std::min(earliest, waiting[i]);
            before_[i] = computes(i) ? position_[i] : earliest;
            for (const Dependency& wait : program_.operations[i].waits_for)
                if (!wait.previous_step) {
                    std::int64_t& one = waiting[static_cast<std::size_t>(wait.operation)];
                    one = std::min(one, before_[i]);
                }
        }
    }
    std::int64_t& lane(ByLane<std::int64_t>& of_lane, std::size_t i) const {
        return of_lane[program_.operations[i].lane];
    }

    const StepProgram& program_;
    std::int64_t count_ = 0;
    std::vector<std::int64_t> part_;  ///< of each compute operation
    std::vector<unsigned> kinds_;     ///< of the step's parts
    std::size_t last_ = 0;            ///< the compute operation after the last backward
    std::vector<std::int64_t> position_, after_, before_;
};

/// Kernels that draw more than the limit for long run at the clock that it allows.
Seconds sustained(const FlowDemand& demand, const ClockSpec& clock) {
    const KernelCost& cost = demand.kernels;
    const bool limited = clock.headroom_j > 0 && cost.joules > clock.limit_w * cost.seconds;
    return limited ? std::max(cost.at_limit, demand.alone()) : demand.alone();
}

}  // namespace

void StepWork::add(const StepWork& other, double times) {
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
        for (std::size_t i = 0; i < lanes[lane].seconds.size(); ++i)
            lanes[lane].seconds[i] += times * other.lanes[lane].seconds[i];
        lanes[lane].bytes += times * other.lanes[lane].bytes;
    }
    rest += times * other.rest;
    device_bytes += times * other.device_bytes;
    host_bytes += times * other.host_bytes;
}

StepWork step_work(const StepPlan& plan, const std::vector<FlowDemand>& demands,
                   const MachineSpec& machine) {
    const Windows windows(plan.program);
    StepWork out;
    for (std::size_t i = 0; i < demands.size(); ++i) {
        const auto lane = std::ranges::find(StepWork::kLanes, plan.program.operations[i].lane);
        if (lane == StepWork::kLanes.end()) continue;
        StepWork::OfLane& of = out.lanes[static_cast<std::size_t>(lane - StepWork::kLanes.begin())];
        of.seconds[windows.parts(i)] += sustained(demands[i], machine.gpu.clock);
        of.bytes += demands[i].bytes;
    }
    out.rest = step_paths(plan.program, demands).to_first_compute;
    const auto count = static_cast<OperationId>(demands.size());
    out.device_bytes = static_cast<double>(peak_memory(plan.memory, Tier::device, count).bytes);
    out.host_bytes = static_cast<double>(host_peak(plan.memory, count).bytes);
    if (machine.unified_memory)
        out.host_bytes += out.device_bytes + static_cast<double>(machine.gpu.context);
    return out;
}

std::array<double, StepWork::kLanes.size()> lane_shares(
    const std::array<double, StepWork::kLanes.size()>& active, const MachineSpec& machine,
    const TrainingSpec& training) {
    const auto& [compute, in, out, optimizer, host] = active;
    const Contention& measured = machine.host.contention_of(training.state_bytes);
    if (!measured.empty()) {
        const LaneShares shares = measured.shares({compute > 0, in > 0, out > 0, optimizer + host});
        return {shares.compute, shares.in, shares.out, shares.work, shares.work};
    }
    const double copies = in + out, both_ways = machine.link.both_ways_total;
    const double link = in > 0 && out > 0 ? std::min(1.0, both_ways / copies) : 1;
    const double traffic = machine.host.copy_weight * copies * link + optimizer + host +
                           (machine.unified_memory ? compute : 0);
    const double dram = traffic > 0 ? std::min(1.0, machine.host.dram_bandwidth / traffic) : 1;
    return {machine.unified_memory ? dram : 1, link * dram, link * dram, dram, dram};
}

}  // namespace sluice
