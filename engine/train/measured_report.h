// How does a measured step become a report? It has the same type and files as a predicted one.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "engine/kernels/matrix.h"
#include "engine/train/expected_rates.h"
#include "sim/plan/step.h"

namespace sluice {

struct MeasuredStep {
    std::vector<OperationInterval> intervals;  ///< seconds, one per operation
    std::int64_t distinct_tokens = 0;          ///< of its batch
};

/// Collects steady steps, and the time of each until the next began. Only the later half counts,
/// since a GPU that was idle before the first step runs above its sustained clock for a while.
class MeasuredSteps {
  public:
    /// The step's intervals may be on any clock.
    void add(const StepProgram& program, MeasuredStep step);
    /// The next step does not directly follow the last one added.
    void pause() { paused_ = true; }
    bool empty() const { return pairs().empty(); }
    // Precondition of the following: not empty(). The number of steps that count.
    int count() const { return static_cast<int>(pairs().size()); }
    /// Median of the time from step to step.
    Seconds step_seconds() const;
    /// 5% and 95% of the steps took less; with fewer than kFewSteps the fastest and the slowest.
    std::pair<Seconds, Seconds> spread() const;
    /// The step nearest to the median, relative to the start of its first compute operation.
    const MeasuredStep& typical() const;

  private:
    struct Timed {
        Seconds start = 0;     ///< of the first compute operation
        bool follows = false;  ///< it directly follows the step before it here
        MeasuredStep step;
    };
    std::vector<Seconds> durations() const;
    /// Steps that directly follow the one before, the later half of them.
    std::vector<std::size_t> pairs() const;
    std::vector<Timed> steps_;
    bool paused_ = true;
};

/// The number of different ids; all are in [0, vocabulary).
std::int64_t distinct_tokens(std::span<const std::int32_t> tokens, std::int64_t vocabulary);

/// Measurements of a run in addition to its steps' times.
struct RunMeasurements {
    DType activations = DType::bf16;
    Bytes most_device = 0, most_host = 0;
    std::int64_t redone = 0;  ///< steps that speculative clipping ran twice
    std::optional<double> gpu_watts;
    HostRates host_rates = {};  ///< at its start
    std::optional<ExpectedRates> expected = {};
    bool ahead = false;  ///< updates of the measured steps began before their norm was known
};

/// The report of the plan that ran. Precondition: `steps` is not empty.
TimedPlan measured_report(AskedStep asked, PlannedStep plan, const MeasuredSteps& steps,
                          const RunMeasurements& run);

}  // namespace sluice
