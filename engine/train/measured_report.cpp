#include "engine/train/measured_report.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "engine/train/run_setup.h"
#include "sim/base/input_error.h"

namespace sluice {
namespace {

// Only the newest are kept.
constexpr std::size_t kMostSteps = 200;

Seconds first_compute_start(const StepProgram& program,
                            const std::vector<OperationInterval>& intervals) {
    for (std::size_t i = 0; i < program.operations.size(); ++i)
        if (program.operations[i].lane.work == Work::compute) return intervals[i].start;
    throw InternalError("a step without compute");
}

Seconds quantile(std::vector<Seconds> values, double share) {
    std::sort(values.begin(), values.end());
    const auto last = static_cast<double>(values.size() - 1);
    return values[static_cast<std::size_t>(std::llround(share * last))];
}

}  // namespace

void MeasuredSteps::add(const StepProgram& program, MeasuredStep step) {
    const Seconds start = first_compute_start(program, step.intervals);
    for (OperationInterval& interval : step.intervals) {
        interval.start -= start;
        interval.end -= start;
    }
    if (steps_.size() == kMostSteps) steps_.erase(steps_.begin());
    steps_.push_back({start, !paused_, std::move(step)});
    paused_ = false;
}

std::vector<Seconds> MeasuredSteps::durations() const {
    std::vector<Seconds> out;
    for (const std::size_t i : pairs()) out.push_back(steps_[i].start - steps_[i - 1].start);
    return out;
}

std::vector<std::size_t> MeasuredSteps::pairs() const {
    std::vector<std::size_t> out;
    for (std::size_t i = 1; i < steps_.size(); ++i)
        if (steps_[i].follows) out.push_back(i);
    out.erase(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(out.size() / 2));
    return out;
}

Seconds MeasuredSteps::step_seconds() const { return quantile(durations(), 0.5); }

std::pair<Seconds, Seconds> MeasuredSteps::spread() const {
    const double outside = count() < kFewSteps ? 0 : 0.05;
    return {quantile(durations(), outside), quantile(durations(), 1 - outside)};
}

const MeasuredStep& MeasuredSteps::typical() const {
    const Seconds median = step_seconds();
    std::size_t nearest = 0;
    Seconds least = std::numeric_limits<Seconds>::infinity();
    for (const std::size_t i : pairs()) {
        const Seconds off = std::abs(steps_[i].start - steps_[i - 1].start - median);
        if (off >= least) continue;
        nearest = i - 1;
        least = off;
    }
    return steps_[nearest].step;
}

std::int64_t distinct_tokens(std::span<const std::int32_t> tokens, std::int64_t vocabulary) {
    std::vector<bool> seen(static_cast<std::size_t>(vocabulary));
    for (const std::int32_t token : tokens) seen[static_cast<std::size_t>(token)] = true;
    return std::count(seen.begin(), seen.end(), true);
}

TimedPlan measured_report(AskedStep asked, PlannedStep plan, const MeasuredSteps& steps,
                          const RunMeasurements& run) {
    const MeasuredStep& typical = steps.typical();
    asked.training.distinct_tokens = typical.distinct_tokens;
    const bool fp32 = run.activations == DType::fp32;
    Measurement measured{run.most_device, run.most_host, steps.count()};
    std::tie(measured.low, measured.high) = steps.spread();
    measured.activations = fp32 ? Precision::fp32 : Precision::bf16;
    measured.redone = run.redone;
    measured.ahead = run.ahead;
    measured.gpu_watts = run.gpu_watts.value_or(0);
    if (run.expected && run.host_rates.known()) {
        measured.host_rates = run.host_rates;
        measured.expected_step = run.expected->step;
        measured.expected_step_at_host_rates = step_at(*run.expected, run.host_rates);
    }
    TimedPlan out;
    out.step = step_of(plan.program, typical.intervals, steps.step_seconds());
    out.step.measured = measured;
    out.asked = std::move(asked);
    out.plan = std::move(plan);
    return out;
}

}  // namespace sluice
