#include "sim/answers/validate/operation_errors.h"

#include <algorithm>
#include <cmath>

namespace sluice {
namespace {

Seconds duration(const OperationInterval& interval) { return interval.end - interval.start; }

/// Share of each operation's time that is on the critical path.
std::vector<double> critical_shares_of_operations(const StepProgram& program,
                                                  const std::vector<OperationInterval>& intervals,
                                                  Seconds step) {
    std::vector<double> shares = critical_seconds(program, intervals, step);
    for (std::size_t i = 0; i < shares.size(); ++i)
        shares[i] = shares[i] > 0 ? shares[i] / duration(intervals[i]) : 0;
    return shares;
}

KindError& kind_of(std::vector<KindError>& kinds, const Operation& operation) {
    const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const KindError& k) {
        return k.lane == operation.lane && k.kind == operation.kind;
    });
    if (found != kinds.end()) return *found;
    return kinds.emplace_back(KindError{operation.lane, operation.kind});
}

std::vector<OperationError> errors_of_run(const RunComparison& run) {
    const TimedPlan &measured = *run.measured, &predicted = run.predicted;
    const std::vector<Seconds> explained =
        explained_seconds(predicted.plan.program, measured.step.intervals, measured.step.seconds,
                          predicted.step.intervals, predicted.step.seconds);
    std::vector<OperationError> errors;
    for (std::size_t i = 0; i < explained.size(); ++i)
        errors.push_back({&run, i, duration(measured.step.intervals[i]),
                          duration(predicted.step.intervals[i]), explained[i]});
    return errors;
}

void add_to_kinds(std::vector<KindError>& kinds, const std::vector<OperationError>& errors) {
    std::vector<KindError> of_run;
    for (const OperationError& error : errors) {
        KindError& kind =
            kind_of(of_run, error.run->predicted.plan.program.operations[error.operation]);
        ++kind.operations;
        kind.measured += error.measured;
        kind.predicted += error.predicted;
        kind.explained += error.explained_share();
    }
    for (const KindError& k : of_run) {
        Operation key;
        key.lane = k.lane;
        key.kind = k.kind;
        KindError& kind = kind_of(kinds, key);
        kind.operations += k.operations;
        kind.measured += k.measured;
        kind.predicted += k.predicted;
        kind.explained += k.explained;
        kind.explained_absolute += std::abs(k.explained);
    }
}

}  // namespace

std::vector<Seconds> explained_seconds(const StepProgram& program,
                                       const std::vector<OperationInterval>& measured,
                                       Seconds measured_step,
                                       const std::vector<OperationInterval>& predicted,
                                       Seconds predicted_step) {
    const auto shares = critical_shares_of_operations(program, measured, measured_step);
    const auto predicted_shares = critical_shares_of_operations(program, predicted, predicted_step);
    std::vector<Seconds> explained;
    for (std::size_t i = 0; i < shares.size(); ++i)
        explained.push_back((duration(predicted[i]) - duration(measured[i])) *
                            (shares[i] + predicted_shares[i]) / 2);
    return explained;
}

OperationErrors operation_errors(std::span<const RunComparison> runs, std::size_t worst) {
    OperationErrors out;
    std::vector<OperationError> all;
    for (const RunComparison& run : runs) {
        if (!run.measured) continue;
        ++out.runs;
        out.step_error += run.step_error();
        const std::vector<OperationError> errors = errors_of_run(run);
        add_to_kinds(out.kinds, errors);
        double unexplained = run.step_error();
        for (const OperationError& error : errors) unexplained -= error.explained_share();
        out.unexplained += unexplained;
        out.unexplained_absolute += std::abs(unexplained);
        all.insert(all.end(), errors.begin(), errors.end());
    }
    if (out.runs == 0) return out;
    out.step_error /= out.runs;
    out.unexplained /= out.runs;
    out.unexplained_absolute /= out.runs;
    for (KindError& kind : out.kinds) {
        kind.explained /= out.runs;
        kind.explained_absolute /= out.runs;
    }
    std::stable_sort(
        out.kinds.begin(), out.kinds.end(),
        [](const KindError& a, const KindError& b) { return a.lane.index() < b.lane.index(); });
    std::stable_sort(all.begin(), all.end(), [](const OperationError& a, const OperationError& b) {
        return std::abs(a.predicted - a.measured) > std::abs(b.predicted - b.measured);
    });
    all.resize(std::min(worst, all.size()));
    out.worst = std::move(all);
    return out;
}

std::string operation_label(const OperationError& error) {
    const TimedPlan& report = error.run->predicted;
    return operation_label(report.plan.program.operations[error.operation], report.asked.layers);
}

}  // namespace sluice
