#include "sim/answers/validate/machine_names.h"

#include <algorithm>
#include <cmath>
#include <regex>

namespace sluice {

std::optional<MachineParts> machine_parts(const std::string& name) {
    static const std::regex kForm(
        R"((.+), (\d+(?:\.\d+)?) CPUs(?: of (.+))?, (\d+(?:\.\d+)?(?:e\+\d+)?) ([MGT])B)");
    std::smatch parts;
    if (!std::regex_match(name, parts, kForm)) return std::nullopt;
    const char unit = *parts[5].first;
    const double bytes = unit == 'T' ? 1e12 : unit == 'G' ? 1e9 : 1e6;
    return MachineParts{parts[1], std::stod(parts[2]), parts[3], std::stod(parts[4]) * bytes};
}

bool same_kind(const MachineParts& a, const MachineParts& b) {
    constexpr double kOfMemory = 0.01;
    return a.gpu == b.gpu && a.cpus == b.cpus && a.cpu == b.cpu &&
           std::abs(a.host_memory - b.host_memory) <=
               kOfMemory * std::max(a.host_memory, b.host_memory);
}

}  // namespace sluice
