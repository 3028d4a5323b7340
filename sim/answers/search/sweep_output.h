// How are the rows of a sweep written, and how far is it?
#pragma once

#include <chrono>
#include <cstdio>
#include <string>

#include "sim/answers/search/search.h"

namespace sluice {

/// One line of JSON, with its line break; keys carry units. Keys of what a row lacks are left out.
/// `best`: of its group.
std::string row_json(const SearchRow& row, const GridPoint& point, bool best);

/// The names of the columns, and a row; what it lacks is empty.
std::string csv_header();
std::string row_csv(const SearchRow& row, const GridPoint& point, bool best);

/// How far a search is, on one line that is rewritten on a terminal.
class ProgressLine {
  public:
    /// On standard error.
    explicit ProgressLine(std::string command);
    /// `terminal`: the line is rewritten and in the end cleared, else each is another. `every`: no
    /// sooner than so long after the last.
    ProgressLine(std::string command, std::FILE* out, bool terminal,
                 std::chrono::milliseconds every);
    ~ProgressLine() { clear(); }
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    void show(const SearchProgress& progress);
    /// Nothing of it is left to be seen.
    void clear();
    bool terminal() const { return terminal_; }
    /// Since it was made.
    double seconds() const;

  private:
    using Clock = std::chrono::steady_clock;

    std::string command_;
    std::FILE* out_;
    bool terminal_ = false, in_line_ = false;
    std::chrono::milliseconds every_;
    Clock::time_point begin_ = Clock::now(), shown_ = begin_;
};

}  // namespace sluice
