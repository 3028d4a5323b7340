#include "sim/simulate/simulate_step.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <simgrid/s4u.hpp>

#include "sim/input_error.h"
#include "sim/simulate/operation_cost.h"
#include "sim/simulate/platform.h"
#include "sim/simulate/power_budget.h"
#include "sim/simulate/simulation_scope.h"

namespace sluice {
namespace sg = simgrid::s4u;
namespace {

constexpr int kMostSteps = 24;
constexpr double kSteady = 1e-9;  ///< relative difference of two steps that counts as none

/// The state that the lanes' actors share while a simulation runs. Actors run one at a time, in a
/// fixed order.
class StepRun {
  public:
    StepRun(const StepPlan& plan, const MachineSpec& machine, const TrainingSpec& training,
            std::stop_token stop)
        : stop_(std::move(stop)),
          program_(plan.program),
          demands_(operation_demands(plan.program, machine, training)),
          power_(machine.gpu.clock),
          headroom_j_(machine.gpu.clock.headroom_j),
          left_j_(headroom_j_),
          completed_(program_.operations.size(), 0) {
        for (std::size_t i = 0; i < program_.operations.size(); ++i) {
            const auto lane = static_cast<std::size_t>(program_.operations[i].lane);
            lanes_[lane].push_back(static_cast<OperationId>(i));
            if (program_.operations[i].lane == Lane::compute)
                last_compute_ = static_cast<OperationId>(i);
        }
        waits_for_.fill(-1);
        Platform::instance().set_machine(machine, training.state_bytes);
    }

    void run() {
        start_ = sg::Engine::get_clock();
        for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
            if (lanes_[lane].empty()) continue;
            awake_[lane] = sg::Semaphore::create(0);
            sg::Actor::create(lane_name(static_cast<Lane>(lane)),
                              Platform::instance().actors_host(), [this, lane] { work(lane); });
        }
        sg::Engine::get_instance()->run();
        if (cancelled_) throw Cancelled();
        if (compute_ends_.size() < 2)
            throw InternalError(
                "simulate_step: the lanes wait for each other; the plan is not executable");
    }

    SimulatedStep result(Seconds first_step_extra) const {
        SimulatedStep out;
        const std::size_t n = compute_ends_.size();
        out.steps = static_cast<int>(n);
        out.steady = steady_;
        const std::size_t from = out.steady ? n - 2 : n / 2;  // at least two steps have run
        out.step = (compute_ends_[n - 1] - compute_ends_[from]) / static_cast<double>(n - 1 - from);
        for (const OperationInterval& interval : intervals_.front())
            out.first_step = std::max(out.first_step, interval.end);
        out.first_step += first_step_extra;
        // Not the last: what it leaves behind runs without a next step beside it.
        out.operations = relative(intervals_[n - 2]);
        return out;
    }

  private:
    void work(std::size_t lane) {
        for (int step = 0; step < kMostSteps; ++step) {
            for (const OperationId id : lanes_[lane]) {
                // One step beyond the last is run by no lane; a lane that is ahead stops where it
                // is.
                if (over(step)) return;
                execute(id, step, lane);
            }
        }
    }

    /// A lane that has come to this step stops.
    bool over(int step) const {
        return cancelled_ || (finished_ && step >= static_cast<int>(compute_ends_.size()));
    }

    /// Every lane ends with the operation at hand, so that SimGrid has nothing left over.
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
        for (const Dependency& dependency : program_.operations[index].waits_for) {
            const int needed = dependency.previous_step ? step : step + 1;
            while (completed_[static_cast<std::size_t>(dependency.operation)] < needed) {
                if (over(step)) return;
                waits_for_[lane] = dependency.operation;
                awake_[lane]->acquire();
            }
        }
        if (step >= static_cast<int>(intervals_.size()))
            intervals_.emplace_back(program_.operations.size());
        const Seconds begin = sg::Engine::get_clock() - start_;
        pass(index, begin);
        intervals_[static_cast<std::size_t>(step)][index] = {begin,
                                                             sg::Engine::get_clock() - start_};
        ++completed_[index];
        if (id == last_compute_) end_of_compute();
        wake_lanes(id);
    }

