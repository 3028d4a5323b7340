#include "sim/simulate/step_run.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/base/input_error.h"
#include "sim/simulate/operation_cost.h"
#include "sim/simulate/platform.h"
#include "sim/simulate/simgrid.h"
#include "sim/simulate/simulation_service.h"

namespace sluice {

/// SimGrid's clock, which would continue from one simulation to the next, and with it the rounding
/// of every time. Then 287 of 288 steps differed in some bit by what ran before; with a clock reset
/// to 0, none. SimGrid has this variable (3.30 to 4.1) but no function that sets it.
extern double simgrid_clock asm("_ZN7simgrid6kernel10EngineImpl4now_E");

namespace sg = simgrid::s4u;
namespace {

constexpr int kMostSteps = 24;

/// The state shared by the lanes' actors during a simulation. Actors run one at a time, in a fixed
/// order.
class StepRun {
  public:
    StepRun(const std::vector<LaneOperation>& work, const MachineSpec& machine,
            const TrainingSpec& training, Seconds worth, std::stop_token stop)
        : stop_(std::move(stop)),
          worth_(worth),
          work_(work),
          lanes_(devices_of(work)),
          power_(static_cast<std::size_t>(devices_of(work)), PowerOfDevice(machine.gpu.clock)),
          headroom_j_(machine.gpu.clock.headroom_j),
          completed_(work.size(), 0) {
        for (std::size_t i = 0; i < work.size(); ++i) {
            lanes_[work[i].lane].operations.push_back(static_cast<OperationId>(i));
            if (work[i].lane == kFirstCompute) last_compute_ = static_cast<OperationId>(i);
        }
        Platform::instance().set_machine(machine, devices_of(work), training.state_bytes);
    }

    RunSteps run() {
        simgrid_clock = 0;
        for (std::size_t i = 0; i < lanes_.size(); ++i) {
            OfLane& lane = lanes_[Lane::at(i)];
            if (lane.operations.empty()) continue;
            lane.awake = sg::Semaphore::create(0);
            simgrid_names::add_actor(lane_name(Lane::at(i)), Platform::instance().actors_host(),
                                     [this, &lane] { run_lane(lane); });
        }
        sg::Engine::get_instance()->run();
        if (cancelled_) throw Cancelled();
        if (run_.compute_ends.size() < 2 && run_.slower_than_worth == 0)
            throw InternalError(
                "simulate_step: the lanes wait for each other; the plan is not executable");
        return std::move(run_);
    }

  private:
    /// The lane whose operations a step begins and ends with.
    static constexpr Lane kFirstCompute = Work::compute;

    struct LaneEnd {
        OperationId operation = 0;
        Seconds end = 0;
    };
    struct OfLane {
        std::vector<OperationId> operations;  ///< of a step, in their order
        sg::SemaphorePtr awake;
        OperationId waits_for = -1;  ///< the operation that it sleeps for, else -1
        LaneEnd last, at_last_end;  ///< what it has done last: now, and at the end of the last step
    };
    /// The energy that a device may draw beyond its limit: now, and after the last step.
    struct PowerOfDevice {
        explicit PowerOfDevice(const ClockSpec& clock) : now(clock), left_j(clock.headroom_j) {}
        double used_j() const { return left_j - now.left_j(); }
        /// Steps like the last one for which it is enough.
        double steps_left() const { return std::floor(now.left_j() / used_j()); }

        PowerBudget now;
        double left_j;
    };

    static int devices_of(const std::vector<LaneOperation>& work) {
        int most = 0;
        for (const LaneOperation& one : work) most = std::max<int>(most, one.lane.device);
        return most + 1;
    }

    void run_lane(OfLane& lane) {
        for (int step = 0; step < kMostSteps; ++step) {
            for (const OperationId id : lane.operations) {
                // No lane runs the step after the last; a lane that is ahead stops there.
                if (over(step)) return;
                execute(id, step, lane);
            }
        }
    }

    /// A lane that reaches this step stops.
    bool over(int step) const {
        return cancelled_ || (finished_ && step >= static_cast<int>(run_.compute_ends.size()));
    }

    /// Every lane ends with its current operation, so that SimGrid has no activity left.
    void cancel() {
        cancelled_ = true;
        for (OfLane& lane : lanes_)
            if (lane.waits_for >= 0) wake(lane);
    }

    void execute(OperationId id, int step, OfLane& lane) {
        if (stop_.stop_requested()) return cancel();
        const auto index = static_cast<std::size_t>(id);
        for (const Dependency& dependency : work_[index].waits_for) {
            const int needed = dependency.previous_step ? step : step + 1;
            while (completed_[static_cast<std::size_t>(dependency.operation)] < needed) {
                if (over(step)) return;
                lane.waits_for = dependency.operation;
                lane.awake->acquire();
            }
        }
        if (step >= static_cast<int>(run_.intervals.size())) {
            run_.intervals.emplace_back(work_.size());
            run_.left_j.emplace_back(work_.size());
        }
        const auto of_step = static_cast<std::size_t>(step);
        const Seconds begin = sg::Engine::get_clock();
        pass(index, begin);
        run_.intervals[of_step][index] = {begin, sg::Engine::get_clock()};
        run_.left_j[of_step][index] = power_of(work_[index].lane).now.left_j();
        ++completed_[index];
        lane.last = {id, sg::Engine::get_clock()};
        if (id == last_compute_) end_of_compute();
        wake_lanes(id);
    }

