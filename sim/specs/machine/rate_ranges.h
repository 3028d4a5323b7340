// How far may a machine's rates be from the truth? Rates that move together, each group with its
// range.
#pragma once

#include <array>

#include "sim/specs/machine/kernel_table.h"

namespace sluice {

struct MachineProfile;

/// Where the true rate lies, of the rate taken: 5 to 95%.
struct RateRange {
    double low = 1, high = 1;
};

/// Groups are independent of each other; within one, all rates are off by the same factor.
struct RateRanges {
    /// Of a kernel looked up in that table. Where the table is measured here, the errors of two
    /// kernels are independent; where it is another machine's, scaled, they are one.
    std::array<RateRange, kKernelTables> tables;
    bool tables_measured = false;
    RateRange formulas;                ///< of all kernels that no table has
    RateRange clock;                   ///< of all kernels: another GPU of the kind, another day
    RateRange optimizer;               ///< of Adam alone
    bool optimizer_by_memory = false;  ///< its rate was not measured, but follows host memory's
    RateRange host_memory;  ///< of what lanes get beside each other, copies both ways too
    RateRange link;         ///< of copies alone
    RateRange host_work;    ///< of all else that the processor does
    RateRange storage;      ///< of reads and writes
};

/// From the ranges that a profile states, at least what its kind of number is known to miss by.
RateRanges resolve_ranges(const MachineProfile& profile);

}  // namespace sluice
