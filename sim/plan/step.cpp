#include "sim/plan/step.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/plan/placement.h"

namespace sluice {
namespace {

Shortage shortage_of(std::string memory, const Fit::OfMemory& tier) {
    const auto& kinds = tier.peak.by_kind;
    const auto largest = std::max_element(kinds.begin(), kinds.end());
    return {std::move(memory), tier.peak.bytes, tier.usable,
            static_cast<MemoryKind>(largest - kinds.begin()), *largest};
}

}  // namespace

AskedStep asked_step(const ModelSpec& model, const MachineSpec& machine,
                     const TrainingSpec& training) {
    AskedStep asked;
    asked.model_name = model.name;
    asked.model_note = model.note;
    asked.parameters = total_parameters(model);
    asked.active_parameters = active_parameters(model);
    asked.layers = model.layer_count();
    asked.tied_embeddings = model.tied_embeddings;
    asked.machine_id = machine.id;
    asked.machine_name = machine.name;
    asked.machine_changes = machine.changes;
    asked.training = as_kept(model, training);
    asked.runs_today = runs_today(training, model, machine);
    return asked;
}

PlannedStep planned_step(StepPlan plan, const MachineSpec& machine, const TrainingSpec& training) {
    PlannedStep out;
    out.fit = check_fit(plan, machine, training);
    out.device_capacity = machine.gpu.memory_capacity;
    out.device_context = machine.gpu.context;
    out.host_capacity = machine.host.memory_capacity;
    out.unified_memory = machine.unified_memory;
    out.executed_flops = static_cast<double>(training.gpus) * plan.program.flops();
    out.confidence = machine.confidence;
    std::vector<std::string> assumptions = machine.assumptions;
    const auto append = [&](const std::vector<std::string>& more) {
        assumptions.insert(assumptions.end(), more.begin(), more.end());
    };
    if (plan.program.style != KernelStyle::fused && !machine.others_assumptions.empty()) {
        out.confidence = std::max(out.confidence, Confidence::transferred);
        append(machine.others_assumptions);
    }
    append(plan.assumptions);
    static_cast<StepPlan&>(out) = std::move(plan);
    out.assumptions = std::move(assumptions);
    return out;
}

Lane Step::bottleneck() const {
    const auto largest = std::max_element(critical_shares.begin(), critical_shares.end());
    return Lane::at(static_cast<std::size_t>(largest - critical_shares.begin()));
}

std::vector<Lane> Step::used_lanes() const {
    std::vector<Lane> used;
    for (std::size_t i = 0; i < lanes.size(); ++i)
        if (lanes[Lane::at(i)].operations > 0) used.push_back(Lane::at(i));
    return used;
}

const char* resource_name(Resource resource) {
    // In the order of the enumeration.
    static constexpr const char* kNames[] = {"gpu_compute",    "hbm",       "host_to_device",
                                             "device_to_host", "host_dram", "optimizer_threads"};
    return kNames[static_cast<std::size_t>(resource)];
}

std::string bottleneck_name(Lane lane) {
    return lane.work == Work::compute ? "gpu_compute" : lane_name(lane);
}

std::string bottleneck_label(Lane lane) {
    return lane.work == Work::compute ? "GPU compute" : lane_words(lane);
}

Step step_of(const StepProgram& program, std::vector<OperationInterval> intervals,
             Seconds seconds) {
    Step step;
    step.seconds = seconds;
    step.lanes = lane_times(program, intervals, seconds);
    step.critical_shares = critical_shares(program, intervals, seconds);
    step.intervals = std::move(intervals);
    return step;
}

std::vector<Shortage> find_shortages(const PlannedStep& plan) {
    std::vector<Shortage> out;
    for (const Fit::OfMemory& one : plan.fit.memories) {
        if (one.shortfall() == 0) continue;
        const bool shared = plan.unified_memory && one.memory == Tier::host;
        out.push_back(shortage_of(shared ? "shared memory" : memory_name(one.memory), one));
    }
    return out;
}

std::string bottleneck_text(const Step& step) {
    const Lane lane = step.bottleneck();
    return fmt::format("{}, {} of the step's critical path; compute is busy {} of the step",
                       bottleneck_label(lane), format_percent(step.critical_shares[lane]),
                       format_percent(step.lane(Work::compute).busy / step.seconds));
}

std::string shortage_text(const Shortage& shortage, const BytesText& bytes) {
    return fmt::format("{} needs {}, has {} (short {}); largest: {} {}", shortage.memory,
                       bytes(shortage.needed), bytes(shortage.usable),
                       bytes(shortage.needed - shortage.usable), memory_kind_name(shortage.largest),
                       bytes(shortage.of_largest));
}

std::vector<std::string> shortages(const PlannedStep& plan, const BytesText& bytes) {
    std::vector<std::string> out;
    for (const Shortage& shortage : find_shortages(plan))
        out.push_back(shortage_text(shortage, bytes));
    return out;
}

namespace {

/// An operation in this step (turn 0), the previous one (-1), ...
struct Occurrence {
    OperationId operation = -1;
    int turn = 0;
};

class WaitChains {
  public:
    WaitChains(const StepProgram& program, const std::vector<OperationInterval>& intervals,
               Seconds step)
        : program_(program),
          intervals_(intervals),
          step_(step),
          before_in_lane_(program.operations.size()) {
        ByLane<OperationId> last(program.devices(), -1);
        for (std::size_t i = 0; i < program.operations.size(); ++i) {
            const Lane lane = program.operations[i].lane;
            before_in_lane_[i] = {last[lane], 0};
            last[lane] = static_cast<OperationId>(i);
        }
        for (Occurrence& before : before_in_lane_) {
            if (before.operation >= 0) continue;
            const auto index = static_cast<std::size_t>(&before - before_in_lane_.data());
            before = {last[program.operations[index].lane], -1};
        }
    }

