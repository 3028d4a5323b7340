// How does a run report while it trains? One line per step for people, one JSON object per step
// for programs.
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "engine/watch/step_record.h"

namespace sluice {

/// To standard output, and to standard error. That nobody reads it any more is no reason to stop,
/// so failures are ignored.
void say(const std::string& text);
void say_on_stderr(const std::string& text);

/// "1:02:03" or "2:03".
std::string clock_text(Seconds seconds);

class Progress {
  public:
    /// Appends to `log`, if it is given. Throws InputError if that cannot be written.
    Progress(std::int64_t steps, const std::optional<std::string>& log);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    void report(const StepRecord& record);
    /// The held-out loss before a run's first step, which follows this one.
    void report_validation(std::int64_t step, const ValidationLoss& loss);
    /// "step 12 of 100, 0:31 left"; after the first report().
    std::string state() const;

  private:
    Seconds left() const;
    void append(const std::string& line);

    std::int64_t steps_;
    std::string log_name_;
    std::FILE* log_ = nullptr;
    int redone_in_row_ = 0;
    std::int64_t step_ = 0;  ///< the last one
    Seconds typical_ = 0;    ///< of a step, to estimate the time left
};

}  // namespace sluice
