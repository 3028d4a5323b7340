#include "sim/simulate/step_work.h"

#include <algorithm>
#include <bit>
#include <tuple>
#include <unordered_map>

#include "sim/simulate/step_bounds.h"

namespace sluice {
namespace {

/// Positions among the compute operations of a step and those before and after it.
class Windows {
  public:
    explicit Windows(const StepProgram& program)
        : program_(program),
          devices_(program.devices()),
          position_(program.operations.size()),
          after_(position_.size()) {
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
        ByLane<std::int64_t> of_lane(devices_, -2 * count_);
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
        ByLane<std::int64_t> of_lane(devices_, 2 * count_);
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
    const int devices_;
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

/// Finds the kind of each operation: those of equal layers demand the same.
class Kinds {
  public:
    explicit Kinds(StepOutline& out) : out_(out) {}

    std::uint32_t of(const Operation& operation, StepParts parts) {
        for (std::uint64_t at = hash(operation, parts);; ++at) {
            const auto next = static_cast<std::uint32_t>(out_.parts.size());
            const auto [found, is_new] = known_.try_emplace(at, next);
            if (!is_new && out_.parts[found->second] == parts &&
                demand_the_same(out_.kinds.operations[found->second], operation))
                return found->second;
            if (!is_new) continue;
            out_.parts.push_back(parts);
            out_.kinds.operations.push_back(operation);
            out_.kinds.operations.back().waits_for.clear();
            out_.kinds.operations.back().uses.clear();
            return next;
        }
    }

  private:
    static std::uint64_t hash(const Operation& one, StepParts parts) {
        std::uint64_t out = one.lane.index() * 8 + parts;
        const auto add = [&](std::uint64_t bits) {
            out = (out ^ bits) * 0x9e3779b97f4a7c15u;
            out ^= out >> 32;
        };
        for (const double number : {one.link_bytes, one.host_bytes, one.kernel_runs})
            add(std::bit_cast<std::uint64_t>(number));
        for (const std::int32_t list : one.kernels) add(static_cast<std::uint64_t>(list));
        return out;
    }
    /// Compares all that operation_demands() reads.
    static bool demand_the_same(const Operation& a, const Operation& b) {
        const auto numbers = [](const Operation& one) {
            return std::tuple(one.lane.index(), one.micro_batches, one.kernel_runs,
                              one.eager_operations, one.at_least, one.link_bytes, one.pageable,
                              one.to_fresh_pages, one.collective, one.collective_bytes,
                              one.host_work, one.host_bytes, one.host_share);
        };
        return numbers(a) == numbers(b) && a.kernels == b.kernels;
    }

    StepOutline& out_;
    std::unordered_map<std::uint64_t, std::uint32_t> known_;
};

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

StepOutline step_outline(const StepPlan& plan) {
    const Windows windows(plan.program);
    const std::vector<Operation>& operations = plan.program.operations;
    StepOutline out;
    out.kinds.style = plan.program.style;
    out.kinds.kernel_lists = plan.program.kernel_lists;
    Kinds kinds(out);
    std::size_t first = operations.size(), last = 0;
    for (std::size_t i = 0; i < operations.size(); ++i) {
        out.order.push_back(kinds.of(operations[i], windows.parts(i)));
        if (operations[i].lane != kFirstCompute) continue;
        first = std::min(first, i);
        last = i;
    }
    std::vector<OperationId> place(operations.size(), -1);
    for (std::size_t i = 0; i < operations.size(); ++i) {
        if (i > first && i < last) continue;
        place[i] = static_cast<OperationId>(out.rest_order.size());
        out.rest_order.push_back(out.order[i]);
    }
    for (std::size_t i = 0; i < operations.size(); ++i) {
        if (place[i] < 0) continue;
        Operation& copy = out.rest.operations.emplace_back();
        copy.lane = operations[i].lane;
        for (const Dependency& wait : operations[i].waits_for)
            if (const OperationId on = place[static_cast<std::size_t>(wait.operation)]; on >= 0)
                copy.waits_for.push_back({on, wait.previous_step});
    }
    const auto count = static_cast<OperationId>(operations.size());
    out.device_bytes = static_cast<double>(peak_memory(plan.memory, Tier::device, count).bytes);
    out.host_bytes = static_cast<double>(host_peak(plan.memory, count).bytes);
    return out;
}

StepWork step_work(const StepOutline& outline, const std::vector<FlowDemand>& demands,
                   const MachineSpec& machine) {
    struct OfKind {
        StepWork::OfLane* lane = nullptr;
        Seconds seconds = 0;
    };
    StepWork out;
    std::vector<OfKind> kinds;
    for (std::size_t kind = 0; kind < demands.size(); ++kind) {
        const auto lane = std::ranges::find(StepWork::kLanes, outline.kinds.operations[kind].lane);
        kinds.push_back(
            {lane == StepWork::kLanes.end()
                 ? nullptr
                 : &out.lanes[static_cast<std::size_t>(lane - StepWork::kLanes.begin())],
             sustained(demands[kind], machine.gpu.clock)});
    }
    for (const std::uint32_t kind : outline.order) {
        const auto [of, seconds] = kinds[kind];
        if (of == nullptr) continue;
        of->seconds[outline.parts[kind]] += seconds;
        of->bytes += demands[kind].bytes;
    }
    std::vector<FlowDemand> rest;
    for (const std::uint32_t kind : outline.rest_order) rest.push_back(demands[kind]);
    out.rest = step_paths(outline.rest, rest).to_first_compute;
    out.device_bytes = outline.device_bytes;
    out.host_bytes = outline.host_bytes;
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
