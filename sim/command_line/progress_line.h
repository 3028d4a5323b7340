// How does a program show that it is still working?
#pragma once

#include <chrono>
#include <cstdio>
#include <functional>
#include <string>

namespace sluice {

/// How far the work is, on one line of standard error that a terminal rewrites.
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

    /// "command: " and the sentence, which is asked for only if an update is due.
    void show(const std::function<std::string()>& sentence);
    /// "choose: 3 of 25 machines tried; 1.2 s left" for `what` "machines tried".
    void show(std::size_t done, std::size_t all, const std::string& what);
    void clear();
    bool terminal() const { return terminal_; }
    /// Time since construction.
    double seconds() const;
    /// At the speed so far.
    std::string time_left(std::size_t done, std::size_t all) const;

  private:
    using Clock = std::chrono::steady_clock;

    std::string command_;
    std::FILE* out_;
    bool terminal_ = false, in_line_ = false;
    std::chrono::milliseconds every_;
    Clock::time_point begin_ = Clock::now(), shown_ = begin_;
};

}  // namespace sluice
