#include "sim/answers/predict/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/answers/predict/plan_choice.h"
#include "sim/plan/nearest_fit.h"
#include "sim/plan/step_plan.h"
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
        return quick_step(timed_.plan, with_faster(machine_, parts, factor), timed_.asked.training)
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

TrainingSpec without_budgets(TrainingSpec training) {
    training.device_budget_bytes = training.host_budget_bytes = 0;
    return training;
}

/// The least budgets for the plan, in whole GB, where the machine has that memory.
std::optional<Suggestion> larger_budgets(const TimedPlan& timed, const MachineSpec& machine) {
    const TrainingSpec& asked = timed.asked.training;
    const Fit fit = check_fit(timed.plan, machine, without_budgets(asked));
    if (!fit.fits()) return std::nullopt;
    const Bytes device = fit.device().peak.bytes, host = fit.host().peak.bytes;
    Suggestion out{{}, asked, device, host};
    const auto raise = [&](const char* field, double& budget, Bytes peak) {
        if (budget == 0 || budget >= static_cast<double>(peak)) return;
        const double whole = std::ceil(static_cast<double>(peak) / kGiga);
        budget = whole * kGiga;
        out.settings.push_back({field, fmt::format("{:.0f}GB", whole)});
    };
    raise("device_budget_bytes", out.training.device_budget_bytes, device);
    raise("host_budget_bytes", out.training.host_budget_bytes, host);
    return out;
}

/// The least host memory, within a tenth and up to that of `larger`, with which a plan is chosen.
std::optional<Suggestion> least_host_memory(const ModelSpec& model, const MachineSpec& machine,
                                            const MachineSpec& larger, const TrainingSpec& asked,
                                            const std::set<std::string>& chosen_beside,
                                            const PriceList& prices) {
    constexpr double kNear = 1.1, kMostTimes = 256;
    MachineSpec with = machine;
    const auto fits = [&](double capacity) {
        with.host.memory_capacity = static_cast<Bytes>(capacity);
        return may_choose_plan(model, with, asked, chosen_beside, prices);
    };
    // Capacities are whole GB, as the report prints them.
    const auto whole = [](double bytes) { return std::ceil(bytes / kGiga) * kGiga; };
    const auto now = static_cast<double>(machine.host.memory_capacity);
    const double most =
        std::min(std::floor(static_cast<double>(larger.host.memory_capacity) / kGiga) * kGiga,
                 whole(kMostTimes * now));
    double low = now, high = std::min(most, whole(2 * now));
    while (!fits(high)) {
        if (high >= most) return std::nullopt;
        low = high;
        high = std::min(most, 2 * high);
    }
    while (high > kNear * low) {
        const double middle = whole(std::sqrt(low * high));
        if (middle >= high) break;
        (fits(middle) ? high : low) = middle;
    }
    with.host.memory_capacity = static_cast<Bytes>(high);
    const PlanChoice choice = choose_plan(model, with, asked, chosen_beside, prices);
    const Fit fit = check_fit(plan_memory(model, with, choice.training), with, choice.training);
    return Suggestion{{{"host_memory", fmt::format("{:.0f}GB", high / kGiga)}},
                      choice.training,
                      fit.device().peak.bytes,
                      fit.host().peak.bytes};
}

}  // namespace

StepAdvice find_suggestions(const TimedPlan& timed, const ModelSpec& model,
                            const MachineSpec& machine, const std::set<std::string>* chosen_beside,
                            const PriceList& prices) {
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
    const bool has_budgets = asked.device_budget_bytes > 0 || asked.host_budget_bytes > 0;
    add_nearest(machine, false);
    if (const auto larger = has_budgets ? larger_budgets(timed, machine) : std::nullopt)
        out.suggestions.push_back(*larger);
    const MachineSpec larger = with_most_host_memory(machine, timed);
    const Fit& fit = timed.plan.fit;
    const bool may_be_larger = larger.host.memory_capacity > machine.host.memory_capacity;
    if (may_be_larger && chosen_beside != nullptr) {
        // A model that is too large for the device needs no search.
        const bool any_fits = fits_by_token(model, larger, without_budgets(asked));
        if (auto least =
                any_fits ? least_host_memory(model, machine, larger, asked, *chosen_beside, prices)
                         : std::nullopt)
            out.suggestions.push_back(*std::move(least));
    } else if (may_be_larger) {
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
                             fit.host().shortfall() > 0 ? larger.host.memory_capacity_most : 0,
                             has_budgets && fits_by_token(model, machine, without_budgets(asked))};
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
