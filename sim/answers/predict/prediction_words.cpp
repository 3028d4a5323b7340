#include "sim/answers/predict/prediction_words.h"

#include <fmt/format.h>

namespace sluice {
namespace {

/// "H2D 61 GB/s (now 55.3; both ways 52, now 47)": what would be so much faster.
std::string faster_words(Lane lane, const FasterLane& faster) {
    const double rate = faster.rate / kGiga, both = faster.both_ways / kGiga;
    switch (lane) {
        case Lane::host_to_device:
        case Lane::device_to_host:
            return fmt::format("{} {:.0f} GB/s (now {:.1f}; both ways {:.0f}, now {:.0f})",
                               lane_label(lane), rate * faster.factor, rate, both * faster.factor,
                               both);
        case Lane::storage_read:
        case Lane::storage_write:
            return fmt::format("storage {} {:.1f} GB/s (now {:.1f})", lane_label(lane),
                               rate * faster.factor, rate);
        case Lane::python:
            return fmt::format("a core that runs Python {:.1f} times as fast", faster.factor);
        case Lane::interconnect:
            return fmt::format("links and network between GPUs {:.1f} times as fast",
                               faster.factor);
        default:
            return fmt::format("host work {:.1f} times as fast", faster.factor);
    }
}

const char* hidden_work(Lane lane) {
    switch (lane) {
        case Lane::host_to_device:
            return "weights";
        case Lane::device_to_host:
            return "gradients";
        case Lane::host:
            return "collecting gradients";
        case Lane::interconnect:
            return "collectives";
        case Lane::python:
            return "issuing work";
        case Lane::storage_read:
            return "reading";
        case Lane::storage_write:
            return "writing";
        default:
            return "optimizer";
    }
}

}  // namespace

std::string bottleneck_text(const Step& step) {
    const Lane lane = step.bottleneck();
    return fmt::format("{}, {} of the step's critical path; compute is busy {} of the step",
                       bottleneck_label(lane),
                       format_percent(step.critical_shares[static_cast<std::size_t>(lane)]),
                       format_percent(step.lane(Lane::compute).busy / step.seconds));
}

std::string shortage_text(const Shortage& shortage, const BytesText& bytes) {
    const auto text = [&](Bytes number) { return bytes(static_cast<double>(number)); };
    return fmt::format("{} needs {}, has {} (short {}); largest: {} {}", shortage.memory,
                       text(shortage.needed), text(shortage.usable),
                       text(shortage.needed - shortage.usable), memory_kind_name(shortage.largest),
                       text(shortage.of_largest));
}

std::string no_suggestion_text(const NoSuggestion& none, const BytesText& bytes) {
    std::string out =
        fmt::format("no nearby setting fits: {}fewer --layers or a larger machine is needed",
                    none.shorter_sequence ? "a shorter --seq, " : "");
    if (none.host_memory_most > 0)
        out += fmt::format(" (this one has {} of host memory at most)",
                           bytes(static_cast<double>(none.host_memory_most)));
    return out;
}

std::vector<std::string> shortages(const PlannedStep& plan, const BytesText& bytes) {
    std::vector<std::string> out;
    for (const Shortage& shortage : find_shortages(plan))
        out.push_back(shortage_text(shortage, bytes));
    return out;
}

std::string remedy_text(const Remedy& remedy) {
    if (!remedy.faster)
        return fmt::format("a faster {} alone brings less than {:.0f}%", lane_label(remedy.lane),
                           kLeastGain * 100);
    const FasterLane& faster = *remedy.faster;
    const std::string memory =
        faster.host_memory > 0
            ? fmt::format(" and host memory at {:.0f} GB/s (now {:.0f})",
                          faster.host_memory / kGiga * faster.factor, faster.host_memory / kGiga)
            : "";
    return fmt::format("{}{} would hide the {}: {} a step", faster_words(remedy.lane, faster),
                       memory, hidden_work(remedy.lane), format_seconds(faster.step));
}

std::string hourly_cost_origin(const HourlyCost& cost) {
    return fmt::format("{}, {}, {}{}{}", cost.provider, offer_kind_name(cost.kind), cost.date,
                       cost.unpriced.empty() ? "" : "; ", cost.unpriced);
}

std::vector<std::string> assumptions(const TimedPlan& timed) {
    std::vector<std::string> out = timed.plan.assumptions;
    if (timed.step.unsettled > 0)
        out.push_back(fmt::format("the step time does not settle in {} steps; it is their mean",
                                  timed.step.unsettled));
    if (timed.step.measured && timed.step.measured->redone > 0)
        out.push_back(
            fmt::format("{} steps that speculative clipping redid are not in the step time",
                        timed.step.measured->redone));
    return out;
}

}  // namespace sluice
