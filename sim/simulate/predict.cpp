#include "sim/simulate/predict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "sim/plan/nearest_fit.h"
#include "sim/report/format.h"
#include "sim/simulate/operation_cost.h"
#include "sim/simulate/simulate_step.h"

namespace sluice {
namespace {

constexpr double kWorthHiding =
    0.02;  ///< share of the step below which an exposed lane needs no remedy
constexpr double kLargestFactor = 8;  ///< what is further away is no advice

std::size_t at(Lane lane) { return static_cast<std::size_t>(lane); }

std::vector<Utilization> utilization(const StepReport& report, const MachineSpec& machine) {
    const std::vector<FlowDemand> demands =
        operation_demands(report.program, machine, report.training);
    double hbm = 0, dram = 0;
    for (std::size_t i = 0; i < demands.size(); ++i) {
        const Lane lane = report.program.operations[i].lane;
        const bool copies = lane == Lane::host_to_device || lane == Lane::device_to_host;
        if (lane == Lane::compute || copies) hbm += demands[i].bytes;
        if (lane != Lane::compute)
            dram += demands[i].bytes * (copies ? machine.host.copy_weight : 1);
    }
    const LaneTimes& lanes = report.lanes;
    return {
        {"gpu_compute", lanes[at(Lane::compute)].busy / report.step},
        {"hbm", hbm / machine.gpu.memory_bandwidth / report.step},
        {"host_to_device",
         lanes[at(Lane::host_to_device)].bytes / machine.link.host_to_device / report.step},
        {"device_to_host",
         lanes[at(Lane::device_to_host)].bytes / machine.link.device_to_host / report.step},
        {"host_dram", dram / machine.host.dram_bandwidth / report.step},
        {"optimizer_threads",
         std::min(1.0,
                  (lanes[at(Lane::optimizer)].busy + lanes[at(Lane::host)].busy) / report.step)},
    };
}

Lane most_exposed(const LaneTimes& lanes) {
    const auto most = std::max_element(
        lanes.begin(), lanes.end(),
        [](const LaneTime& a, const LaneTime& b) { return a.exposed < b.exposed; });
    return static_cast<Lane>(most - lanes.begin());
}

void name_bottleneck(StepReport& report) {
    constexpr double kComputeBound = 0.9;
    const double compute = report.lanes[at(Lane::compute)].busy / report.step;
    if (compute >= kComputeBound) {
        report.bottleneck = "gpu_compute";
        report.bottleneck_words =
            fmt::format("GPU compute, busy {} of the step", format_percent(compute));
        return;
    }
    const Lane lane = most_exposed(report.lanes);
    const LaneTime& time = report.lanes[at(lane)];
    report.bottleneck = lane_name(lane);
    report.bottleneck_words =
        fmt::format("{}: compute waits {} of {} for it", lane_label(lane),
                    format_seconds(time.exposed), format_seconds(report.step));
    for (const Utilization& used : report.utilization) {
        constexpr double kSaturated = 0.95;
        if (used.resource != "host_dram" || used.share < kSaturated) continue;
        report.bottleneck = used.resource;
        report.bottleneck_words +=
            fmt::format("; host memory is used to {}", format_percent(used.share));
    }
}

/// The machine with one lane's rate multiplied; with host memory as well where that limits.
MachineSpec faster(const MachineSpec& machine, Lane lane, double factor, bool with_memory) {
    MachineSpec out = machine;
    if (lane == Lane::host_to_device || lane == Lane::device_to_host) {
        double& rate =
            lane == Lane::host_to_device ? out.link.host_to_device : out.link.device_to_host;
        rate *= factor;
        out.link.both_ways_total *= factor;
    } else {
        std::vector<std::pair<double, double>> points = out.host.adam_bytes_per_s.points();
        for (auto& point : points) point.second *= factor;
        out.host.adam_bytes_per_s = Interpolated(std::move(points));
        for (double* rate :
             {&out.host.memory_copy, &out.host.first_touch, &out.host.zero, &out.host.release,
              &out.host.norm_and_scale, &out.host.eager_adam_bytes_per_s})
            *rate *= factor;
    }
    if (with_memory) out.host.dram_bandwidth *= factor;
    return out;
}

class RemedySearch {
  public:
    RemedySearch(const StepPlan& plan, const MachineSpec& machine, const StepReport& report)
        : plan_(plan), machine_(machine), report_(report) {}

    Remedy find(Lane lane) const {
        for (const bool with_memory : {false, true}) {
            if (const auto factor = smallest_factor(lane, with_memory))
                return {lane, sentence(lane, *factor, with_memory)};
        }
        return {lane, fmt::format("{} cannot be hidden by a faster rate within reach (8 times): it "
                                  "works while compute has nothing else to do",
                                  lane_label(lane))};
    }

  private:
    bool hidden(Lane lane, double factor, bool with_memory) const {
        const SimulatedStep step =
            simulate_step(plan_, faster(machine_, lane, factor, with_memory), report_.training);
        return lane_times(plan_.program, step.operations, step.step)[at(lane)].exposed <
               kWorthHiding * step.step;
    }

