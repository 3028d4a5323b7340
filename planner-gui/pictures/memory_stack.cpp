#include "planner-gui/pictures/memory_stack.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/base/format.h"
#include "sim/report/colours.h"

namespace sluice {
namespace {

constexpr double kSmallest = 0.01;  // share of a stack; smaller buffers are one segment

MemoryStack stack_of(const char* name, const Fit::OfMemory& tier, Bytes capacity) {
    return {name, {}, tier.peak.bytes, tier.usable, std::max(capacity, tier.usable)};
}

void add_segment(MemoryStack& stack, const std::string& name, Paint colour, Bytes bytes) {
    if (bytes <= 0) return;
    const Bytes from =
        stack.segments.empty() ? 0 : stack.segments.back().from + stack.segments.back().bytes;
    stack.segments.push_back({name, colour, from, bytes});
}

void add_kinds(MemoryStack& stack, const BytesByKind& by_kind) {
    for (int i = 0; i < kMemoryKindCount; ++i) {
        const auto kind = static_cast<MemoryKind>(i);
        add_segment(stack, memory_kind_name(kind), memory_paint(kind),
                    by_kind[static_cast<std::size_t>(i)]);
    }
}

/// The buffers of these memories at their peaks; those of one name are one home.
void add_homes(MemoryStack& stack, const PlannedStep& plan, const std::vector<Memory>& memories) {
    const auto operations = static_cast<OperationId>(plan.program.operations.size());
    std::array<std::vector<std::pair<std::string, Bytes>>, kMemoryKindCount> homes;
    for (const Memory memory : memories) {
        const OperationId at = peak_memory(plan.memory, memory, operations).operation;
        for (const Buffer& buffer : plan.memory.buffers) {
            const bool there =
                buffer.first == kWholeStep || (buffer.first <= at && at <= buffer.last);
            if (buffer.memory != memory || !there) continue;
            auto& of_kind = homes[static_cast<std::size_t>(buffer.kind)];
            const auto found =
                std::ranges::find(of_kind, buffer.name, &std::pair<std::string, Bytes>::first);
            if (found == of_kind.end())
                of_kind.emplace_back(buffer.name, buffer.bytes);
            else
                found->second += buffer.bytes;
        }
    }
    const bool on_device = std::ranges::find(memories, Memory(Tier::device)) != memories.end();
    const BytesByKind& peak = plan.fit.device().peak.by_kind;
    Bytes small = on_device ? peak[static_cast<std::size_t>(MemoryKind::gaps)] : 0;
    for (std::size_t kind = 0; kind < homes.size(); ++kind) {
        Paint colour = memory_paint(static_cast<MemoryKind>(kind));
        for (const auto& [name, bytes] : homes[kind]) {
            if (static_cast<double>(bytes) < kSmallest * static_cast<double>(stack.used)) {
                small += bytes;
                continue;
            }
            add_segment(stack, name, colour, bytes);
            colour.opacity *= 0.7;  // tells homes of one kind apart
        }
    }
    add_segment(stack, on_device ? "smaller buffers and gaps" : "smaller buffers",
                paint(Role::axis), small);
}

/// The host's largest moment may hold more than the steady state, whose kinds are known. The
/// difference is a kind of its own; for unified memory it includes the device's context.
void add_rest(MemoryStack& stack, const TimedPlan& report) {
    const auto rest = [&stack] {
        const MemorySegment last = stack.segments.empty() ? MemorySegment() : stack.segments.back();
        return stack.used - last.from - last.bytes;
    };
    if (report.plan.unified_memory)
        add_segment(stack, "CUDA context", paint(Role::beaten),
                    std::min(rest(), report.plan.device_context));
    const auto fullest =
        std::ranges::max_element(report.plan.memory.host_moments, {}, &HostMoment::bytes);
    if (fullest != report.plan.memory.host_moments.end())
        add_segment(stack, "more at " + fullest->name, paint(Role::beaten), rest());
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

std::vector<MemoryStack> memory_stacks(const TimedPlan& report, Segments by) {
    const PlannedStep& plan = report.plan;
    const auto fill = [&](MemoryStack& stack, const Fit::OfMemory& of,
                          const std::vector<Memory>& memories) {
        if (by == Segments::kinds)
            add_kinds(stack, of.peak.by_kind);
        else
            add_homes(stack, plan, memories);
    };
    std::vector<MemoryStack> stacks;
    if (!plan.unified_memory) {
        stacks.push_back(stack_of("device", plan.fit.device(), plan.device_capacity));
        fill(stacks.back(), plan.fit.device(), {Tier::device});
        stacks.push_back(stack_of("host", plan.fit.host(), plan.host_capacity));
        fill(stacks.back(), plan.fit.host(), {Tier::host});
    } else {
        stacks.push_back(stack_of("device and host", plan.fit.host(), plan.host_capacity));
        fill(stacks.back(), plan.fit.host(), {Tier::device, Tier::host});
    }
    add_rest(stacks.back(), report);
    if (plan.fit.storage().peak.bytes > 0) {
        stacks.push_back(stack_of("storage", plan.fit.storage(), 0));
        fill(stacks.back(), plan.fit.storage(), {Tier::storage});
    }
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
