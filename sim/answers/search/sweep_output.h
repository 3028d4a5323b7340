// How are the rows and the progress of a sweep written?
#pragma once

#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "sim/answers/search/search.h"

namespace sluice {

/// The keys of all columns, in their order.
std::vector<std::string> sweep_columns();

/// One line of JSON, with its line break; keys carry units. Missing values have no key. `best`: the
/// best of its group. Only the columns with these `keys`, in the order of `keys`.
std::string row_json(const SearchRow& row, const GridPoint& point, bool best,
                     const std::vector<std::string>& keys);

/// The keys, and a row; missing values are empty.
std::string csv_header(const std::vector<std::string>& keys);
std::string row_csv(const SearchRow& row, const GridPoint& point, bool best,
                    const std::vector<std::string>& keys);

/// The progress of a search, on one line that a terminal rewrites.
class ProgressLine {
  public:
    /// Writes to standard error.
    explicit ProgressLine(std::string command);
    /// `terminal`: rewrites the line and clears it at the end; else writes further lines. `every`:
    /// least time between two updates.
    ProgressLine(std::string command, std::FILE* out, bool terminal,
                 std::chrono::milliseconds every);
    ~ProgressLine() { clear(); }
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    void show(const SearchProgress& progress);
    /// "choose: 3 of 25 machines tried; 1.2 s left" for `what` "machines tried".
    void show(std::size_t done, std::size_t all, const std::string& what);
    void clear();
    bool terminal() const { return terminal_; }
    /// Time since construction.
    double seconds() const;

  private:
    using Clock = std::chrono::steady_clock;

    bool is_due();
    void write(const std::string& sentence);
    /// At the speed so far.
    std::string time_left(std::size_t done, std::size_t all) const;

    std::string command_;
    std::FILE* out_;
    bool terminal_ = false, in_line_ = false;
    std::chrono::milliseconds every_;
    Clock::time_point begin_ = Clock::now(), shown_ = begin_;
};

}  // namespace sluice
