#include "sim/answers/predict/advice.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "sim/plan/nearest_fit.h"
#include "sim/simulate/simulate_step.h"
#include "sim/simulate/simulation_service.h"
#include "sim/specs/machine/scaled_machine.h"

namespace sluice {
namespace {

constexpr double kWorthHiding =
    0.02;  // share of the critical path below which a lane gets no remedy
constexpr double kLargestFactor = 8;            // no remedy needs a larger factor
constexpr double kNearEnough = 1 + kLeastGain;  // factor on the step time with that factor
constexpr std::size_t kMostOperations = 3000;   // of a plan, which is simulated some tens of times

Parts parts_of(Lane lane) {
    switch (lane.work) {
        case Work::host_to_device:
            return part::to_device;
        case Work::device_to_host:
            return part::to_host;
        case Work::interconnect:
            return part::interconnect;
        case Work::python:
            return part::python;
        case Work::storage_read:
            return part::storage_read;
        case Work::storage_write:
            return part::storage_write;
        default:
            return part::processor;
    }
}

/// Finds the rate of a lane above which a faster one gains nothing more.
class RemedySearch {
  public:
    RemedySearch(const TimedPlan& timed, const MachineSpec& machine)
        : timed_(timed), machine_(machine) {}

    Remedy find(Lane lane) const {
        const Seconds alone = step_with(lane, kLargestFactor, false);
        const Seconds both = step_with(lane, kLargestFactor, true);
        const bool with_memory = both < alone / kNearEnough;
        const Seconds best = with_memory ? both : alone;
        if (best > timed_.step.seconds / kNearEnough) return {lane, std::nullopt};
        FasterLane faster;
        faster.factor = smallest_factor(lane, with_memory, best * kNearEnough);
        faster.step = best * kNearEnough;
        faster.rate = rate_now(lane);
        faster.both_ways = machine_.link.both_ways_total;
        if (with_memory) faster.host_memory = machine_.host.dram_bandwidth;
        return {lane, faster};
    }

  private:
    Seconds step_with(Lane lane, double factor, bool with_memory) const {
        const Parts parts = parts_of(lane) | (with_memory ? part::shared_memory : Parts{0});
        return quick_step(timed_.plan, with_faster(machine_, parts, factor),
                             timed_.asked.training)
            .step;
    }

    /// Bisection to 10%.
    double smallest_factor(Lane lane, bool with_memory, Seconds goal) const {
        double low = 1, high = kLargestFactor;
        while (high / low > 1.1) {
            const double middle = std::sqrt(low * high);
            (step_with(lane, middle, with_memory) <= goal ? high : low) = middle;
        }
        return high;
    }

    double rate_now(Lane lane) const {
        switch (lane.work) {
            case Work::host_to_device:
                return machine_.link.host_to_device;
            case Work::device_to_host:
                return machine_.link.device_to_host;
            case Work::storage_read:
                return machine_.storage.read;
            case Work::storage_write:
                return machine_.storage.write;
            default:
                return 0;
        }
    }

    const TimedPlan& timed_;
    const MachineSpec& machine_;
};

/// Memory that the host could have more of, if it is short.
MachineSpec with_most_host_memory(const MachineSpec& machine, const TimedPlan& timed) {
    MachineSpec out = machine;
    const bool helps = timed.plan.fit.host().shortfall() > 0 &&
                       timed.asked.training.host_budget_bytes == 0 && !machine.unified_memory;
    const Bytes most = machine.host.memory_capacity_most;
    if (helps) out.host.memory_capacity = most > 0 ? most : std::numeric_limits<Bytes>::max() / 2;
    return out;
}

/// Enough for the plan and the operating system, in whole GB.
Setting host_memory_for(Bytes host_peak, const MachineSpec& machine) {
    return {"host_memory",
            fmt::format(
                "{:.0f}GB",
                std::ceil(static_cast<double>(host_peak + machine.host.system_reserve) / kGiga))};
}

}  // namespace

StepAdvice find_suggestions(const TimedPlan& timed, const ModelSpec& model,
                            const MachineSpec& machine) {
    constexpr std::size_t kMostSuggestions = 3;
    const TrainingSpec& asked = timed.asked.training;
    StepAdvice out;
    const auto add_nearest = [&](const MachineSpec& on, bool with_memory) {
        for (const FittingTraining& change :
             nearest_fits(model, on, asked, kMostSuggestions, [] { begin_simulation(); })) {
            const Bytes host_peak = change.fit.host().peak.bytes;
            std::vector<Setting> settings = changed_settings(asked, change.training);
            if (with_memory) settings.insert(settings.begin(), host_memory_for(host_peak, machine));
            out.suggestions.push_back(
                {std::move(settings), change.training, change.fit.device().peak.bytes, host_peak});
        }
    };
    add_nearest(machine, false);
    const MachineSpec larger = with_most_host_memory(machine, timed);
    const Fit& fit = timed.plan.fit;
    if (larger.host.memory_capacity > machine.host.memory_capacity) {
        const Bytes room = larger.host.memory_capacity - machine.host.system_reserve;
        if (fit.device().shortfall() == 0 && fit.host().peak.bytes <= room)
            out.suggestions.push_back({{host_memory_for(fit.host().peak.bytes, machine)},
                                       asked,
                                       fit.device().peak.bytes,
                                       fit.host().peak.bytes});
        else if (out.suggestions.empty())
            add_nearest(larger, true);
    }
    if (out.suggestions.empty())
        out.no_suggestion = {fits_by_token(model, larger, asked),
                             fit.host().shortfall() > 0 ? larger.host.memory_capacity_most : 0};
    return out;
}

std::vector<Remedy> find_remedies(const TimedPlan& timed, const MachineSpec& machine) {
    std::vector<Remedy> out;
    if (timed.plan.program.operations.size() > kMostOperations) return out;
    const RemedySearch search(timed, machine);
    for (const Lane lane : std::initializer_list<Lane>{
             Work::host_to_device, Work::device_to_host, Work::optimizer, Work::host,
             Work::interconnect, Work::storage_read, Work::storage_write, Work::python})
        if (timed.step.critical_shares[lane] >= kWorthHiding) out.push_back(search.find(lane));
    return out;
}

}  // namespace sluice
