#include "sim/simulate/quick_run.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <unordered_map>

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
          alone_(record_.devices(), 0) {
        for (std::size_t i = 0; i < alone_.size(); ++i)
            if (const auto& all = record_.operations(Lane::at(i)); !all.empty())
                lanes_.push_back({Lane::at(i), &all, &alone_[Lane::at(i)]});
    }

    RunSteps run() {
        begin_all();
        while (std::ranges::any_of(lanes_, [](const At& at) { return at.runs(); })) {
            if (stop_.stop_requested()) throw Cancelled();
            end_next();
            if (record_.ended_early()) break;
            begin_all();
        }
        return record_.take();
    }

  private:
    /// The next operation of a lane that has some, or the one that it runs.
    struct At {
        Lane lane;
        const std::vector<OperationId>* operations;
        double* alone;  ///< its flow's rate, in bytes/s; 0: none runs
        std::size_t next = 0;
        int step = 0;
        Seconds began = 0;
        double left = 0;  ///< bytes
        bool ends = false;
        OperationId operation() const { return (*operations)[next]; }
        bool runs() const { return *alone > 0; }
    };
    /// The rates of flows that run at the same time, from those alone.
    struct Shared {
        ByLane<double> alone, rates;
    };

    void begin_all() {
        for (At& at : lanes_) {
            if (at.runs() || record_.over(at.step) || record_.missing(at.operation(), at.step) >= 0)
                continue;
            const FlowDemand demand = record_.begin(at.operation(), now_);
            at.began = now_;
            at.left = demand.bytes;
            *at.alone = demand.rate;
        }
    }

    /// Layers are alike, so that few combinations of rates occur.
    const ByLane<double>& shared_rates() {
        std::uint64_t hash = 0;
        for (const double rate : alone_)
            hash = (hash ^ std::bit_cast<std::uint64_t>(rate)) * 0x9e3779b97f4a7c15u;
        const auto [known, is_new] = shared_.try_emplace(hash, Shared{alone_, {}});
        Shared& out = known->second;
        const bool same = std::ranges::equal(out.alone, alone_);
        if (!same) out.alone = alone_;
        if (is_new || !same) sharing_.share(alone_, out.rates);
        return out.rates;
    }

    void end_next() {
        const ByLane<double>& rates = shared_rates();
        Seconds next = std::numeric_limits<Seconds>::infinity();
        for (const At& at : lanes_)
            if (at.runs()) next = std::min(next, at.left / rates[at.lane]);
        now_ += next;
        // Ends that differ by rounding alone are one.
        constexpr Seconds kRounding = 1e-12;
        for (At& at : lanes_) {
            const double rate = rates[at.lane];
            at.ends = at.runs() && at.left <= (next + kRounding) * rate;
            at.left -= next * rate;
        }
        for (At& at : lanes_)
            if (at.ends) end(at);
    }

    void end(At& at) {
        *at.alone = 0;
        record_.end(at.operation(), at.step, {at.began, now_});
        if (++at.next < at.operations->size()) return;
        at.next = 0;
        ++at.step;
    }

    const std::stop_token stop_;
    LanesRecord record_;
    const SharedRates sharing_;
    ByLane<double> alone_;
    std::unordered_map<std::uint64_t, Shared> shared_;  ///< by a hash of the rates alone
    std::vector<At> lanes_;
    Seconds now_ = 0;
};

}  // namespace

RunSteps run_quickly(const std::vector<LaneOperation>& work, const MachineSpec& machine,
                     const TrainingSpec& training, Seconds worth) {
    return QuickRun(work, machine, training, worth, begin_simulation()).run();
}

}  // namespace sluice
