// Which case is being measured, how far is it, and how much time is left?
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "sim/base/units.h"

namespace sluice {

struct PlannedCase {
    std::string name;
    Seconds seconds = 0;  ///< expected
};

/// "1:05".
std::string minutes_and_seconds(Seconds seconds);

/// Time left of a case that has run for `elapsed` and is at `share` (0 to 1). Once a twentieth is
/// done it follows from the elapsed time, before that from the expected time; never negative.
Seconds time_left(Seconds expected, Seconds elapsed, double share);

/// One line per case: on a terminal redrawn while the case runs, else written when it is done. May
/// be called from one thread at a time.
class Progress {
  public:
    Progress(std::vector<PlannedCase> cases, std::FILE* out, bool is_terminal);

    void begin();
    void report(double share);
    /// The case is done after that time; `detail` is shown after it.
    void end(Seconds seconds, const std::string& detail);
    Seconds left(double share, Seconds elapsed) const;

  private:
    void draw(const std::string& text, bool keep);

    std::vector<PlannedCase> cases_;
    std::FILE* out_;
    bool is_terminal_;
    std::size_t current_ = 0;
    Seconds started_ = 0, drawn_ = 0;
};

}  // namespace sluice
