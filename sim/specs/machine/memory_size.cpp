#include "sim/specs/machine/memory_size.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string>

#include "sim/base/input_error.h"

namespace sluice {

double parse_memory_size(std::string_view text, std::string_view option) {
    struct Unit {
        std::string_view name;
        double bytes;
    };
    constexpr std::array kUnits = {
        Unit{"kb", 1e3},
        Unit{"mb", 1e6},
        Unit{"gb", 1e9},
        Unit{"tb", 1e12},
        Unit{"kib", 1024.0},
        Unit{"mib", 1048576.0},
        Unit{"gib", 1073741824.0},
        Unit{"tib", 1099511627776.0},
        Unit{"b", 1.0},
        Unit{"", 1.0},
    };
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    std::string unit(end, text.data() + text.size());
    std::transform(unit.begin(), unit.end(), unit.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    constexpr double kLargestMemory = 1e18;
    for (const Unit& known : kUnits) {
        if (error == std::errc() && unit == known.name && number > 0 &&
            number * known.bytes <= kLargestMemory) {
            return number * known.bytes;
        }
    }
    throw InputError(fmt::format(
        "{} is \"{}\", expected a memory size such as 1.5TB, 512GB or 128GiB", option, text));
}

}  // namespace sluice
