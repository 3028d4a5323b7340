#include "sim/specs/machine/machine_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <filesystem>

#include "sim/base/embedded_files.h"
#include "sim/base/format.h"
#include "sim/base/input_error.h"
#include "sim/base/json_object.h"
#include "sim/base/units.h"
#include "sim/specs/machine/machine_number.h"

namespace sluice {
namespace {

constexpr const char* kHostCapacity = "host.memory_capacity_gb";

/// Splits `h200-sxm-pcie5-1.5tb` into the id and the bytes of host memory, if the ending is a size.
std::optional<std::pair<std::string, double>> split_memory_suffix(const std::string& what) {
    const std::size_t dash = what.rfind('-');
    if (dash == std::string::npos || dash + 1 >= what.size()) return std::nullopt;
    if (std::isdigit(static_cast<unsigned char>(what[dash + 1])) == 0 || what.back() != 'b')
        return std::nullopt;
    try {
        return std::pair(what.substr(0, dash),
                         parse_memory_size(what.substr(dash + 1), "--machine"));
    } catch (const InputError&) {
        return std::nullopt;
    }
}

std::optional<MachineProfile> find_in_library(const std::string& id) {
    for (const EmbeddedFile& file : embedded_machines()) {
        if (file.name == id)
            return parse_machine_profile(file.text, fmt::format("hwprofiles/{}.json", id), id);
    }
    return std::nullopt;
}

}  // namespace

double parse_memory_size(std::string_view text, std::string_view option) {
    struct Unit {
        std::string_view name;
        double bytes;
    };
    constexpr Unit kMemoryUnits[] = {
        {"kb", 1e3},   {"mb", 1e6},      {"gb", 1e9},         {"tb", 1e12},
        {"kib", 1024}, {"mib", 1048576}, {"gib", 1073741824}, {"tib", 1099511627776},
        {"b", 1},      {"", 1}};
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const std::string unit = lowercase({end, text.data() + text.size()});
    constexpr double kLargestMemory = 1e18;
    for (const Unit& known : kMemoryUnits) {
        if (error == std::errc() && unit == known.name && number > 0 &&
            number * known.bytes <= kLargestMemory) {
            return number * known.bytes;
        }
    }
    throw InputError(fmt::format(
        "{} is \"{}\", expected a memory size such as 1.5TB, 512GB or 128GiB", option, text));
}

const char* method_name(Method method) {
    // In the order of the enumeration.
    static constexpr const char* kNames[] = {"measured", "transferred", "datasheet", "estimated"};
    return kNames[static_cast<std::size_t>(method)];
}

const Quantity* MachineProfile::find(std::string_view path) const {
    const auto found = std::ranges::find(quantities, path, &Quantity::path);
    return found == quantities.end() ? nullptr : &*found;
}

std::optional<double> MachineProfile::number(std::string_view path) const {
    const Quantity* const quantity = find(path);
    return quantity == nullptr ? std::nullopt : quantity->value;
}

const Curve* MachineProfile::find_curve(std::string_view path) const {
    const auto found = std::ranges::find(curves, path, &Curve::path);
    return found == curves.end() ? nullptr : &*found;
}

std::string MachineProfile::text(std::string_view path) const {
    const auto found = std::ranges::find(texts, path, &std::pair<std::string, std::string>::first);
    return found == texts.end() ? "" : found->second;
}

bool MachineProfile::flag(std::string_view path) const {
    const auto found = std::ranges::find(flags, path, &std::pair<std::string, bool>::first);
    return found != flags.end() && found->second;
}

namespace {

/// If the user gives a rate of the link, its curve by size keeps its shape.
void scale_curve_of(std::vector<Curve>& curves, const Quantity& rate, double value) {
    constexpr std::string_view kLink = "link.";
    if (!rate.value || !rate.path.starts_with(kLink)) return;
    const std::string path =
        fmt::format("link.curve.{}_by_bytes", std::string_view(rate.path).substr(kLink.size()));
    for (Curve& curve : curves) {
        if (curve.path != path) continue;
        for (auto& row : curve.points)
            for (std::size_t i = 1; i < row.size(); ++i) row[i] *= value / *rate.value;
    }
}

}  // namespace

void MachineProfile::set(std::string_view path, double value) {
    const auto found = std::ranges::find(quantities, path, &Quantity::path);
    const std::vector<std::string>& readable = machine_numbers();
    if (found == quantities.end() &&
        std::find(readable.begin(), readable.end(), path) == readable.end()) {
        std::vector<std::string> known = readable;
        for (const Quantity& quantity : quantities) known.push_back(quantity.path);
        throw InputError(
            fmt::format("--set: {} has no number \"{}\"; list them with: sluice machines show {}{}",
                        id, path, id, did_you_mean(path, known)),
            "settings");
    }
    const double least = least_value(path);
    if (!(value >= least && value <= kLargestQuantity)) {
        throw InputError(fmt::format("--set: {} is {:g}, expected a number from {:g} to {:g}", path,
                                     value, least, kLargestQuantity),
                         "settings");
    }
    Quantity& quantity = found == quantities.end() ? quantities.emplace_back() : *found;
    scale_curve_of(curves, quantity, value);
    quantity.path = path;
    if (!quantity.what_if) quantity.replaced = quantity.value;
    quantity.what_if = true;
    quantity.value = value;
    quantity.method = Method::estimated;
    quantity.source = "given on the command line";
    quantity.note = "what-if value";
}

MachineProfile read_machine_profile(const std::string& what, const char* flag) {
    if (auto profile = find_in_library(what)) return *std::move(profile);
    if (const auto split = split_memory_suffix(what)) {
        if (auto profile = find_in_library(split->first)) {
            profile->id = what;
            profile->set(kHostCapacity, split->second / kGiga);
            return *std::move(profile);
        }
    }
    if (what.find('/') != std::string::npos || what.ends_with(".json")) {
        return parse_machine_profile(read_text_file(what), what,
                                     std::filesystem::path(what).stem().string());
    }
    throw InputError(fmt::format(
        "{}: unknown machine \"{}\"; list them with: sluice machines, or give a path to a "
        "profile{}",
        flag, what, names_like(what, library_machines())));
}

std::string without_host_memory(const std::string& id) {
    const auto split = split_memory_suffix(id);
    return split ? split->first : id;
}

std::vector<std::string> library_machines() {
    std::vector<std::string> ids;
    for (const EmbeddedFile& file : embedded_machines()) ids.emplace_back(file.name);
    std::sort(ids.begin(), ids.end());
    return ids;
}

}  // namespace sluice
