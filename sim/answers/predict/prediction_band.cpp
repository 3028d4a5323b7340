#include "sim/answers/predict/prediction_band.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "sim/simulate/simulate_step.h"
#include "sim/specs/machine/kernel_time.h"
#include "sim/specs/machine/scaled_machine.h"

namespace sluice {
namespace {

/// A common source of error: one kernel of a measured table (by its shape), a whole scaled table,
/// or (no table) all kernels with a formula.
using SameError = std::pair<int, std::vector<double>>;
constexpr int kFormula = -1, kScaledTables = -2;

struct WeightedRange {
    Seconds seconds = 0;
    double middle = 0, half = 0;  ///< of the relative error, times seconds

    void add(Seconds more, const RateRange& range) {
        seconds += more;
        middle += more * ((range.high + range.low) / 2 - 1);
        half += more * (range.high - range.low) / 2;
    }
};

/// Finds the source of a kernel's error, and its range.
std::pair<SameError, RateRange> error_of(const Kernel& kernel, KernelStyle style,
                                         const MachineSpec& machine) {
    const auto id = measured_table(machine.gpu, kernel, style);
    if (!id) return {{kFormula, {}}, machine.ranges.formulas};
    const RateRange& range = machine.ranges.tables[static_cast<std::size_t>(*id)];
    if (!machine.ranges.tables_measured) return {{kScaledTables, {}}, range};
    return {{static_cast<int>(*id), kernel_coordinates(*id, kernel)}, range};
}

/// How often a step runs each list of kernels.
std::vector<double> runs_of_lists(const StepProgram& program) {
    std::vector<double> runs(program.kernel_lists.size(), 0);
    for (const Operation& operation : program.operations)
        for (const std::int32_t list : operation.kernels)
            runs[static_cast<std::size_t>(list)] += operation.kernel_runs;
    return runs;
}

/// Other systems' code on the host was not calibrated, and is slow as a whole.
RateRange host_of_others(const RateRanges& ranges) {
    return {std::min({ranges.optimizer.low, ranges.host_work.low, kSlowestHostOfOthers}),
            std::max(ranges.optimizer.high, ranges.host_work.high)};
}

bool uses_storage(const StepProgram& program) {
    return std::any_of(program.operations.begin(), program.operations.end(),
                       [](const Operation& operation) { return uses_storage(operation.lane); });
}

/// The GPUs between which the plan has collectives; one GPU if it has none.
GpuGroup joined_gpus(const StepProgram& program, const TrainingSpec& training,
                     const MachineSpec& machine) {
    const bool joins = std::ranges::any_of(
        program.operations, [](auto& one) { return one.collective != Collective::none; });
    if (!joins) return {};
    return {training.gpus, std::max<std::int64_t>(1, machine.interconnect.gpus_per_node)};
}

/// By whether so many GPUs of a node were measured.
RateRange interconnect_range(const GpuGroup& group, const MachineSpec& machine) {
    const bool as_measured = std::ranges::any_of(
        machine.interconnect.bus_by_gpus.points(),
        [&](const auto& point) { return point.first == static_cast<double>(group.in_a_node()); });
    return as_measured ? machine.ranges.interconnect : machine.ranges.interconnect_of_others;
}

/// Groups of rates that are off by one factor.
struct Error {
    RateRange range;
    std::vector<RateGroup> groups;
    std::string schedule = {};               ///< whose own code has the error
    KernelStyle style = KernelStyle::fused;  ///< of kernels
};

}  // namespace

double combined(std::span<const double> deviations) {
    double squares = 0;
    for (const double deviation : deviations) squares += deviation * deviation;
    return std::sqrt(squares);
}

RateRange kernels_range(const StepProgram& program, const MachineSpec& machine) {
    const std::vector<double> runs = runs_of_lists(program);
    std::map<SameError, WeightedRange> errors;
    Seconds all = 0;
    for (std::size_t i = 0; i < runs.size(); ++i) {
        for (const Kernel& kernel : program.kernel_lists[i]) {
            const Seconds seconds = runs[i] * kernel_time(machine.gpu, kernel, program.style);
            const auto& [same, range] = error_of(kernel, program.style, machine);
            errors[same].add(seconds, range);
            all += seconds;
        }
    }
    if (all == 0) return {};
    const RateRange& clock = machine.ranges.clock;
    double middle = (clock.low + clock.high) / 2;
    std::vector<double> halves = {(clock.high - clock.low) / 2};
    for (const auto& [same, error] : errors) {
        middle += error.middle / all;
        halves.push_back(error.half / all);
    }
    const double half = combined(halves);
    return {middle - half, middle + half};
}

Band predict_band(const TimedPlan& timed, const MachineSpec& machine) {
    const StepProgram& program = timed.plan.program;
    const TrainingSpec& training = timed.asked.training;
    const Seconds step = timed.step.seconds;
    const RateRanges& ranges = machine.ranges;
    std::vector<Error> errors = {
        {kernels_range(program, machine), {RateGroup::kernels}, "", program.style},
        {ranges.host_memory, {RateGroup::host_memory}},
        {ranges.link, {RateGroup::link}}};
    if (ranges.optimizer_by_memory) errors[1].groups.push_back(RateGroup::optimizer);
    if (training.schedule->ours) {
        errors.push_back({ranges.optimizer, {RateGroup::optimizer}});
        errors.push_back({ranges.host_work, {RateGroup::host_work}});
    } else {
        errors.push_back({host_of_others(ranges),
                          {RateGroup::optimizer, RateGroup::host_work},
                          training.schedule->name});
    }
    if (uses_storage(program)) errors.push_back({ranges.storage, {RateGroup::storage}});
    const GpuGroup joined = joined_gpus(program, training, machine);
    if (joined.in_a_node() > 1)
        errors.push_back({interconnect_range(joined, machine), {RateGroup::interconnect}});
    if (joined.nodes() > 1) errors.push_back({ranges.network, {RateGroup::network}});
    const Seconds as_is = quick_step(timed.plan, machine, training).step;
    const auto deviation = [&](const Error& error, double factor) {
        MachineSpec scaled = machine;
        for (const RateGroup group : error.groups) scale_group(scaled, group, factor);
        return quick_step(timed.plan, scaled, training).step - as_is;
    };
    const double structural = training.schedule->structural_error * step;
    Band band{.errors = {{{.schedule = training.schedule->name}, structural, -structural}}};
    for (const Error& error : errors)
        band.errors.push_back({{machine.id, error.schedule, error.groups.front(), error.style},
                               deviation(error, error.range.low),
                               deviation(error, error.range.high)});
    std::vector<double> longer, shorter;
    for (const BandError& error : band.errors) {
        const auto [least, most] = std::minmax({error.at_low, error.at_high, 0.0});
        longer.push_back(most);
        shorter.push_back(least);
    }
    band.low = step - combined(shorter);
    band.high = step + combined(longer);
    return band;
}

}  // namespace sluice
