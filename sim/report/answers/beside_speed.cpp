#include "sim/report/answers/beside_speed.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "sim/report/answers/findings.h"
#include "sim/specs/scenario/state_precision.h"

namespace sluice {

namespace {

const char* number_name(std::int64_t bytes) {
    return bytes == kFp32 ? "fp32" : bytes == 3 ? "24-bit" : bytes == kBf16 ? "bf16" : "8-bit";
}

}  // namespace

KeptStates kept_states(const TrainingSpec& training) {
    const BytesOfStates bytes = bytes_of_states(training);
    return {number_name(bytes.master), number_name(bytes.moment)};
}

Cell states_cell(const TrainingSpec& training) {
    const auto [master, moments] = kept_states(training);
    return Cell(states_of(training)).shown_as(fmt::format("{}+{}", master, moments));
}

std::string cases_words(double share) {
    const long cases = std::lround(100 * share);
    return cases > 99 ? "in over 99 of 100 cases" : fmt::format("in {} of 100 cases", cases);
}

Cell runs_today_cell(const RunsToday& today) {
    return Cell(today.runs())
        .shown_as(today.runs() ? today.program : "NO")
        .with_mark(!today.runs())
        .with_tooltip(today.runs() ? "source: " + today.source
                                   : fmt::format("{}\nsource: {}", today.why_not, today.source));
}

std::string not_today_words(const std::vector<NamedToday>& all) {
    std::vector<std::pair<std::string, std::vector<std::string>>> by_reason;
    for (const auto& [name, today] : all) {
        if (today->runs()) continue;
        const auto known =
            std::ranges::find(by_reason, today->why_not, [](const auto& one) { return one.first; });
        (known == by_reason.end() ? by_reason.emplace_back(today->why_not, 0) : *known)
            .second.push_back(name);
    }
    std::vector<std::string> parts;
    for (const auto& [reason, names] : by_reason)
        parts.push_back(fmt::format("{} ({})", fmt::join(names, ", "), reason));
    return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace sluice
