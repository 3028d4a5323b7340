#include "sim/plan/memory_timeline.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sluice {
namespace {

constexpr Seconds kShortest = 1e-9;  // shorter is rounding

struct UseChange {
    Seconds time = 0;
    MemoryKind kind = MemoryKind::workspace;
    Bytes bytes = 0;  ///< below 0: freed
};

/// When each buffer's first use starts and its last use ends.
std::vector<OperationInterval> lifetimes(const TimedPlan& report) {
    constexpr Seconds kNever = std::numeric_limits<Seconds>::infinity();
    std::vector<OperationInterval> alive(report.plan.memory.buffers.size(), {kNever, -kNever});
    for (std::size_t i = 0; i < report.plan.program.operations.size(); ++i) {
        for (const BufferUse& use : report.plan.program.operations[i].uses) {
            if (use.buffer == kStepOutcome) continue;
            OperationInterval& life = alive[static_cast<std::size_t>(use.buffer)];
            life.start = std::min(life.start, report.step.intervals[i].start);
            life.end = std::max(life.end, report.step.intervals[i].end);
        }
    }
    return alive;
}

void add(MemoryMoment& to, MemoryKind kind, Bytes bytes) {
    to.bytes += bytes;
    to.by_kind[static_cast<std::size_t>(kind)] += bytes;
}

}  // namespace

std::vector<MemoryMoment> memory_over_step(const TimedPlan& report, Memory memory) {
    const std::vector<OperationInterval> alive = lifetimes(report);
    MemoryMoment now;
    if (memory.tier == Tier::device)
        add(now, MemoryKind::gaps,
            report.plan.fit.of(memory).peak.by_kind[static_cast<std::size_t>(MemoryKind::gaps)]);
    std::vector<UseChange> changes;
    for (std::size_t i = 0; i < report.plan.memory.buffers.size(); ++i) {
        const Buffer& buffer = report.plan.memory.buffers[i];
        const bool unused = buffer.first != kWholeStep && !buffer.comes_and_goes();
        if (buffer.memory != memory || unused) continue;
        const Seconds life = alive[i].end - alive[i].start;
        if (!buffer.comes_and_goes() || life >= report.step.seconds - kShortest) {
            add(now, buffer.kind, buffer.bytes);
            continue;
        }
        Seconds start =
            alive[i].start - std::floor(alive[i].start / report.step.seconds) * report.step.seconds;
        if (report.step.seconds - start < kShortest) start = 0;
        Seconds end = start + life;
        if (end > report.step.seconds + kShortest) {
            // Alive across the end of the step, so also at its start.
            end -= report.step.seconds;
            add(now, buffer.kind, buffer.bytes);
        }
        changes.push_back({start, buffer.kind, buffer.bytes});
        changes.push_back({end, buffer.kind, -buffer.bytes});
    }
    std::ranges::sort(changes, {}, &UseChange::time);

    std::vector<MemoryMoment> moments;
    for (std::size_t i = 0; i < changes.size();) {
        const Seconds time = changes[i].time;
        if (time > kShortest && moments.empty()) moments.push_back(now);
        for (; i < changes.size() && changes[i].time <= time + kShortest; ++i)
            add(now, changes[i].kind, changes[i].bytes);
        if (time >= report.step.seconds - kShortest) break;
        now.start = moments.empty() ? 0 : time;
        moments.push_back(now);
    }
    if (moments.empty()) moments.push_back(now);
    return moments;
}

const MemoryMoment& most_memory(const std::vector<MemoryMoment>& moments) {
    return *std::ranges::max_element(moments, {}, &MemoryMoment::bytes);
}

bool memory_changes(const TimedPlan& report, Memory memory) {
    return std::ranges::any_of(report.plan.memory.buffers, [&](const Buffer& buffer) {
        return buffer.memory == memory && buffer.comes_and_goes();
    });
}

}  // namespace sluice
