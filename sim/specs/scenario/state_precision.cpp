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

BytesOfStates bytes_of_states(const TrainingSpec& training) {
    const Schedule schedule = training.schedule;
    if (!has_option(schedule, "state_bytes"))
        return {schedule->master_bytes, schedule->moments_bytes / 2};
    const StatePrecision& kept = state_precision(training.state_bytes);
    return {kBf16 + kept.low_bytes, kept.moment_bytes};
}

std::string state_bytes_choices() {
    return listed([](const StatePrecision& one) { return fmt::format("{}", one.bytes); });
}

std::string state_bytes_choices_in_words() {
    return listed(
        [](const StatePrecision& one) { return fmt::format("{} ({})", one.bytes, one.words); });
}

}  // namespace sluice
