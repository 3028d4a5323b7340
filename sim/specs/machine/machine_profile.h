// Which numbers does a machine's profile give? Every number with unit, method, source and date.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/specs/machine/kernel_measurement.h"

namespace sluice {

enum class Method { measured, transferred, datasheet, estimated };
const char* method_name(Method method);

/// One number of a profile; the unit is the end of its path (`link.host_to_device_gb_per_s`).
struct Quantity {
    std::string path;
    std::optional<double> value;      ///< empty if the number is not known
    std::optional<double> low, high;  ///< 5 to 95% of the measured values
    std::optional<double> replaced;   ///< what-if: the profile's value, if it has one
    bool what_if = false;
    bool spot = false;  ///< for a price an hour: the provider may take the machine back at any time
    std::optional<double> gpu_memory_gb;  ///< for a price an hour: the GPU memory of the offer
    double rented_gpus = 1;  ///< for a price an hour: the provider rents multiples of that many
    /// For a price an hour: the most GPUs that the provider connects; empty: those of a node.
    std::optional<double> most_gpus;
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
    /// Path and text: link.type, gpu.name, ...
    std::vector<std::pair<std::string, std::string>> texts;
    std::vector<std::pair<std::string, bool>> flags;
    std::vector<Quantity> quantities;
    std::vector<Curve> curves;
    std::vector<KernelEntry> kernels;  ///< all of KernelTableId, or none
    std::vector<std::string> changes;  ///< what-if values, as flags

    /// Null if the profile lacks the path.
    const Quantity* find(std::string_view path) const;
    /// The value of a number; nothing if the profile lacks it or it is not known.
    std::optional<double> number(std::string_view path) const;
    const Curve* find_curve(std::string_view path) const;
    std::string text(std::string_view path) const;
    bool flag(std::string_view path) const;
    /// What-if: replaces a number, or adds one of machine_numbers() that the profile lacks, as an
    /// estimate by the user. With a link's rate of one direction it also scales the curve by size.
    /// Throws InputError for any other path.
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

/// "h200-sxm-pcie5" of "h200-sxm-pcie5-1.5tb".
std::string without_host_memory(const std::string& id);
/// Ids of the built-in library, sorted.
std::vector<std::string> library_machines();

/// Paths of the numbers that resolve_machine() can read and predictions can use.
const std::vector<std::string>& machine_numbers();

/// The largest number of a profile, in its unit; the bytes of 1e9 GB still fit 64 bits.
inline constexpr double kSmallestQuantity = 1e-12;
inline constexpr double kLargestQuantity = 1e9;

/// Checks a measured curve: rates do not fall so fast that more bytes take less time, shares are
/// between 0 and a little over 1, and no combination of lanes is missing. Throws InputError: curve
/// (`where`), value, expectation, how to measure it again.
void check_curve(const Curve& curve, const std::string& where);

}  // namespace sluice
