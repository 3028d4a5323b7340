#include "sim/answers/predict/advice.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "sim/base/format.h"
#include "sim/plan/nearest_fit.h"
#include "sim/simulate/simulate_step.h"
#include "sim/simulate/simulation_scope.h"
#include "sim/specs/machine/scaled_machine.h"

namespace sluice {
namespace {

constexpr double kWorthHiding =
    0.02;                             // share of the critical path below which a lane is left alone
constexpr double kLargestFactor = 8;  // what is further away is no advice
constexpr double kNearEnough = 1.02;  // of the step with that factor
constexpr std::size_t kMostOperations = 3000;  // of a plan that is simulated some tens of times

/// The machine with one lane's rate multiplied; with host memory as well where that limits.
MachineSpec faster(const MachineSpec& machine, Lane lane, double factor, bool with_memory) {
    MachineSpec out = machine;
    if (lane == Lane::host_to_device || lane == Lane::device_to_host) {
        double& rate =
            lane == Lane::host_to_device ? out.link.host_to_device : out.link.device_to_host;
        rate *= factor;
        out.link.both_ways_total *= factor;
    } else if (lane == Lane::interconnect) {
        scale_interconnect(out, factor);
    } else if (lane == Lane::python) {
        out.gpu.eager_launch /= factor;
    } else if (lane == Lane::storage_read) {
        out.storage.read *= factor;
    } else if (lane == Lane::storage_write) {
        out.storage.write *= factor;
    } else {
        for (Interpolated* adam : {&out.host.adam_bytes_per_s, &out.host.adam_8_byte_bytes_per_s,
                                   &out.host.adam_6_byte_bytes_per_s}) {
            std::vector<std::pair<double, double>> points = adam->points();
            for (auto& point : points) point.second *= factor;
            *adam = Interpolated(std::move(points));
        }
        for (double* rate :
             {&out.host.memory_copy, &out.host.first_touch, &out.host.zero, &out.host.release,
              &out.host.scale, &out.host.norm_and_scale, &out.host.eager_adam_bytes_per_s})
            *rate *= factor;
    }
    if (with_memory) {
        out.host.dram_bandwidth *= factor;
        for (Contention* contention :
             {&out.host.contention, &out.host.contention_8_byte, &out.host.contention_6_byte})
            *contention = contention->relieved(factor);
    }
    return out;
}

/// Looks for the rate of a lane from which on a faster one brings nothing more.
class RemedySearch {
  public:
    RemedySearch(const StepPlan& plan, const MachineSpec& machine, const StepReport& report)
        : plan_(plan), machine_(machine), report_(report) {}

    Remedy find(Lane lane) const {
        const Seconds alone = step_with(lane, kLargestFactor, false);
        const Seconds both = step_with(lane, kLargestFactor, true);
        const bool with_memory = both < alone / kNearEnough;
        const Seconds best = with_memory ? both : alone;
        if (best > report_.step / kNearEnough) {
            return {lane, fmt::format("a faster {} alone brings less than {:.0f}%",
                                      lane_label(lane), (kNearEnough - 1) * 100)};
        }
        const double factor = smallest_factor(lane, with_memory, best * kNearEnough);
        return {lane, sentence(lane, factor, with_memory, best * kNearEnough)};
    }

