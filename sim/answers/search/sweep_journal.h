// Where do the rows of a sweep stay while it runs, so that an interrupted one goes on?
#pragma once

#include <cstdio>
#include <string>

#include "sim/answers/search/search.h"
#include "sim/answers/search/sweep_basis.h"

namespace sluice {

/// A file of JSON lines: what the rows rest on, then one a simulated row, in the order in which
/// they were done. It is whole but for the last line at any moment. One process at a time has it.
class SweepJournal {
  public:
    /// Opens or makes the file and reads what is in it; a last line that was cut off is forgotten.
    /// Throws InputError where it cannot be written, another process has it, or it holds something
    /// else or rows that rest on something else.
    SweepJournal(const std::string& path, const ScenarioGrid& grid, const SweepBasis& basis);
    ~SweepJournal();
    SweepJournal(const SweepJournal&) = delete;
    SweepJournal& operator=(const SweepJournal&) = delete;

    const std::string& path() const { return path_; }
    const KnownRows& known() const { return known_; }
    void add(const SearchRow& row);
    /// The sweep is done and its rows are elsewhere.
    void remove();

  private:
    void read(const SweepBasis& basis);
    void read_head(const std::string& line, const SweepBasis& basis) const;
    void write(const std::string& line);

    std::string path_;
    const ScenarioGrid& grid_;
    KnownRows known_;
    std::FILE* file_ = nullptr;
};

}  // namespace sluice
