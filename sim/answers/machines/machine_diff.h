// Which numbers differ between two machines' profiles, or between two calibrations of one machine?
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/specs/machine/machine_profile.h"

namespace sluice {

struct NumberDiff {
    std::string path;
    double a = 0, b = 0;
    double relative = 0;                 ///< b / a - 1
    std::optional<bool> ranges_overlap;  ///< 5 to 95% of both; empty if one has none
    std::string range_a, range_b;        ///< "40 to 44", ""
};

/// The difference of two curves at their common points, or of two kernel tables at their common
/// shapes.
struct PointsDiff {
    std::string path;
    int common = 0;
    double mean = 0;     ///< of b / a - 1
    double largest = 0;  ///< the one with the largest absolute value
    std::string where;   ///< its point or shape: "67108864", "1, 1, 0, 104", "64 x 256"

    void add(double relative, const std::string& at);
};

struct TextDiff {
    std::string path, a, b;
};

struct MachineDiff {
    std::string a, b;                 ///< ids, or files if the ids are equal
    std::vector<NumberDiff> numbers;  ///< numbers that differ, the largest relative change first
    std::vector<PointsDiff> curves;   ///< curves that differ or have no common point
    std::vector<PointsDiff> kernels;  ///< kernel tables, likewise
    std::vector<TextDiff> texts;      ///< texts that differ, including flags
    std::vector<std::string> only_a, only_b;  ///< paths
    int equal = 0;                            ///< number of numbers, curves, tables and texts
};

MachineDiff diff_machines(const MachineProfile& a, const MachineProfile& b);

}  // namespace sluice
