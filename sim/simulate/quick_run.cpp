#include "sim/simulate/quick_run.h"

#include <algorithm>

#include "sim/simulate/lanes_record.h"
#include "sim/simulate/shared_rates.h"
#include "sim/simulate/simulation_service.h"

namespace sluice {
namespace {

class QuickRun {
  public:
    QuickRun(const std::vector<LaneOperation>& work, const MachineSpec& machine,
             const TrainingSpec& training, Seconds worth, std::stop_token stop)
        : stop_(std::move(stop)),
          record_(work, machine, worth),
          sharing_(machine, record_.devices(), training.state_bytes),
          at_(record_.devices()),
          alone_(record_.devices(), 0),
          rates_(alone_) {}

    RunSteps run() {
        begin_all();
        while (std::ranges::any_of(alone_, [](double rate) { return rate > 0; })) {
            if (stop_.stop_requested()) throw Cancelled();
            end_next();
            if (record_.ended_early()) break;
            begin_all();
        }
        return record_.take();
    }

  private:
    /// The next operation of a lane, or the one that it runs.
    struct At {
        std::size_t next = 0;
        int step = 0;
        Seconds began = 0;
        double left = 0;  ///< bytes
        bool ends = false;
    };

    OperationId operation(Lane lane) const { return record_.operations(lane)[at_[lane].next]; }

    void begin_all() {
        for (std::size_t i = 0; i < at_.size(); ++i) {
            const Lane lane = Lane::at(i);
            At& at = at_[lane];
            if (alone_[lane] > 0 || record_.operations(lane).empty() || record_.over(at.step) ||
                record_.missing(operation(lane), at.step) >= 0)
                continue;
            const FlowDemand demand = record_.begin(operation(lane), now_);
            at.began = now_;
            at.left = demand.bytes;
            alone_[lane] = demand.rate;
        }
    }

    void end_next() {
        sharing_.share(alone_, rates_);
        Seconds next = std::numeric_limits<Seconds>::infinity();
        for (std::size_t i = 0; i < at_.size(); ++i)
            if (const Lane lane = Lane::at(i); alone_[lane] > 0)
                next = std::min(next, at_[lane].left / rates_[lane]);
        now_ += next;
        // Ends that differ by rounding alone are one.
        constexpr Seconds kRounding = 1e-12;
        for (std::size_t i = 0; i < at_.size(); ++i) {
            const Lane lane = Lane::at(i);
            At& at = at_[lane];
            at.ends = alone_[lane] > 0 && at.left <= (next + kRounding) * rates_[lane];
            at.left -= next * rates_[lane];
        }
        for (std::size_t i = 0; i < at_.size(); ++i)
            if (at_[Lane::at(i)].ends) end(Lane::at(i));
    }

    void end(Lane lane) {
        At& at = at_[lane];
        alone_[lane] = 0;
        record_.end(operation(lane), at.step, {at.began, now_});
        if (++at.next < record_.operations(lane).size()) return;
        at.next = 0;
        ++at.step;
    }

    const std::stop_token stop_;
    LanesRecord record_;
    const SharedRates sharing_;
    ByLane<At> at_;
    ByLane<double> alone_, rates_;  ///< of the flows that run, in bytes/s
    Seconds now_ = 0;
};

}  // namespace

RunSteps run_quickly(const std::vector<LaneOperation>& work, const MachineSpec& machine,
                     const TrainingSpec& training, Seconds worth) {
    return QuickRun(work, machine, training, worth, begin_simulation()).run();
}

}  // namespace sluice
