#include "sim/simulate/step_bounds.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <set>

#include "sim/simulate/fluid_bound.h"

namespace sluice {
namespace {

constexpr Seconds kNever = -std::numeric_limits<double>::infinity();
constexpr double kFewestAveraged =
    11;  ///< number of steps that an unsteady step averages, at least

/// The work of a step on one lane.
struct WorkOfLane {
    Seconds alone = 0;
    double bytes = 0;
    double fastest = 0;      ///< bytes/s of its operations
    std::set<double> rates;  ///< of host work: the other lanes' shares depend on it
};
using LaneWorks = ByLane<WorkOfLane>;

LaneWorks lane_works(const StepProgram& program, const std::vector<FlowDemand>& demands) {
    LaneWorks works(program.devices());
    for (std::size_t i = 0; i < demands.size(); ++i) {
        const Lane lane = program.operations[i].lane;
        WorkOfLane& work = works[lane];
        work.alone += demands[i].alone();
        work.bytes += demands[i].bytes;
        work.fastest = std::max(work.fastest, demands[i].rate);
        if (is_host_work(lane)) work.rates.insert(demands[i].rate);
    }
    return works;
}

/// Longest paths from the last compute operation of a step; kNever for ends of operations that no
/// path reaches.
class PathFromLastCompute {
  public:
    PathFromLastCompute(const StepProgram& program, const std::vector<FlowDemand>& demands)
        : program_(program),
          demands_(demands),
          before_(demands.size(), kNever),
          now_(before_),
          lane_end_(program.devices(), kNever) {
        for (std::size_t i = 0; i < demands.size(); ++i)
            if (program.operations[i].lane == kFirstCompute) last_ = i;
    }

    StepPaths walk() {
        now_[last_] = lane_end_[kFirstCompute] = 0;
        for (std::size_t i = last_ + 1; i < now_.size(); ++i) run(i);
        before_ = now_;
        StepPaths paths;
        bool first = true;
        for (std::size_t i = 0; i < now_.size(); ++i) {
            const Seconds start = run(i);
            if (first && program_.operations[i].lane == kFirstCompute) {
                paths.to_first_compute = std::max(0.0, start);
                first = false;
            }
        }
        paths.to_last_compute = std::max(0.0, now_[last_]);
        return paths;
    }

  private:
    Seconds run(std::size_t i) {
        const Operation& operation = program_.operations[i];
        Seconds start = lane_end_[operation.lane];
        for (const Dependency& wait : operation.waits_for)
            start = std::max(
                start,
                (wait.previous_step ? before_ : now_)[static_cast<std::size_t>(wait.operation)]);
        lane_end_[operation.lane] = now_[i] = start + demands_[i].alone();
        return start;
    }

    const StepProgram& program_;
    const std::vector<FlowDemand>& demands_;
    std::vector<Seconds> before_, now_;
    ByLane<Seconds> lane_end_;
    std::size_t last_ = 0;
};

/// Host memory traffic per byte of a lane; 0 for other lanes, which keeps the bound a lower bound.
double dram_of(Lane lane, const MachineSpec& machine) {
    if (is_copy(lane)) return machine.host.copy_weight;
    return is_host_work(lane) || (machine.unified_memory && lane.work == Work::compute) ? 1 : 0;
}

/// The longest lane, and all traffic of a device's memory.
Seconds resource_bound(const LaneWorks& works, const MachineSpec& machine) {
    std::vector<double> hbm(works.size() / kWorkCount, 0);
    Seconds longest = 0;
    for (std::size_t i = 0; i < works.size(); ++i) {
        const Lane lane = Lane::at(i);
        longest = std::max(longest, works[lane].alone);
        if (lane.work == Work::compute || is_copy(lane))
            hbm[static_cast<std::size_t>(lane.device)] += works[lane].bytes;
    }
    if (machine.unified_memory) return longest;
    return std::max(longest, *std::ranges::max_element(hbm) / machine.gpu.memory_bandwidth);
}

/// Energy of kernels beyond the power limit, and how fast a lower clock saves it.
struct PowerDebt {
    double joules = 0;
    Seconds per_joule = 0;  ///< seconds, the least; above 0 if there are joules
};

PowerDebt power_debt(const StepProgram& program, const std::vector<FlowDemand>& demands,
                     const ClockSpec& clock) {
    if (clock.headroom_j == 0) return {};
    PowerDebt debt;
    std::optional<Seconds> least;
    for (std::size_t i = 0; i < demands.size(); ++i) {
        const KernelCost& cost = demands[i].kernels;
        if (program.operations[i].lane != kFirstCompute || cost.seconds <= 0) continue;
        const double beyond = cost.joules - clock.limit_w * cost.seconds;
        const Seconds longer = cost.at_limit - cost.seconds;
        const double saved = cost.joules * (1 - clock.energy_share) + clock.limit_w * longer;
        // Energy that a lower clock cannot save is not counted, see PowerBudget.
        debt.joules += beyond > 0 ? std::min(beyond, std::max(saved, 0.0)) : beyond;
        if (beyond <= 0 || saved <= 0) continue;
        const Seconds per_joule = std::max(0.0, longer / saved);
        least = std::min(least.value_or(per_joule), per_joule);
    }
    debt.joules -= clock.headroom_j / kFewestAveraged;
    // If a kernel saves energy in no more time, all may be saved at no cost.
    if (debt.joules <= 0 || least.value_or(0) <= 0) return {};
    debt.per_joule = *least;
    return debt;
}

/// The first device's lanes and the host's; other devices make no step shorter.
class FluidBound {
  public:
    FluidBound(const LaneWorks& works, const MachineSpec& machine, const TrainingSpec& training)
        : works_(works),
          machine_(machine),
          contention_(machine.host.contention_of(training.state_bytes)) {}

