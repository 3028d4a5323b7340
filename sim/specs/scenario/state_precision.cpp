#include "sim/specs/scenario/state_precision.h"

#include <fmt/format.h>

namespace sluice {
namespace {

template <typename Name>
std::string listed(Name name) {
    std::string text;
    for (const StatePrecision& precision : kStatePrecisions) {
        const bool first = &precision == &kStatePrecisions.front();
        const bool last = &precision == &kStatePrecisions.back();
        text += (first ? "" : last ? " or " : ", ") + name(precision);
    }
    return text;
}

}  // namespace

std::string state_bytes_choices() {
    return listed([](const StatePrecision& one) { return fmt::format("{}", one.bytes); });
}

std::string state_bytes_choices_in_words() {
    return listed(
        [](const StatePrecision& one) { return fmt::format("{} ({})", one.bytes, one.words); });
}

}  // namespace sluice
