#include "sim/specs/machine/machine_number.h"

#include <algorithm>
#include <array>
#include <span>

#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/machine/spec_reader.h"

namespace sluice {
namespace {

struct Unit {
    std::string_view ending;
    double many = 1, part = 1;  ///< SI units are value * many / part
    const char* shown = "";
    bool is_time = false;
};
// Longer endings first, since the first match counts.
constexpr std::array kUnits = {
    Unit{"_gb_per_s", kGiga, 1, "GB/s"},
    Unit{"_gparams_per_s", kGiga, 1, "Gparam/s"},
    Unit{"_per_tflop", 1, kTera, "J/TFLOP"},
    Unit{"_per_gb", 1, kGiga, "J/GB"},
    Unit{"_per_gparam", 1, kGiga, "J/Gparam"},
    Unit{"_tflops", kTera, 1, "TFLOPS"},
    Unit{"_gb", kGiga, 1, "GB"},
    Unit{"_us", 1, kMega, "us", true},
    Unit{"_s", 1, 1, "s", true},
    Unit{"_w", 1, 1, "W"},
    Unit{"_j", 1, 1, "J"},
};
constexpr Unit kCount = {"", 1, 1, ""};

/// For a curve: the unit of its second column.
const Unit& unit_of(std::string_view path) {
    path = path.substr(0, path.rfind("_by_"));
    const auto found = std::find_if(kUnits.begin(), kUnits.end(),
                                    [&](const Unit& unit) { return path.ends_with(unit.ending); });
    return found == kUnits.end() ? kCount : *found;
}

}  // namespace

bool MachineNumber::is_time() const { return kind == ValueKind::kernels || unit_of(path).is_time; }

double MachineNumber::in_si(double value) const {
    const Unit& unit = unit_of(path);
    return value * unit.many / unit.part;
}

std::string MachineNumber::unit() const { return unit_of(path).shown; }

const std::vector<MachineNumber>& machine_table() {
    static const std::vector<MachineNumber> table = [] {
        std::vector<MachineNumber> rows;
        for (const auto& section :
             {gpu_numbers(), link_numbers(), host_numbers(), node_numbers(), power_numbers()})
            rows.insert(rows.end(), section.begin(), section.end());
        return rows;
    }();
    return table;
}

const MachineNumber* number_at(std::string_view path) {
    const auto& table = machine_table();
    const auto found = std::find_if(table.begin(), table.end(),
                                    [&](const MachineNumber& row) { return row.path == path; });
    return found == table.end() ? nullptr : &*found;
}

double least_value(std::string_view path) {
    const MachineNumber* const row = number_at(path);
    return std::max(kSmallestQuantity, row != nullptr ? row->least : 0);
}

bool in_free_section(std::string_view path) {
    const std::string_view name = path.substr(0, path.find('.'));
    return std::any_of(
        std::begin(kSections), std::end(kSections),
        [&](const ProfileSection& section) { return section.free && name == section.name; });
}

std::vector<std::string> known_keys_in(std::string_view path) {
    if (in_free_section(path)) return {};
    const std::string start = std::string(path) + ".";
    std::vector<std::string> keys;
    for (const MachineNumber& row : machine_table()) {
        // Keys below `other` are free; the table has the ones that are read.
        if (!row.path.starts_with(start)) continue;
        const std::string_view rest = row.path.substr(start.size());
        const std::string key(rest.substr(0, rest.find('.')));
        if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
    }
    return keys;
}

ValueKind known_kind(std::string_view path) {
    const MachineNumber* const row = number_at(path);
    return row == nullptr ? ValueKind::group : row->kind;
}

const std::vector<std::string>& machine_numbers() {
    static const std::vector<std::string> numbers = [] {
        std::vector<std::string> paths;
        for (const MachineNumber& row : machine_table())
            if (row.kind == ValueKind::number && row.trust != Trust::unread)
                paths.emplace_back(row.path);
        return paths;
    }();
    return numbers;
}

}  // namespace sluice