    void pass(std::size_t index, Seconds now) {
        const Lane lane = program_.operations[index].lane;
        if (lane != Lane::compute) return Platform::instance().pass(lane, demands_[index]);
        FlowDemand demand = demands_[index];
        const Seconds seconds = power_.begin(now, demand.kernels);
        if (seconds > 0) demand.rate = demand.bytes / seconds;
        Platform::instance().pass(lane, demand);
        power_.end(sg::Engine::get_clock() - start_);
    }

    void end_of_compute() {
        compute_ends_.push_back(sg::Engine::get_clock() - start_);
        const double used_j = left_j_ - power_.left_j();
        const bool alike = steady(), uses_up = used_j > kSteady * headroom_j_;
        // Short steps are alike until the GPU has used up what it may draw beyond its power limit:
        // all of them but the last are passed over.
        if (alike && uses_up) power_.use(power_.left_j() - std::fmod(power_.left_j(), used_j));
        left_j_ = power_.left_j();
        steady_ = alike && !uses_up;
        finished_ = steady_ || compute_ends_.size() == kMostSteps;
    }

    /// The last two steps took as long.
    bool steady() const {
        const std::size_t n = compute_ends_.size();
        if (n == 2) return second_repeats_first();
        if (n < 2) return false;
        const Seconds last = compute_ends_[n - 1] - compute_ends_[n - 2];
        const Seconds before = compute_ends_[n - 2] - compute_ends_[n - 3];
        return std::abs(last - before) <= kSteady * last + rounding();
    }

    /// The second step so far ran operation by operation as the first did: nothing of the first
    /// step's start is left, and what follows will repeat too.
    bool second_repeats_first() const {
        const auto front = static_cast<std::size_t>(lanes_[index(Lane::compute)].front());
        const Seconds shift = intervals_[1][front].start - intervals_[0][front].start;
        for (std::size_t i = 0; i < intervals_[0].size(); ++i) {
            const OperationInterval &first = intervals_[0][i], &second = intervals_[1][i];
            const Seconds tolerance = kSteady * shift + rounding();
            if (completed_[i] < 2) {
                if (first.end + shift < compute_ends_[1] - tolerance) return false;
            } else if (std::abs(second.start - first.start - shift) > tolerance ||
                       std::abs(second.end - first.end - shift) > tolerance) {
                return false;
            }
        }
        return true;
    }
    /// What differences of times may be off, as SimGrid's clock goes on from one simulation to the
    /// next and has 53 bits: it matters after days of virtual time.
    static Seconds rounding() {
        return 8 * std::numeric_limits<double>::epsilon() * sg::Engine::get_clock();
    }
    static std::size_t index(Lane lane) { return static_cast<std::size_t>(lane); }

    /// Wakes the lanes that wait for this operation; at the end of the simulation all, so that they
    /// stop.
    void wake_lanes(OperationId done) {
        for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
            if (waits_for_[lane] < 0 || (waits_for_[lane] != done && !finished_)) continue;
            waits_for_[lane] = -1;
            awake_[lane]->release();
        }
    }

    std::vector<OperationInterval> relative(std::vector<OperationInterval> intervals) const {
        const Seconds zero = intervals[static_cast<std::size_t>(
                                           lanes_[static_cast<std::size_t>(Lane::compute)].front())]
                                 .start;
        for (OperationInterval& interval : intervals)
            interval = {interval.start - zero, interval.end - zero};
        return intervals;
    }

    const std::stop_token stop_;
    const StepProgram& program_;
    const std::vector<FlowDemand> demands_;
    PowerBudget power_;
    const double headroom_j_;
    double left_j_;  ///< of it, after the last step
    std::array<std::vector<OperationId>, kLaneCount> lanes_;
    std::array<sg::SemaphorePtr, kLaneCount> awake_;
    std::array<OperationId, kLaneCount>
        waits_for_;               ///< the operation a sleeping lane waits for, else -1
    std::vector<int> completed_;  ///< how often each operation has been done
    std::vector<std::vector<OperationInterval>> intervals_;  ///< by step
    std::vector<Seconds> compute_ends_;
    OperationId last_compute_ = 0;
    Seconds start_ = 0;
    bool finished_ = false;
    bool steady_ = false;
    bool cancelled_ = false;
};

}  // namespace

SimulatedStep simulate_step(const StepPlan& plan, const MachineSpec& machine,
                            const TrainingSpec& training) {
    StepRun run(plan, machine, training, begin_simulation());
    run.run();
    return run.result(plan.program.style == KernelStyle::fused ? machine.gpu.first_step_extra : 0);
}

}  // namespace sluice
