#include "sim/plan/step_words.h"

#include <fmt/format.h>

namespace sluice {

std::string bottleneck_text(const Step& step) {
    const Lane lane = step.bottleneck();
    return fmt::format("{}, {} of the step's critical path; compute is busy {} of the step",
                       bottleneck_label(lane),
                       format_percent(step.critical_shares[static_cast<std::size_t>(lane)]),
                       format_percent(step.lane(Lane::compute).busy / step.seconds));
}

std::string shortage_text(const Shortage& shortage, const BytesText& bytes) {
    return fmt::format("{} needs {}, has {} (short {}); largest: {} {}", shortage.memory,
                       bytes(shortage.needed), bytes(shortage.usable),
                       bytes(shortage.needed - shortage.usable), memory_kind_name(shortage.largest),
                       bytes(shortage.of_largest));
}

std::vector<std::string> shortages(const PlannedStep& plan, const BytesText& bytes) {
    std::vector<std::string> out;
    for (const Shortage& shortage : find_shortages(plan))
        out.push_back(shortage_text(shortage, bytes));
    return out;
}

}  // namespace sluice