    /// Walks the critical path back over `steps` steps, so that a path which differs between steps
    /// is averaged. Starts at the last compute operation and calls visit(operation, begin, end) for
    /// each operation's time on the path. The time from an operation's end to the start of the one
    /// that waited for it is included.
    template <typename Visit>
    void walk_critical_path(int steps, Visit visit) const {
        Occurrence at = last_compute();
        Seconds high = end(at);
        const Seconds low = high - steps * step_;
        for (std::size_t links = 0; high > low && links < longest_chain(); ++links) {
            const Seconds begin = std::max(low, std::min(high, start(at)));
            visit(at, begin, high);
            high = begin;
            at = blocker(at);
        }
    }

    ByLane<double> critical_shares() const {
        ByLane<double> shares(program_.devices());
        walk_critical_path(kSteps, [&](Occurrence at, Seconds begin, Seconds until) {
            const Lane lane = program_.operations[static_cast<std::size_t>(at.operation)].lane;
            shares[lane] += (until - begin) / (kSteps * step_);
        });
        return shares;
    }

    std::vector<Seconds> critical_seconds() const {
        std::vector<Seconds> seconds(program_.operations.size(), 0);
        walk_critical_path(kSteps, [&](Occurrence at, Seconds begin, Seconds until) {
            const Seconds ran_until = std::min(until, end(at));
            seconds[static_cast<std::size_t>(at.operation)] +=
                std::max(0.0, ran_until - begin) / kSteps;
        });
        return seconds;
    }

    /// Calls visit(wait) for every stretch of the compute lane's gaps that another operation
    /// explains.
    template <typename Visit>
    void walk_gaps(Visit visit) const {
        for (std::size_t i = 0; i < program_.operations.size(); ++i) {
            if (program_.operations[i].lane != kFirstCompute) continue;
            const Seconds free = end(before_in_lane_[i]);
            const Seconds start = intervals_[i].start;
            if (start - free > kShortest) walk_gap(static_cast<OperationId>(i), free, start, visit);
        }
    }

