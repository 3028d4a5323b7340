#include "sim/simulate/step_run.h"

#include "sim/simulate/lanes_record.h"
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

/// The lanes' actors during a simulation. They run one at a time, in a fixed order.
class StepRun {
  public:
    StepRun(const std::vector<LaneOperation>& work, const MachineSpec& machine,
            const TrainingSpec& training, Seconds worth, std::stop_token stop)
        : stop_(std::move(stop)), record_(work, machine, worth), actors_(record_.devices()) {
        Platform::instance().set_machine(machine, record_.devices(), training.state_bytes);
    }

    RunSteps run() {
        simgrid_clock = 0;
        for (std::size_t i = 0; i < actors_.size(); ++i) {
            const Lane lane = Lane::at(i);
            if (record_.operations(lane).empty()) continue;
            actors_[lane].awake = sg::Semaphore::create(0);
            simgrid_names::add_actor(lane_name(lane), Platform::instance().actors_host(),
                                     [this, lane] { run_lane(lane); });
        }
        sg::Engine::get_instance()->run();
        if (cancelled_) throw Cancelled();
        return record_.take();
    }

  private:
    struct Actor {
        sg::SemaphorePtr awake;
        OperationId waits_for = -1;  ///< the operation that the lane sleeps for, else -1
    };

    void run_lane(Lane lane) {
        for (int step = 0;; ++step) {
            for (const OperationId id : record_.operations(lane)) {
                if (over(step)) return;
                execute(id, step, lane);
            }
        }
    }

    bool over(int step) const { return cancelled_ || record_.over(step); }

    /// Every lane ends with its current operation, so that SimGrid has no activity left.
    void cancel() {
        cancelled_ = true;
        for (Actor& actor : actors_) wake(actor);
    }

    void execute(OperationId id, int step, Lane lane) {
        if (stop_.stop_requested()) return cancel();
        for (OperationId missing; (missing = record_.missing(id, step)) >= 0;) {
            if (over(step)) return;
            actors_[lane].waits_for = missing;
            actors_[lane].awake->acquire();
        }
        const Seconds begin = sg::Engine::get_clock();
        Platform::instance().pass(lane, record_.begin(id, begin));
        record_.end(id, step, {begin, sg::Engine::get_clock()});
        // At the end of the simulation all lanes, so that they stop.
        for (Actor& other : actors_)
            if (other.waits_for == id || record_.finished()) wake(other);
    }

    static void wake(Actor& actor) {
        if (actor.waits_for < 0) return;
        actor.waits_for = -1;
        actor.awake->release();
    }

    const std::stop_token stop_;
    LanesRecord record_;
    ByLane<Actor> actors_;
    bool cancelled_ = false;
};

}  // namespace

std::vector<LaneOperation> lane_operations(const StepProgram& program,
                                           const std::vector<FlowDemand>& demands) {
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
