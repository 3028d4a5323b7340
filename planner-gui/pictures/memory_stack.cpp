#include "planner-gui/pictures/memory_stack.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/format.h"
#include "sim/report/colours.h"

namespace sluice {
namespace {

MemoryStack stack_of(const char* name, const Fit::OfTier& tier, Bytes capacity) {
    MemoryStack stack{name, {}, tier.peak.bytes, tier.usable, std::max(capacity, tier.usable)};
    Bytes from = 0;
    for (int i = 0; i < kMemoryKindCount; ++i) {
        const auto kind = static_cast<MemoryKind>(i);
        const Bytes bytes = tier.peak.by_kind[static_cast<std::size_t>(i)];
        if (bytes == 0) continue;
        stack.segments.push_back({memory_kind_name(kind), memory_paint(kind), from, bytes});
        from += bytes;
    }
    return stack;
}

/// The host's largest moment may hold more than the steady state, whose kinds are known. The
/// difference is a kind of its own; for unified memory it includes the device's context.
void add_rest(MemoryStack& stack, const TimedPlan& report) {
    Bytes from = 0;
    for (const MemorySegment& segment : stack.segments) from += segment.bytes;
    const auto add = [&](Bytes bytes, const std::string& name) {
        if (bytes <= 0) return;
        stack.segments.push_back({name, paint(Role::beaten), from, bytes});
        from += bytes;
    };
    if (report.plan.unified_memory)
        add(std::min(stack.used - from, report.plan.device_context), "CUDA context");
    const auto fullest =
        std::ranges::max_element(report.plan.memory.host_moments, {}, &HostMoment::bytes);
    if (fullest != report.plan.memory.host_moments.end())
        add(stack.used - from, "more at " + fullest->name);
}

}  // namespace

std::string MemoryStack::words(ByteUnits units) const {
    const auto bytes = [units](Bytes count) {
        return bytes_text(units)(static_cast<double>(count));
    };
    std::string words = bytes(used);
    if (usable > 0) words += " of " + bytes(usable);
    if (shortage() > 0) words += ", short " + bytes(shortage());
    return words;
}

std::vector<MemoryStack> memory_stacks(const TimedPlan& report) {
    const bool unified = report.plan.unified_memory;
    std::vector<MemoryStack> stacks;
    if (!unified)
        stacks.push_back(stack_of("device", report.plan.fit.device, report.plan.device_capacity));
    stacks.push_back(stack_of(unified ? "device and host" : "host", report.plan.fit.host,
                              report.plan.host_capacity));
    add_rest(stacks.back(), report);
    if (report.plan.fit.storage.peak.bytes > 0)
        stacks.push_back(stack_of("storage", report.plan.fit.storage, 0));
    return stacks;
}

std::vector<HostMoment> host_bars(const TimedPlan& report) {
    std::vector<HostMoment> bars = report.plan.memory.host_moments;
    bars.push_back({"between steps", report.plan.memory.host_between_steps, ""});
    return bars;
}

std::vector<MemoryMoment> device_over_step(const TimedPlan& report) {
    const bool timed = report.step.seconds > 0 &&
                       report.step.intervals.size() == report.plan.program.operations.size();
    return timed ? memory_over_step(report, Tier::device) : std::vector<MemoryMoment>();
}

std::vector<MemoryMoment> curve_columns(const std::vector<MemoryMoment>& moments, Seconds step,
                                        int columns) {
    std::vector<MemoryMoment> shown;
    std::size_t at = 0;  // the moment at the column's start
    for (int i = 0; i < columns; ++i) {
        const Seconds begin = step * i / columns, end = step * (i + 1) / columns;
        while (at + 1 < moments.size() && moments[at + 1].start <= begin) ++at;
        std::size_t most = at;
        for (std::size_t j = at; j < moments.size() && moments[j].start < end; ++j)
            if (moments[j].bytes > moments[most].bytes) most = j;
        shown.push_back(moments[most]);
        shown.back().start = begin;
    }
    return shown;
}

const MemoryMoment& moment_at(const std::vector<MemoryMoment>& moments, Seconds time) {
    const auto after = std::ranges::partition_point(
        moments, [&](const MemoryMoment& moment) { return moment.start <= time; });
    return after == moments.begin() ? moments.front() : *(after - 1);
}

Table memory_table(const TimedPlan& report) {
    Table out{{{"memory", "memory"},
               {"when", "when"},
               {"kind", "kind"},
               {"bytes", "bytes", Unit::bytes}}};
    const auto add = [&out](std::string memory, std::string when, std::string kind, Bytes bytes) {
        out.rows.push_back({{std::move(memory), std::move(when), std::move(kind), bytes}});
    };
    for (const MemoryStack& stack : memory_stacks(report)) {
        for (const MemorySegment& segment : stack.segments)
            add(stack.name, "peak", segment.name, segment.bytes);
        add(stack.name, "peak", "all", stack.used);
        if (stack.usable > 0) add(stack.name, "", "usable", stack.usable);
    }
    for (const HostMoment& bar : host_bars(report)) add("host", bar.name, "all", bar.bytes);
    for (const MemoryMoment& moment : device_over_step(report)) {
        const std::string when = fmt::format("{:.9g} s", moment.start);
        for (int i = 0; i < kMemoryKindCount; ++i)
            if (const Bytes bytes = moment.by_kind[static_cast<std::size_t>(i)]; bytes > 0)
                add("device", when, memory_kind_name(static_cast<MemoryKind>(i)), bytes);
        add("device", when, "all", moment.bytes);
    }
    return out;
}

}  // namespace sluice