    /// Bisection to 5%; nothing where even kLargestFactor does not hide the lane.
    std::optional<double> smallest_factor(Lane lane, bool with_memory) const {
        if (!hidden(lane, kLargestFactor, with_memory)) return std::nullopt;
        double low = 1, high = kLargestFactor;
        while (high / low > 1.05) {
            const double middle = std::sqrt(low * high);
            (hidden(lane, middle, with_memory) ? high : low) = middle;
        }
        return high;
    }

    std::string sentence(Lane lane, double factor, bool with_memory) const {
        const LinkSpec& link = machine_.link;
        const std::string memory =
            with_memory ? fmt::format(", with host memory at {:.0f} GB/s (now {:.0f}),",
                                      machine_.host.dram_bandwidth * factor / kGiga,
                                      machine_.host.dram_bandwidth / kGiga)
                        : "";
        if (lane == Lane::host_to_device || lane == Lane::device_to_host) {
            const double rate =
                lane == Lane::host_to_device ? link.host_to_device : link.device_to_host;
            return fmt::format("{} {:.0f} GB/s (now {:.1f}){} would hide the {}", lane_label(lane),
                               rate * factor / kGiga, rate / kGiga, memory,
                               lane == Lane::host_to_device ? "weights" : "gradients");
        }
        return fmt::format("host work {:.2f} times as fast{} would hide the {}", factor, memory,
                           lane == Lane::host ? "collecting of gradients" : "optimizer");
    }

    const StepPlan& plan_;
    const MachineSpec& machine_;
    const StepReport& report_;
};

/// Settings that fit. Where the host is short whatever the settings, those that fit with the memory
/// that it needs.
std::vector<Suggestion> suggestions(const ModelSpec& model, const MachineSpec& machine,
                                    const StepReport& report) {
    constexpr std::size_t kMostSuggestions = 3;
    std::vector<Suggestion> out;
    for (const FittingChange& change :
         nearest_fits(model, machine, report.training, kMostSuggestions)) {
        out.push_back({change.flags, change.fit.device.peak.bytes, change.fit.host.peak.bytes});
    }
    const bool more_memory_helps = report.fit.host.shortfall() > 0 &&
                                   report.training.host_budget_bytes == 0 &&
                                   !machine.unified_memory;
    if (!more_memory_helps) return out;
    MachineSpec larger = machine;
    const auto with_memory = [&](Bytes host_peak) {
        return fmt::format(
            "--host-memory {:.0f}GB",
            std::ceil(static_cast<double>(host_peak + machine.host.system_reserve) / kGiga));
    };
    larger.host.memory_capacity = std::numeric_limits<Bytes>::max() / 2;
    if (report.fit.device.shortfall() == 0) {
        out.push_back({with_memory(report.fit.host.peak.bytes), report.fit.device.peak.bytes,
                       report.fit.host.peak.bytes});
    } else if (out.empty()) {
        for (const FittingChange& change :
             nearest_fits(model, larger, report.training, kMostSuggestions)) {
            out.push_back({with_memory(change.fit.host.peak.bytes) + " " + change.flags,
                           change.fit.device.peak.bytes, change.fit.host.peak.bytes});
        }
    }
    return out;
}

}  // namespace

StepReport predict(const ModelSpec& model, const MachineSpec& machine,
                   const TrainingSpec& training) {
    check_training_spec(training);
    StepPlan plan = plan_step(model, machine, training);
    const SimulatedStep simulated = simulate_step(plan, machine, training);

    StepReport report;
    report.model_name = model.name;
    report.model_note = model.note;
    report.parameters = total_parameters(model);
    report.active_parameters = active_parameters(model);
    report.layers = model.layer_count();
    report.machine_id = machine.id;
    report.machine_name = machine.name;
    report.training = training;
    report.fit = check_fit(plan, machine, training);
    report.device_capacity = machine.gpu.memory_capacity;
    report.device_context = machine.gpu.context;
    report.host_capacity = machine.host.memory_capacity;
    report.host_between_steps = plan.memory.host_between_steps;
    report.unified_memory = machine.unified_memory;
    report.host_timeline = plan.memory.host_moments;
    report.step = simulated.step;
    report.first_step = simulated.first_step;
    report.executed_flops = plan.program.flops();
    report.operations = simulated.operations;
    report.lanes = lane_times(plan.program, simulated.operations, simulated.step);
    report.program = std::move(plan.program);
    report.utilization = utilization(report, machine);
    name_bottleneck(report);
    report.confidence = machine.confidence;
    report.assumptions = machine.assumptions;
    if (!simulated.steady)
        report.assumptions.push_back(fmt::format(
            "the step time does not settle in {} steps; it is their mean", simulated.steps));
    return report;
}

void add_advice(StepReport& report, const ModelSpec& model, const MachineSpec& machine) {
    if (!report.fit.fits()) report.suggestions = suggestions(model, machine, report);
    const StepPlan plan = plan_step(model, machine, report.training);
    const RemedySearch search(plan, machine, report);
    for (const Lane lane :
         {Lane::host_to_device, Lane::device_to_host, Lane::optimizer, Lane::host}) {
        if (report.lanes[at(lane)].exposed >= kWorthHiding * report.step)
            report.remedies.push_back(search.find(lane));
    }
}

}  // namespace sluice
