// What does a run report while it trains? One line per step for people, one JSON object per step
// for programs.
#pragma once

#include <cstdio>
#include <optional>
#include <string>

#include "engine/run/streamed_step.h"
#include "sim/base/units.h"

namespace sluice {

struct StepRecord {
    std::int64_t step = 0;  ///< from 1
    StepOutcome outcome;
    std::optional<double> validation_loss;  ///< after it, if it was asked for
    double learning_rate = 0;
    Seconds seconds = 0;       ///< since the previous step's loss was known
    std::int64_t tokens = 0;   ///< of the step
    std::int64_t targets = 0;  ///< those that count in the loss
    Bytes device = 0;          ///< in use now, less the context
    Bytes host = 0;            ///< resident now
    std::optional<std::int64_t>
        saving;                        ///< the step whose checkpoint was being written at its start
    Seconds held = 0;                  ///< by saving, before it and in it
    std::optional<double> gpu_joules;  ///< since the previous step; empty without a counter
};

/// To standard output, and to standard error. That nobody reads it any more is no reason to stop,
/// so failures are ignored.
void say(const std::string& text);
void say_on_stderr(const std::string& text);

class Progress {
  public:
    /// Appends to `log`, if it is given. `expected_step`: the predicted time of a step. Throws
    /// InputError if `log` cannot be written.
    Progress(std::int64_t steps, const std::optional<std::string>& log,
             std::optional<Seconds> expected_step);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    void report(const StepRecord& record);

  private:
    std::int64_t steps_;
    std::optional<Seconds> expected_step_;
    std::string log_name_;
    std::FILE* log_ = nullptr;
    int redone_in_row_ = 0;
    Seconds typical_ = 0;  ///< of a step, to estimate the time left
};

}  // namespace sluice
