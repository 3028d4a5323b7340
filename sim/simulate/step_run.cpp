#include "sim/simulate/step_run.h"

#include <algorithm>
#include <array>
#include <cmath>

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
    StepRun(const std::vector<LaneWork>& work, const MachineSpec& machine,
            const TrainingSpec& training, Seconds worth, std::stop_token stop)
        : stop_(std::move(stop)),
          worth_(worth),
          work_(work),
          power_(machine.gpu.clock),
          headroom_j_(machine.gpu.clock.headroom_j),
          left_j_(headroom_j_),
          completed_(work.size(), 0) {
        for (std::size_t i = 0; i < work.size(); ++i) {
            lanes_[index(work[i].lane)].push_back(static_cast<OperationId>(i));
            if (work[i].lane == Lane::compute) last_compute_ = static_cast<OperationId>(i);
        }
        waits_for_.fill(-1);
        Platform::instance().set_machine(machine, training.state_bytes);
    }

    RunSteps run() {
        simgrid_clock = 0;
        for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
            if (lanes_[lane].empty()) continue;
            awake_[lane] = sg::Semaphore::create(0);
            simgrid_names::add_actor(lane_name(static_cast<Lane>(lane)),
                                     Platform::instance().actors_host(),
                                     [this, lane] { run_lane(lane); });
        }
        sg::Engine::get_instance()->run();
        if (cancelled_) throw Cancelled();
        if (run_.compute_ends.size() < 2 && run_.slower_than_worth == 0)
            throw InternalError(
                "simulate_step: the lanes wait for each other; the plan is not executable");
        return std::move(run_);
    }

  private:
    void run_lane(std::size_t lane) {
        for (int step = 0; step < kMostSteps; ++step) {
            for (const OperationId id : lanes_[lane]) {
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
        for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
            if (waits_for_[lane] < 0) continue;
            waits_for_[lane] = -1;
            awake_[lane]->release();
        }
    }

    void execute(OperationId id, int step, std::size_t lane) {
        if (stop_.stop_requested()) return cancel();
        const auto index = static_cast<std::size_t>(id);
        for (const Dependency& dependency : work_[index].waits_for) {
            const int needed = dependency.previous_step ? step : step + 1;
            while (completed_[static_cast<std::size_t>(dependency.operation)] < needed) {
                if (over(step)) return;
                waits_for_[lane] = dependency.operation;
                awake_[lane]->acquire();
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
        run_.left_j[of_step][index] = power_.left_j();
        ++completed_[index];
        last_of_lane_[lane] = {id, sg::Engine::get_clock()};
        if (id == last_compute_) end_of_compute();
        wake_lanes(id);
    }

    void pass(std::size_t index, Seconds now) {
        const Lane lane = work_[index].lane;
        if (lane != Lane::compute) return Platform::instance().pass(lane, work_[index].demand);
        FlowDemand demand = work_[index].demand;
        const Seconds seconds = power_.begin(now, demand.kernels);
        if (seconds > 0) demand.rate = demand.bytes / seconds;
        Platform::instance().pass(lane, demand);
        power_.end(sg::Engine::get_clock());
    }

    void end_of_compute() {
        still_working();
        run_.compute_ends.push_back(sg::Engine::get_clock());
        const double used_j = left_j_ - power_.left_j();
        const bool alike = steady(), uses_up = used_j > kSteady * headroom_j_;
        // Short steps are equal until the GPU has used up its energy beyond the power limit: all
        // except the last of them are skipped.
        if (alike && uses_up) power_.use(power_.left_j() - std::fmod(power_.left_j(), used_j));
        left_j_ = power_.left_j();
        at_last_end_ = last_of_lane_;
        run_.steady = alike && !uses_up;
        if (const Seconds last = last_step(); last > worth_) run_.slower_than_worth = last;
        finished_ =
            run_.steady || run_.compute_ends.size() == kMostSteps || run_.slower_than_worth > 0;
    }

    /// From the end of compute to the next; in the first step, from its begin.
    Seconds last_step() const {
        const std::size_t n = run_.compute_ends.size();
        const auto first = static_cast<std::size_t>(lanes_[index(Lane::compute)].front());
        return run_.compute_ends[n - 1] -
               (n > 1 ? run_.compute_ends[n - 2] : run_.intervals[0][first].start);
    }

    /// The last two steps took equally long, and a lane that is behind compute neither fell further
    /// behind nor caught up.
    bool steady() const {
        const std::size_t n = run_.compute_ends.size();
        if (n < 2) return false;
        const Seconds last = run_.compute_ends[n - 1] - run_.compute_ends[n - 2];
        for (std::size_t lane = 0; lane < kLaneCount; ++lane) {
            if (lanes_[lane].empty() || done(lanes_[lane].back()) >= n) continue;
            const auto& [now, now_end] = last_of_lane_[lane];
            const auto& [then, then_end] = at_last_end_[lane];
            if (now != then || std::abs(now_end - then_end - last) > kSteady * last) return false;
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
        const auto front = static_cast<std::size_t>(lanes_[index(Lane::compute)].front());
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

    static std::size_t index(Lane lane) { return static_cast<std::size_t>(lane); }

    /// Wakes the lanes that wait for this operation; at the end of the simulation all lanes, so
    /// that they stop.
    void wake_lanes(OperationId done) {
        for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
            if (waits_for_[lane] < 0 || (waits_for_[lane] != done && !finished_)) continue;
            waits_for_[lane] = -1;
            awake_[lane]->release();
        }
    }

    const std::stop_token stop_;
    const Seconds worth_;
    const std::vector<LaneWork>& work_;
    PowerBudget power_;
    const double headroom_j_;
    double left_j_;  ///< of the lane, after the last step
    std::array<std::vector<OperationId>, kLaneCount> lanes_;
    std::array<sg::SemaphorePtr, kLaneCount> awake_;
    /// The operation that a sleeping lane waits for, else -1.
    std::array<OperationId, kLaneCount> waits_for_;
    /// The operation that each lane has done last: now, and at the end of the last step.
    std::array<std::pair<OperationId, Seconds>, kLaneCount> last_of_lane_ = {}, at_last_end_ = {};
    std::vector<int> completed_;  ///< how often each operation has been done
    RunSteps run_;
    OperationId last_compute_ = 0;
    bool finished_ = false;
    bool cancelled_ = false;
};

}  // namespace

std::vector<LaneWork> lane_work(const StepProgram& program, const MachineSpec& machine,
                                const TrainingSpec& training) {
    const std::vector<FlowDemand> demands = operation_demands(program, machine, training);
    std::vector<LaneWork> work;
    work.reserve(demands.size());
    for (std::size_t i = 0; i < demands.size(); ++i)
        work.push_back({program.operations[i].lane, program.operations[i].waits_for, demands[i]});
    return work;
}

RunSteps run_steps(const std::vector<LaneWork>& work, const MachineSpec& machine,
                   const TrainingSpec& training, Seconds worth) {
    RunSteps out;
    on_simulation_thread([&, stop = begin_simulation()] {
        out = StepRun(work, machine, training, worth, stop).run();
    });
    return out;
}

}  // namespace sluice