    void pass(std::size_t index, Seconds now) {
        const Lane lane = work_[index].lane;
        if (lane.work != Work::compute) return Platform::instance().pass(lane, work_[index].demand);
        FlowDemand demand = work_[index].demand;
        PowerBudget& power = power_of(lane).now;
        const Seconds seconds = power.begin(now, demand.kernels);
        if (seconds > 0) demand.rate = demand.bytes / seconds;
        Platform::instance().pass(lane, demand);
        power.end(sg::Engine::get_clock());
    }

    void end_of_compute() {
        still_working();
        run_.compute_ends.push_back(sg::Engine::get_clock());
        const bool alike = steady(), uses_up = std::ranges::any_of(power_, [&](const auto&one) {
                                         return one.used_j() > kSteady * headroom_j_;
                                     });
        // Short steps are equal until a GPU has used up its energy beyond the power limit: all
        // except the last of them are skipped.
        if (alike && uses_up) skip_alike_steps();
        for (PowerOfDevice& one : power_) one.left_j = one.now.left_j();
        for (OfLane& lane : lanes_) lane.at_last_end = lane.last;
        run_.steady = alike && !uses_up;
        if (const Seconds last = last_step(); last > worth_) run_.slower_than_worth = last;
        finished_ =
            run_.steady || run_.compute_ends.size() == kMostSteps || run_.slower_than_worth > 0;
    }

    void skip_alike_steps() {
        double steps = std::numeric_limits<double>::infinity();
        for (const PowerOfDevice& one : power_)
            if (one.used_j() > 0) steps = std::min(steps, one.steps_left());
        for (PowerOfDevice& one : power_) {
            const double left = one.now.left_j(), used = one.used_j();
            if (used <= 0) continue;
            one.now.use(one.steps_left() == steps ? left - std::fmod(left, used) : steps * used);
        }
    }

    /// From the end of compute to the next; in the first step, from its begin.
    Seconds last_step() const {
        const std::size_t n = run_.compute_ends.size();
        const auto first = static_cast<std::size_t>(lanes_[kFirstCompute].operations.front());
        return run_.compute_ends[n - 1] -
               (n > 1 ? run_.compute_ends[n - 2] : run_.intervals[0][first].start);
    }

    /// The last two steps took equally long, and a lane that is behind compute neither fell further
    /// behind nor caught up.
    bool steady() const {
        const std::size_t n = run_.compute_ends.size();
        if (n < 2) return false;
        const Seconds last = run_.compute_ends[n - 1] - run_.compute_ends[n - 2];
        for (const OfLane& lane : lanes_) {
            if (lane.operations.empty() || done(lane.operations.back()) >= n) continue;
            const LaneEnd &now = lane.last, &then = lane.at_last_end;
            if (now.operation != then.operation ||
                std::abs(now.end - then.end - last) > kSteady * last)
                return false;
        }
        if (n == 2) return second_repeats_first();
        const Seconds before = run_.compute_ends[n - 2] - run_.compute_ends[n - 3];
        return std::abs(last - before) <= kSteady * last;
    }

    std::size_t done(OperationId id) const {
        return static_cast<std::size_t>(completed_[static_cast<std::size_t>(id)]);
    }

    /// Up to here the second step ran like the first, operation by operation. The start of the
    /// first step has no effect any more, so the next steps repeat too.
    bool second_repeats_first() const {
        const auto front = static_cast<std::size_t>(lanes_[kFirstCompute].operations.front());
        const Seconds shift = run_.intervals[1][front].start - run_.intervals[0][front].start;
        for (std::size_t i = 0; i < run_.intervals[0].size(); ++i) {
            const OperationInterval &first = run_.intervals[0][i], &second = run_.intervals[1][i];
            const Seconds tolerance = kSteady * shift;
            if (completed_[i] < 2) {
                if (first.end + shift < run_.compute_ends[1] - tolerance) return false;
            } else if (std::abs(second.start - first.start - shift) > tolerance ||
                       std::abs(second.end - first.end - shift) > tolerance) {
                return false;
            }
        }
        return true;
    }

    PowerOfDevice& power_of(Lane lane) { return power_[static_cast<std::size_t>(lane.device)]; }

    static void wake(OfLane& lane) {
        lane.waits_for = -1;
        lane.awake->release();
    }

    /// Wakes the lanes that wait for this operation; at the end of the simulation all lanes, so
    /// that they stop.
    void wake_lanes(OperationId done) {
        for (OfLane& lane : lanes_)
            if (lane.waits_for >= 0 && (lane.waits_for == done || finished_)) wake(lane);
    }

    const std::stop_token stop_;
    const Seconds worth_;
    const std::vector<LaneOperation>& work_;
    ByLane<OfLane> lanes_;
    std::vector<PowerOfDevice> power_;
    const double headroom_j_;
    std::vector<int> completed_;  ///< how often each operation has been done
    RunSteps run_;
    OperationId last_compute_ = 0;
    bool finished_ = false;
    bool cancelled_ = false;
};

}  // namespace

std::vector<LaneOperation> lane_operations(const StepProgram& program, const MachineSpec& machine,
                                           const TrainingSpec& training) {
    const std::vector<FlowDemand> demands = operation_demands(program, machine, training);
    std::vector<LaneOperation> work;
    work.reserve(demands.size());
    for (std::size_t i = 0; i < demands.size(); ++i)
        work.push_back({program.operations[i].lane, program.operations[i].waits_for, demands[i]});
    return work;
}

RunSteps run_steps(const std::vector<LaneOperation>& work, const MachineSpec& machine,
                   const TrainingSpec& training, Seconds worth) {
    RunSteps out;
    on_simulation_thread([&, stop = begin_simulation()] {
        out = StepRun(work, machine, training, worth, stop).run();
    });
    return out;
}

}  // namespace sluice