    Seconds find(const PowerDebt& debt, Seconds rest) const {
        std::vector<WorkMode> modes;
        for (int set = 0; set < 1 << kLanes.size(); ++set)
            if (has_work(set)) modes.push_back(mode(set));
        WorkMode lower_clock{std::vector<double>(kKinds, 0), 0};
        lower_clock.progress[kCompute] = -1;
        lower_clock.progress[kPower] = debt.per_joule > 0 ? 1 / debt.per_joule : 0;
        modes.push_back(lower_clock);
        std::vector<double> work(kKinds, 0);
        for (std::size_t i = 0; i < kLanes.size(); ++i) work[i] = works_[kLanes[i]].alone;
        work[kRest] = rest;
        work[kPower] = debt.joules;
        if (contention_.empty()) {
            work[kBytes] = of(kIn).bytes + of(kOut).bytes;
            for (std::size_t i = 0; i < kLanes.size(); ++i)
                work[kDram] += dram_of(kLanes[i], machine_) * of(i).bytes;
        }
        return least_cost(modes, work);
    }

  private:
    static constexpr std::array<Lane, 5> kLanes = {
        Work::compute, Work::host_to_device, Work::device_to_host, Work::optimizer, Work::host};
    static constexpr std::size_t kCompute = 0, kIn = 1, kOut = 2, kOptimizer = 3, kHost = 4;
    static constexpr std::size_t kRest = 5, kPower = 6, kBytes = 7, kDram = 8, kKinds = 9;

    const WorkOfLane& of(std::size_t lane) const { return works_[kLanes[lane]]; }
    static bool has(int set, std::size_t lane) { return ((set >> lane) & 1) != 0; }
    bool has_work(int set) const {
        for (std::size_t lane = 0; lane < kLanes.size(); ++lane)
            if (has(set, lane) && of(lane).alone == 0) return false;
        return true;
    }

    WorkMode mode(int set) const {
        WorkMode out{std::vector<double>(kKinds, 0), 1};
        const LaneShares most = most_shares(set);
        const std::array<double, 5> shares = {most.compute, most.in, most.out, most.work,
                                              most.work};
        for (std::size_t lane = 0; lane < kLanes.size(); ++lane)
            if (has(set, lane)) out.progress[lane] = shares[lane];
        if (!has(set, kCompute)) {
            const ClockSpec& clock = machine_.gpu.clock;
            out.progress[kRest] = 1;
            out.progress[kPower] = std::max(0.0, clock.limit_w - clock.idle_w);
        }
        double bytes = 0, dram = 0;
        for (std::size_t lane = 0; lane < kLanes.size(); ++lane) {
            if (!has(set, lane)) continue;
            if (is_copy(kLanes[lane])) bytes += of(lane).fastest;
            dram += dram_of(kLanes[lane], machine_) * of(lane).fastest;
        }
        const bool both_ways = has(set, kIn) && has(set, kOut);
        out.progress[kBytes] = both_ways ? std::min(machine_.link.both_ways_total, bytes) : bytes;
        out.progress[kDram] = std::min(machine_.host.dram_bandwidth, dram);
        return out;
    }

    /// The most of each lane, over the possible rates of host work.
    LaneShares most_shares(int set) const {
        static const std::set<double> kNone = {0};
        LaneShares most = {0, 0, 0, 0};
        for (const double optimizer : has(set, kOptimizer) ? of(kOptimizer).rates : kNone) {
            for (const double host : has(set, kHost) ? of(kHost).rates : kNone) {
                const LaneShares shares = contention_.shares(
                    {has(set, kCompute), has(set, kIn), has(set, kOut), optimizer + host});
                most.compute = std::max(most.compute, std::min(1.0, shares.compute));
                most.in = std::max(most.in, std::min(1.0, shares.in));
                most.out = std::max(most.out, std::min(1.0, shares.out));
                most.work = std::max(most.work, std::min(1.0, shares.work));
            }
        }
        return most;
    }

    const LaneWorks& works_;
    const MachineSpec& machine_;
    const Contention& contention_;
};

}  // namespace

StepPaths step_paths(const StepProgram& program, const std::vector<FlowDemand>& demands) {
    return PathFromLastCompute(program, demands).walk();
}

Seconds StepBounds::at_least() const { return std::max({path, resource, fluid}) * (1 - kMargin); }

StepBounds step_bounds(const StepProgram& program, const std::vector<FlowDemand>& demands,
                       const MachineSpec& machine, const TrainingSpec& training) {
    const LaneWorks works = lane_works(program, demands);
    const StepPaths paths = step_paths(program, demands);
    const PowerDebt debt = power_debt(program, demands, machine.gpu.clock);
    return {paths.to_last_compute, resource_bound(works, machine),
            FluidBound(works, machine, training).find(debt, paths.to_first_compute)};
}

Seconds compute_bound(const StepProgram& program, std::vector<FlowDemand> demands,
                      const MachineSpec& machine, const TrainingSpec& training) {
    for (std::size_t i = 0; i < demands.size(); ++i)
        if (program.operations[i].lane.work != Work::compute) demands[i].bytes = 0;
    return step_bounds(program, demands, machine, training).at_least();
}

}  // namespace sluice
