// What is a number of a machine: where does it stand in a profile, what does it fill, what is it
// scaled with? One row each; the rows are in *_numbers.cpp. Readers, scalers, sluice-calibrate and
// the window walk them, so a new number is a new row and its use in the cost model.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/specs/machine/machine_spec.h"

namespace sluice {

class SpecReader;

enum class ValueKind : std::uint8_t { number, curve, kernels, text, flag, group };

/// How far a number that is not measured weakens a prediction.
enum class Trust : std::uint8_t {
    unread,      ///< kept for reference: no prediction rests on it
    as_given,    ///< not at all: a size or a count that the user knows
    datasheet,   ///< not as a datasheet's value: a peak that a measured share is taken of
    measured,    ///< a rate: not measured here, it is an assumption
    others,      ///< an assumption of other systems' schedules alone (PyTorch's kernels, host work)
    where_used,  ///< an assumption of the plans that use this part of the machine (storage)
};

/// Rates that are off together: one source of error in a prediction's band.
enum class RateGroup : std::uint8_t {
    none,
    kernels,
    optimizer,
    host_work,    ///< all else that the processor does
    host_memory,  ///< what lanes get beside each other
    link,         ///< copies alone
    storage,
};

/// What can be bought faster, as bits; a number may gain from several.
using Parts = unsigned;
namespace part {
inline constexpr Parts to_device = 1, to_host = 2, link = to_device | to_host;
inline constexpr Parts shared_memory = 4;  ///< what copies and host work get beside each other
inline constexpr Parts memory_work = 256;  ///< host work that moves bytes
inline constexpr Parts host_memory = shared_memory | memory_work;
inline constexpr Parts processor = 8;  ///< the work of all its threads
inline constexpr Parts python = 16;    ///< the core that runs Python
inline constexpr Parts interconnect = 32;
inline constexpr Parts storage_read = 64, storage_write = 128;
}  // namespace part

/// How `sluice-calibrate transfer` scales a number to another machine's datasheet.
enum class Transfer : std::uint8_t {
    left_out,  ///< of one machine only, or of the datasheet
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

/// What a curve must look like.
enum class CurveShape : std::uint8_t {
    not_negative,
    rates_by_bytes,
    by_threads,
    by_sequence,
    contention
};

struct MachineNumber;

/// A value in SI where it is more than the number itself. `so_far`: the members of the rows above.
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
    bool required = false;  ///< else a missing number is `h200`, or 0 where that is not known
    double h200 = 0;        ///< measured on an H200 machine, in the number's unit
    const char* measured_by = nullptr;  ///< case of sluice-calibrate
    const char* peak = nullptr;         ///< path of what it may exceed by a tenth at most
    /// Path of what takes its place where that is measured: a base's number would contradict it.
    const char* replaced_by = nullptr;
    RateGroup group = RateGroup::none;
    bool judges_group = false;  ///< the group's range comes from where this number is from
    Parts parts = 0;
    Transfer transfer = Transfer::left_out;
    /// For people who choose among machines: what it is called, and what it is.
    const char *label = nullptr, *help = nullptr;

    /// A time: a faster part makes it smaller.
    bool is_time() const;
    /// Bytes, seconds, FLOP/s, ... of a value in the unit of the path.
    double in_si(double value) const;
    /// "GB/s"; empty for a plain count.
    std::string unit() const;
    /// What all threads together do, by their number.
    bool is_rate_by_threads() const { return path.ends_with("per_s_by_threads"); }
};

/// All rows, in the order of profiles.
const std::vector<MachineNumber>& machine_table();
/// nullptr where no row has the path.
const MachineNumber* number_at(std::string_view path);

/// Sections of a profile, in order; in a free one keys are the profile's own.
struct ProfileSection {
    const char* name;
    bool free = false;
};
inline constexpr ProfileSection kSections[] = {
    {"gpu"},           {"kernels"},       {"link"},
    {"host"},          {"storage", true}, {"gpu_interconnect", true},
    {"network", true}, {"price", true},   {"power", true}};
bool in_free_section(std::string_view path);

/// Keys of the object at `path`, as in `link` or `link.curve`; none where keys are free.
std::vector<std::string> known_keys_in(std::string_view path);
/// What stands at a path made of known keys.
ValueKind known_kind(std::string_view path);

}  // namespace sluice
