// How many trials does a test make? The nightly tests ask for more.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace sluice {

/// Seeds [first, first + count).
struct Trials {
    std::uint64_t first = 0, count = 0;
};

/// The usual number from 0 on, SLUICE_TRIALS of them, or the one that SLUICE_TRIAL names.
inline Trials trials(std::uint64_t usual) {
    const auto number = [](const char* name, std::uint64_t otherwise) {
        const char* const text = std::getenv(name);
        return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
    };
    const bool one = std::getenv("SLUICE_TRIAL") != nullptr;
    return {number("SLUICE_TRIAL", 0), number("SLUICE_TRIALS", one ? 1 : usual)};
}

}  // namespace sluice