  private:
    static constexpr Seconds kShortest = 1e-9;
    static constexpr int kSteps = 4;  // that the critical path is averaged over

    /// Links of a chain through these steps, with as many again to spare; more would be a circle.
    std::size_t longest_chain() const {
        constexpr std::size_t kOfShortSteps = 100'000;  // lanes that may run many operations ahead
        return std::max(kOfShortSteps, 2 * kSteps * program_.operations.size());
    }

    Occurrence last_compute() const {
        Occurrence last;
        for (std::size_t i = 0; i < program_.operations.size(); ++i) {
            if (program_.operations[i].lane == kFirstCompute)
                last = {static_cast<OperationId>(i), 0};
        }
        return last;
    }
    Seconds start(Occurrence o) const {
        return intervals_[static_cast<std::size_t>(o.operation)].start + o.turn * step_;
    }
    Seconds end(Occurrence o) const {
        return intervals_[static_cast<std::size_t>(o.operation)].end + o.turn * step_;
    }

    /// The dependency of `o` that ended last.
    Occurrence blocker(Occurrence o) const {
        const auto index = static_cast<std::size_t>(o.operation);
        Occurrence latest = before_in_lane_[index];
        latest.turn += o.turn;
        for (const Dependency& wait : program_.operations[index].waits_for) {
            const Occurrence candidate{wait.operation, o.turn - (wait.previous_step ? 1 : 0)};
            if (end(candidate) > end(latest)) latest = candidate;
        }
        return latest;
    }

    /// Explains [low, high], during which `waiting` could not start.
    template <typename Visit>
    void walk_gap(OperationId waiting, Seconds low, Seconds high, Visit visit) const {
        Occurrence at{waiting, 0};
        for (std::size_t links = 0; high - low > kShortest && links < longest_chain(); ++links) {
            const Occurrence cause = blocker(at);
            const Seconds begin = std::max(low, start(cause));
            const Seconds finish = std::min(high, end(cause));
            const Lane lane = program_.operations[static_cast<std::size_t>(cause.operation)].lane;
            if (finish > begin) visit(ExposedWait{lane, cause.operation, waiting, begin, finish});
            high = std::min(high, begin);
            at = cause;
        }
    }

    const StepProgram& program_;
    const std::vector<OperationInterval>& intervals_;
    const Seconds step_;
    std::vector<Occurrence> before_in_lane_;
};

}  // namespace

LaneTimes lane_times(const StepProgram& program, const std::vector<OperationInterval>& intervals,
                     Seconds step) {
    LaneTimes lanes(program.devices());
    for (std::size_t i = 0; i < program.operations.size(); ++i) {
        const Operation& operation = program.operations[i];
        LaneTime& lane = lanes[operation.lane];
        lane.busy += intervals[i].end - intervals[i].start;
        lane.bytes += operation.link_bytes + operation.host_bytes;
        ++lane.operations;
    }
    for (LaneTime& lane : lanes) lane.idle = std::max(0.0, step - lane.busy);
    WaitChains(program, intervals, step).walk_gaps([&](const ExposedWait& wait) {
        lanes[wait.lane].exposed += wait.end - wait.start;
    });
    return lanes;
}

std::vector<ExposedWait> exposed_waits(const StepProgram& program,
                                       const std::vector<OperationInterval>& intervals,
                                       Seconds step) {
    std::vector<ExposedWait> waits;
    WaitChains(program, intervals, step).walk_gaps([&](const ExposedWait& wait) {
        waits.push_back(wait);
    });
    return waits;
}

ByLane<double> critical_shares(const StepProgram& program,
                               const std::vector<OperationInterval>& intervals, Seconds step) {
    return WaitChains(program, intervals, step).critical_shares();
}

std::vector<Seconds> critical_seconds(const StepProgram& program,
                                      const std::vector<OperationInterval>& intervals,
                                      Seconds step) {
    return WaitChains(program, intervals, step).critical_seconds();
}

}  // namespace sluice
