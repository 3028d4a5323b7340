// What is known of a machine: every number of its profile with unit, method, source and date.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/specs/machine/kernel_measurement.h"

namespace sluice {

/// Where a number comes from.
enum class Method { measured, transferred, datasheet, estimated };
const char* method_name(Method method);

/// One number of a profile; the unit is the end of its path (`link.host_to_device_gb_per_s`).
struct Quantity {
    std::string path;
    std::optional<double> value;      ///< nothing where the number is not known
    std::optional<double> low, high;  ///< 5 to 95% of what was measured
    std::optional<double> replaced;   ///< what-if: the value of the profile, where it has one
    bool what_if = false;
    bool spot = false;  ///< of an hour's price: the machine may be taken back at any time
    std::optional<double> gpu_memory_gb;  ///< of an hour's price: the GPU's that it is for
    Method method = Method::datasheet;
    std::string source;  ///< full text, not the key
    std::string date;
    std::string note;
};

/// A measured curve, rows of numbers: bytes and GB/s, threads and Gparam/s, ...
struct Curve {
    std::string path;
    std::vector<std::vector<double>> points;  ///< ascending in the first column
    Method method = Method::measured;
    std::string source;
    std::string date;
    std::string note;
};

/// Measured times of one kind of kernel.
struct KernelEntry {
    std::string path;
    KernelMeasurement measured;
    Method method = Method::measured;
    std::string source;
    std::string date;
    std::string note;
};

struct MachineProfile {
    std::string id;    ///< file name without .json
    std::string file;  ///< as shown in messages
    std::string name;
    std::vector<std::string> notes;
    std::vector<std::pair<std::string, std::string>>
        texts;  ///< path and text: link.type, gpu.name, ...
    std::vector<std::pair<std::string, bool>> flags;
    std::vector<Quantity> quantities;
    std::vector<Curve> curves;
    std::vector<KernelEntry> kernels;  ///< all of KernelTableId, or none
    std::vector<std::string> changes;  ///< what-if values, as flags

    /// Nothing where the profile lacks the path.
    const Quantity* find(std::string_view path) const;
    const Curve* find_curve(std::string_view path) const;
    std::string text(std::string_view path) const;
    bool flag(std::string_view path) const;
    /// What-if: replaces a number, or adds one of machine_numbers() that the profile lacks, as an
    /// estimate by the user; a one-way rate of the link takes its curve by size with it. Throws
    /// InputError for any other path.
    void set(std::string_view path, double value);
};

/// Bytes of `1.5TB`, `512GiB`, `80e9`. Throws InputError; `option` names the flag in the message.
double parse_memory_size(std::string_view text, std::string_view option);

/// Reads and checks a profile's text. Throws InputError: file, field, value, expected.
MachineProfile parse_machine_profile(std::string_view text, const std::string& file,
                                     const std::string& id);

/// `what` is an id of the library, an id with a host memory size (`h200-sxm-pcie5-1.5tb`), or a
/// path to a profile. Throws InputError.
MachineProfile read_machine_profile(const std::string& what, const char* flag = "--machine");

/// Ids of the built-in library, sorted.
std::vector<std::string> library_machines();

/// Paths of the numbers that resolve_machine() can read: what a prediction may rest on.
const std::vector<std::string>& machine_numbers();

/// What any number of a profile may be, in its unit; 1e9 GB is the most whose bytes fit 64 bits.
inline constexpr double kSmallestQuantity = 1e-12;
inline constexpr double kLargestQuantity = 1e9;

/// Checks a measured curve whose shape is known: no rate that falls so fast that more bytes take
/// less time, shares between 0 and a little over 1, no gap among the lanes. Throws InputError: what
/// (`where`), value, expected, how to measure it again.
void check_curve(const Curve& curve, const std::string& where);

}  // namespace sluice
