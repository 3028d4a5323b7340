// What do several measurements of one machine, minutes or days apart, say together?
#pragma once

#include <string>
#include <vector>

#include "calibrate/measurement/measurements.h"

namespace sluice {

/// What differs, "the GPU is "B", was "A"" each; empty: one machine, as far as it says of itself.
/// Sizes of memory may differ by 3%.
std::vector<std::string> machine_differences(const MachineFacts& before, const MachineFacts& now);

struct MeasurementsFile {
    Measurements measurements;
    std::string file;
};

/// In pooled windows of load: the number of the measurement, from 0. It has the rates alone, too.
inline constexpr const char* kCalibrationColumn = "calibration";

/// One file is taken as it is. Cases and tables of several are joined by name and may be missing
/// in some. Rows of the same sizes and threads become one: the mean of each value, the least `low`
/// and the largest `high`, so that a range covers how the machine drifts. Windows of load
/// (`mixed_load`) are all kept. Dates become spans, seconds sums. Precondition: a file. Throws
/// InputError where another machine or another name is in one of them, or a table has other
/// columns.
Measurements pool_measurements(const std::vector<MeasurementsFile>& files);

}  // namespace sluice
