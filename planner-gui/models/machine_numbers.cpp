#include "planner-gui/models/machine_numbers.h"

#include <fmt/format.h>

#include <algorithm>

namespace sluice {
namespace {

/// Allows a line break after each part of the path.
std::string breakable(const std::string& path) {
    std::string out;
    for (const char letter : path) {
        out += letter;
        if (letter == '.' || letter == '_') out += "\u200b";
    }
    return out;
}

Row row_of(const std::string& path, const Quantity& number, bool changed) {
    const std::string from = changed ? "your value" : method_name(number.method);
    Row row{{Cell(path).shown_as(breakable(path)), fmt::format("{:g}", *number.value), from}};
    row.marked = changed;
    row.tooltip = fmt::format("{}: {}{}{}{}{}", from, number.date, number.date.empty() ? "" : ", ",
                              number.source, number.note.empty() ? "" : "\n", number.note);
    return row;
}

}  // namespace

Table machine_numbers_table(const MachineProfile& profile, const MachineSpec& machine,
                            const std::vector<std::string>& settings) {
    Table out{{{"path", "number"}, {"value", "value"}, {"from", "from"}}};
    for (const std::string& path : machine.inputs) {
        const Quantity* const number = profile.find(path);
        if (number == nullptr || !number->value || path == "host.memory_capacity_gb") continue;
        const bool changed = std::ranges::any_of(
            settings, [&](const std::string& set) { return set.starts_with(path + "="); });
        out.rows.push_back(row_of(path, *number, changed));
    }
    for (const char* const path : kStorageRates)
        if (!profile.number(path)) {
            out.rows.push_back({{Cell(path).shown_as(breakable(path)), "", "not known"}});
            out.rows.back().tooltip =
                "not known: rates of a disk or SSD; systems that keep states there need both";
        }
    return out;
}

}  // namespace sluice
