// What does someone read who interrupts a sweep? One line: what is kept, and how to go on.
#pragma once

#include <cstddef>
#include <string>

namespace sluice {

/// While one lives, SIGINT, SIGTERM and SIGHUP print that line to standard error before they end
/// this process (of its copies they say nothing). One at a time.
class KeptOnInterrupt {
  public:
    /// `file` keeps the rows; empty: nothing does.
    explicit KeptOnInterrupt(const std::string& file);
    ~KeptOnInterrupt();
    KeptOnInterrupt(const KeptOnInterrupt&) = delete;
    KeptOnInterrupt& operator=(const KeptOnInterrupt&) = delete;

    /// So many rows are in the file.
    void keeps(std::size_t rows);
};

}  // namespace sluice
