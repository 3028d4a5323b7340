// Which numbers has a machine: path in a profile, member that it fills, how it scales?
// There is one row for each, in *_numbers.cpp. Readers, scalers, sluice-calibrate and the window
// walk these rows, so a new number is a new row and its use in the cost model.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/specs/machine/machine_spec.h"
#include "sim/specs/machine/rate_group.h"

namespace sluice {

class SpecReader;

enum class ValueKind : std::uint8_t { number, curve, kernels, text, flag, group };

/// How much a number that is not measured weakens a prediction.
enum class Trust : std::uint8_t {
    unread,      ///< kept for reference: predictions do not use it
    as_given,    ///< not at all: a size or a count that the user knows
    datasheet,   ///< not if it is a datasheet's value: a peak that a measured share refers to
    measured,    ///< a rate: an assumption if it is not measured here
    others,      ///< an assumption of other systems' schedules only (PyTorch's kernels, host work)
    where_used,  ///< an assumption of plans that use this part of the machine (storage)
};

/// Parts that can be bought faster, as bits; a number may depend on several.
using Parts = unsigned;
namespace part {
inline constexpr Parts to_device = 1, to_host = 2, link = to_device | to_host;
inline constexpr Parts shared_memory = 4;  ///< rates of copies and host work under contention
inline constexpr Parts memory_work = 256;  ///< host work that moves bytes
inline constexpr Parts host_memory = shared_memory | memory_work;
inline constexpr Parts processor = 8;  ///< the work of all its threads
inline constexpr Parts python = 16;    ///< the core that runs Python
inline constexpr Parts interconnect = 32;
inline constexpr Parts storage_read = 64, storage_write = 128;
}  // namespace part

/// How `sluice-calibrate transfer` scales a number to another machine's datasheet.
enum class Transfer : std::uint8_t {
    left_out,  ///< specific to one machine, or given by the datasheet
    as_measured,
    products,
    attention,
    gpu_memory,
    link,
    both_ways,
    host_memory,
    adam,
    contention,
    watts,
    joules_of_products,
    joules_of_memory,
    joules_of_copies,
};

/// The shape that a curve must have.
enum class CurveShape : std::uint8_t {
    not_negative,
    rates_by_bytes,
    by_threads,
    by_sequence,
    contention
};

struct MachineNumber;

/// Computes a value in SI units from more than the number itself. `so_far`: the members of the rows
/// above.
template <typename T>
using Rule = T (*)(const MachineNumber& row, SpecReader& reader, const MachineSpec& so_far);

/// The member of a MachineSpec that a row fills and that scalers multiply.
using Member = std::variant<std::monostate, double& (*)(MachineSpec&), Bytes& (*)(MachineSpec&),
                            Interpolated& (*)(MachineSpec&), Contention& (*)(MachineSpec&),
                            KernelTable& (*)(MachineSpec&)>;

/// fill<&MachineSpec::link, &LinkSpec::host_to_device>
template <auto... Fields>
inline constexpr auto* fill = +[](MachineSpec& machine) -> auto& {
    return (machine.*....*Fields);
};
template <KernelTableId Id>
inline constexpr auto* fill_table = +[](MachineSpec& machine) -> KernelTable& {
    return machine.gpu.tables[static_cast<std::size_t>(Id)];
};

struct MachineNumber {
    std::string_view path;  ///< in a profile; the end of its name is the unit
    ValueKind kind = ValueKind::number;
    CurveShape shape = CurveShape::not_negative;
    Trust trust = Trust::unread;
    Member member = {};
    std::variant<std::monostate, Rule<double>, Rule<Interpolated>, Rule<Contention>> rule = {};
    bool required = false;  ///< if false, a missing number is `h200`, or 0 if that is not known
    double h200 = 0;        ///< measured on an H200 machine, in the number's unit
    const char* measured_by = nullptr;  ///< case of sluice-calibrate
    double least = 0;                   ///< a profile may not have less
    const char* peak = nullptr;  ///< path of the number of which it may be most_of_peak times
    double most_of_peak = 0;
    const char* faster_peak = nullptr;  ///< path of the peak that counts if it is known
    /// Path of the number that replaces this one if it is measured: the base profile's number would
    /// contradict it.
    const char* replaced_by = nullptr;
    RateGroup group = RateGroup::none;
    bool judges_group = false;  ///< the group's range comes from this number's origin
    Parts parts = 0;
    Transfer transfer = Transfer::left_out;
    /// Name and explanation for people who choose among machines.
    const char *label = nullptr, *help = nullptr;

    /// Whether it is a time, which a faster part makes smaller.
    bool is_time() const;
    /// Bytes, seconds, FLOP/s, ... of a value in the unit of the path.
    double in_si(double value) const;
    /// "GB/s"; empty for a plain count.
    std::string unit() const;
    /// A rate of all threads together by their number.
    bool is_rate_by_threads() const { return path.ends_with("per_s_by_threads"); }
};

/// All rows, in the order of profiles.
const std::vector<MachineNumber>& machine_table();
/// nullptr if no row has the path.
const MachineNumber* number_at(std::string_view path);
/// The smallest number that a profile may have at the path, also if no row has it.
double least_value(std::string_view path);

/// Sections of a profile, in order; in a free section the profile chooses its keys.
struct ProfileSection {
    const char* name;
    bool free = false;
};
inline constexpr ProfileSection kSections[] = {
    {"gpu"},           {"kernels"},       {"link"},
    {"host"},          {"storage", true}, {"gpu_interconnect", true},
    {"network", true}, {"price", true},   {"power", true}};
bool in_free_section(std::string_view path);

/// Keys of the object at `path`, such as `link` or `link.curve`; empty if keys are free.
std::vector<std::string> known_keys_in(std::string_view path);
/// The kind of value at a path of known keys.
ValueKind known_kind(std::string_view path);

}  // namespace sluice
