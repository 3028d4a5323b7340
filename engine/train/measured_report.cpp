#include "engine/train/measured_report.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/input_error.h"

namespace sluice {
namespace {

// The newest that are kept.
constexpr std::size_t kMostSteps = 200;

Seconds first_compute_start(const StepProgram& program,
                            const std::vector<OperationInterval>& intervals) {
    for (std::size_t i = 0; i < program.operations.size(); ++i)
        if (program.operations[i].lane == Lane::compute) return intervals[i].start;
    throw InternalError("a step without compute");
}

Seconds quantile(std::vector<Seconds> values, double share) {
    std::sort(values.begin(), values.end());
    const auto last = static_cast<double>(values.size() - 1);
    return values[static_cast<std::size_t>(std::llround(share * last))];
}

}  // namespace

void MeasuredSteps::add(const StepProgram& program, std::vector<OperationInterval> intervals) {
    const Seconds start = first_compute_start(program, intervals);
    for (OperationInterval& interval : intervals) {
        interval.start -= start;
        interval.end -= start;
    }
    if (steps_.size() == kMostSteps) steps_.erase(steps_.begin());
    steps_.push_back({start, !paused_, std::move(intervals)});
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
    return {quantile(durations(), 0.05), quantile(durations(), 0.95)};
}

const std::vector<OperationInterval>& MeasuredSteps::typical() const {
    const Seconds median = step_seconds();
    std::size_t nearest = 0;
    Seconds least = std::numeric_limits<Seconds>::infinity();
    for (const std::size_t i : pairs()) {
        const Seconds off = std::abs(steps_[i].start - steps_[i - 1].start - median);
        if (off >= least) continue;
        nearest = i - 1;
        least = off;
    }
    return steps_[nearest].intervals;
}

}  // namespace sluice