  private:
    Seconds step_with(Lane lane, double factor, bool with_memory) const {
        return simulate_step(plan_, faster(machine_, lane, factor, with_memory), report_.training)
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

    std::string sentence(Lane lane, double factor, bool with_memory, Seconds step) const {
        const LinkSpec& link = machine_.link;
        const double memory = machine_.host.dram_bandwidth / kGiga;
        std::string what;
        if (lane == Lane::host_to_device || lane == Lane::device_to_host) {
            const bool in = lane == Lane::host_to_device;
            const double rate = (in ? link.host_to_device : link.device_to_host) / kGiga;
            what = fmt::format("{} {:.0f} GB/s (now {:.1f}; both ways {:.0f}, now {:.0f})",
                               lane_label(lane), rate * factor, rate,
                               link.both_ways_total / kGiga * factor, link.both_ways_total / kGiga);
        } else if (lane == Lane::storage_read || lane == Lane::storage_write) {
            const double rate =
                lane == Lane::storage_read ? machine_.storage.read : machine_.storage.write;
            what = fmt::format("storage {} {:.1f} GB/s (now {:.1f})", lane_label(lane),
                               rate / kGiga * factor, rate / kGiga);
        } else if (lane == Lane::python) {
            what = fmt::format("a core that runs Python {:.1f} times as fast", factor);
        } else if (lane == Lane::interconnect) {
            what = fmt::format("links and network between GPUs {:.1f} times as fast", factor);
        } else {
            what = fmt::format("host work {:.1f} times as fast", factor);
        }
        if (with_memory)
            what += fmt::format(" and host memory at {:.0f} GB/s (now {:.0f})", memory * factor,
                                memory);
        return fmt::format("{} would hide the {}: {} a step", what, hidden_work(lane),
                           format_seconds(step));
    }

    static const char* hidden_work(Lane lane) {
        switch (lane) {
            case Lane::host_to_device:
                return "weights";
            case Lane::device_to_host:
                return "gradients";
            case Lane::host:
                return "collecting of gradients";
            case Lane::interconnect:
                return "collectives";
            case Lane::python:
                return "issuing of work";
            case Lane::storage_read:
                return "reading";
            case Lane::storage_write:
                return "writing";
            default:
                return "optimizer";
        }
    }

    const StepPlan& plan_;
    const MachineSpec& machine_;
    const StepReport& report_;
};

/// What it could have more, where the host is short and more would be used.
MachineSpec with_most_host_memory(const MachineSpec& machine, const StepReport& report) {
    MachineSpec out = machine;
    const bool helps = report.fit.host.shortfall() > 0 && report.training.host_budget_bytes == 0 &&
                       !machine.unified_memory;
    const Bytes most = machine.host.memory_capacity_most;
    if (helps) out.host.memory_capacity = most > 0 ? most : std::numeric_limits<Bytes>::max() / 2;
    return out;
}

NoSuggestion no_suggestion(const StepReport& report, const ModelSpec& model,
                           const MachineSpec& machine) {
    return {fits_by_token(model, machine, report.training),
            report.fit.host.shortfall() > 0 ? machine.host.memory_capacity_most : 0};
}

}  // namespace

void add_suggestions(StepReport& report, const ModelSpec& model, const MachineSpec& machine) {
    if (report.fit.fits()) return;
    constexpr std::size_t kMostSuggestions = 3;
    const auto nearest = [&](const MachineSpec& on) {
        return nearest_fits(model, on, report.training, kMostSuggestions,
                            [] { begin_simulation(); });
    };
    const auto add = [&](const FittingChange& change, const std::string& memory_flags) {
        report.suggestions.push_back({memory_flags + change.flags, change.training,
                                      change.fit.device.peak.bytes, change.fit.host.peak.bytes});
    };
    for (const FittingChange& change : nearest(machine)) add(change, "");
    const MachineSpec larger = with_most_host_memory(machine, report);
    const auto with_memory = [&](Bytes host_peak) {
        return fmt::format(
            "--host-memory {:.0f}GB",
            std::ceil(static_cast<double>(host_peak + machine.host.system_reserve) / kGiga));
    };
    const Fit& fit = report.fit;
    if (larger.host.memory_capacity > machine.host.memory_capacity) {
        const Bytes room = larger.host.memory_capacity - machine.host.system_reserve;
        if (fit.device.shortfall() == 0 && fit.host.peak.bytes <= room)
            report.suggestions.push_back({with_memory(fit.host.peak.bytes), report.training,
                                          fit.device.peak.bytes, fit.host.peak.bytes});
        else if (report.suggestions.empty())
            for (const FittingChange& change : nearest(larger))
                add(change, with_memory(change.fit.host.peak.bytes) + " ");
    }
    if (report.suggestions.empty()) report.no_suggestion = no_suggestion(report, model, larger);
}

void add_remedies(StepReport& report, const ModelSpec& model, const MachineSpec& machine) {
    if (report.program.operations.size() > kMostOperations) return;
    const StepPlan plan = plan_step(model, machine, report.training);
    const RemedySearch search(plan, machine, report);
    for (const Lane lane :
         {Lane::host_to_device, Lane::device_to_host, Lane::optimizer, Lane::host,
          Lane::interconnect, Lane::storage_read, Lane::storage_write, Lane::python}) {
        if (report.critical_shares[static_cast<std::size_t>(lane)] >= kWorthHiding)
            report.remedies.push_back(search.find(lane));
    }
}

}  // namespace sluice
