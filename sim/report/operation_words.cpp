#include <fmt/format.h>

#include <array>

#include "sim/base/format.h"
#include "sim/report/lane_blocks.h"
#include "sim/report/svg_text.h"

namespace sluice {
namespace {

const Operation& operation_at(const TimedPlan& report, OperationId id) {
    return report.plan.program.operations[static_cast<std::size_t>(id)];
}

const OperationInterval& interval_of(const TimedPlan& report, OperationId id) {
    return report.step.intervals[static_cast<std::size_t>(id)];
}

std::string label_of(const TimedPlan& report, OperationId id) {
    return operation_label(operation_at(report, id), report.asked.layers);
}

std::string moment(Seconds time) {
    return time < 0 ? "-" + format_seconds(-time) : format_seconds(time);
}

std::string bytes_and_rate(const Operation& operation, Seconds time) {
    const bool over_link = operation.link_bytes > 0;
    const double bytes = over_link ? operation.link_bytes : operation.host_bytes;
    if (bytes <= 0 || time <= 0) return "";
    return fmt::format("\n{}{}, {:.1f} GB/s", format_bytes(bytes),
                       over_link ? "" : " of host memory", bytes / time / kGiga);
}

}  // namespace

const char* family_name(Family family) {
    static constexpr std::array<const char*, kFamilyCount> kNames = {
        "weights in", "checkpoints", "forward",          "recompute + backward",
        "loss",       "gradients",   "optimizer update", "other"};
    return kNames[static_cast<std::size_t>(family)];
}

std::string operation_tooltip(const TimedPlan& report, const Block& block) {
    if (block.count > 1) {
        return fmt::format("{} operations, {} ... {}\nat {}, {} in all", block.count,
                           label_of(report, block.first), label_of(report, block.last),
                           moment(block.start), format_seconds(block.busy));
    }
    const OperationInterval& interval = interval_of(report, block.first);
    const Seconds time = interval.end - interval.start;
    return fmt::format("{}\nat {}, for {}{}", label_of(report, block.first), moment(interval.start),
                       format_seconds(time),
                       bytes_and_rate(operation_at(report, block.first), time));
}

OperationId last_wait(const TimedPlan& report, OperationId id) {
    OperationId latest = -1;
    Seconds latest_end = 0;
    for (const Dependency& wait : operation_at(report, id).waits_for) {
        const Seconds end = interval_of(report, wait.operation).end -
                            (wait.previous_step ? report.step.seconds : 0);
        if (latest >= 0 && end <= latest_end) continue;
        latest = wait.operation;
        latest_end = end;
    }
    return latest;
}

std::string pause_tooltip(const TimedPlan& report, const Block& pause) {
    const std::string waits = fmt::format("compute waits {}", format_seconds(pause.busy));
    if (pause.count > 1)
        return fmt::format("{} in {} pauses\nat {}", waits, pause.count, moment(pause.start));
    const OperationId cause = last_wait(report, pause.first);
    const std::string when =
        fmt::format("\nat {}, before {}", moment(pause.start), label_of(report, pause.first));
    if (cause < 0) return waits + when;
    return fmt::format("{} for {} ({}){}", waits, label_of(report, cause),
                       lane_label(operation_at(report, cause).lane), when);
}

std::string text_inside(const TimedPlan& report, const Block& block, double size, double width) {
    if (block.count > 1) return "";
    const Operation& operation = operation_at(report, block.first);
    const std::string label = label_of(report, block.first);
    if (text_width(label, size) <= width) return label;
    const bool in_layer = operation.layer >= 0 && operation.layer < report.asked.layers;
    const std::string shorter =
        in_layer ? std::to_string(operation.layer) : operation_name(operation.kind);
    // Either all numbers of like blocks or none.
    const std::string widest = in_layer ? std::to_string(report.asked.layers - 1) : shorter;
    return text_width(widest, size) <= width ? shorter : "";
}

}  // namespace sluice
