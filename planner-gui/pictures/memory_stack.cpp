#include "planner-gui/pictures/memory_stack.h"

#include <fmt/format.h>

#include <QStringList>
#include <algorithm>
#include <cmath>

#include "sim/base/format.h"

namespace sluice {
namespace {

MemoryStack stack_of(const QString& name, const Fit::OfTier& tier, Bytes capacity) {
    MemoryStack stack;
    stack.name = name;
    stack.used = tier.peak.bytes;
    stack.usable = tier.usable;
    stack.capacity = std::max(capacity, tier.usable);
    Bytes from = 0;
    for (int i = 0; i < kMemoryKindCount; ++i) {
        const auto kind = static_cast<MemoryKind>(i);
        const Bytes bytes = tier.peak.by_kind[static_cast<std::size_t>(i)];
        if (bytes == 0) continue;
        stack.segments.push_back({MemorySegment::What::kind, kind, from, bytes,
                                  QString::fromUtf8(memory_kind_name(kind))});
        from += bytes;
    }
    return stack;
}

/// The host's fullest moment may hold more than the steady state, whose kinds are known; of unified
/// memory the device's context is such a rest too.
void add_rest(MemoryStack& stack, const TimedPlan& report) {
    Bytes from = 0;
    for (const MemorySegment& segment : stack.segments) from += segment.bytes;
    Bytes rest = stack.used - from;
    const auto add = [&](Bytes bytes, const QString& name) {
        if (bytes <= 0) return;
        stack.segments.push_back(
            {MemorySegment::What::moment, MemoryKind::workspace, from, bytes, name});
        from += bytes;
        rest -= bytes;
    };
    if (report.plan.unified_memory)
        add(std::min(rest, report.plan.device_context), QStringLiteral("CUDA context"));
    const auto fullest =
        std::ranges::max_element(report.plan.memory.host_moments, {}, &HostMoment::bytes);
    if (fullest != report.plan.memory.host_moments.end())
        add(rest, QStringLiteral("more at %1").arg(QString::fromStdString(fullest->name)));
}

}  // namespace

QString MemoryStack::words(ByteUnits units) const {
    QString words = byte_text(static_cast<double>(used), units);
    if (usable == 0) return words;
    words += QStringLiteral(" of %1").arg(byte_text(static_cast<double>(usable), units));
    if (shortage() > 0)
        words +=
            QStringLiteral(", short %1").arg(byte_text(static_cast<double>(shortage()), units));
    return words;
}

std::vector<MemoryStack> memory_stacks(const TimedPlan& report) {
    std::vector<MemoryStack> stacks;
    if (!report.plan.unified_memory)
        stacks.push_back(stack_of(QStringLiteral("device"), report.plan.fit.device,
                                  report.plan.device_capacity));
    stacks.push_back(stack_of(
        report.plan.unified_memory ? QStringLiteral("device and host") : QStringLiteral("host"),
        report.plan.fit.host, report.plan.host_capacity));
    add_rest(stacks.back(), report);
    if (report.plan.fit.storage.peak.bytes > 0)
        stacks.push_back(stack_of(QStringLiteral("storage"), report.plan.fit.storage, 0));
    return stacks;
}

std::vector<HostBar> host_bars(const TimedPlan& report) {
    std::vector<HostBar> bars;
    for (const HostMoment& moment : report.plan.memory.host_moments)
        bars.push_back({QString::fromStdString(moment.name), moment.bytes,
                        QString::fromStdString(moment.what)});
    bars.push_back(
        {QStringLiteral("between steps"), report.plan.memory.host_between_steps, QString()});
    return bars;
}

std::vector<MemoryMoment> curve_columns(const std::vector<MemoryMoment>& moments, Seconds step,
                                        int columns) {
    std::vector<MemoryMoment> shown;
    std::size_t at = 0;  // the moment in which the column begins
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

QString memory_csv(const TimedPlan& report) {
    std::string csv = "memory,when,kind,bytes\n";
    for (const MemoryStack& stack : memory_stacks(report)) {
        const std::string name = csv_text(stack.name.toStdString());
        for (const MemorySegment& segment : stack.segments)
            csv += fmt::format("{},peak,{},{}\n", name, csv_text(segment.name.toStdString()),
                               segment.bytes);
        csv += fmt::format("{},peak,all,{}\n", name, stack.used);
        if (stack.usable > 0) csv += fmt::format("{},,usable,{}\n", name, stack.usable);
    }
    for (const HostBar& bar : host_bars(report))
        csv += fmt::format("host,{},all,{}\n", csv_text(bar.name.toStdString()), bar.bytes);
    if (report.step.seconds > 0 &&
        report.step.intervals.size() == report.plan.program.operations.size()) {
        for (const MemoryMoment& moment : memory_over_step(report, Tier::device)) {
            for (int i = 0; i < kMemoryKindCount; ++i) {
                const Bytes bytes = moment.by_kind[static_cast<std::size_t>(i)];
                if (bytes > 0)
                    csv += fmt::format("device,{:.9g} s,{},{}\n", moment.start,
                                       memory_kind_name(static_cast<MemoryKind>(i)), bytes);
            }
            csv += fmt::format("device,{:.9g} s,all,{}\n", moment.start, moment.bytes);
        }
    }
    return QString::fromStdString(csv);
}

QString short_text(const TimedPlan& report, ByteUnits units) {
    QStringList parts;
    const auto add = [&](const QString& name, const Fit::OfTier& tier) {
        if (tier.shortfall() > 0)
            parts << QStringLiteral("%1 short %2")
                         .arg(name, byte_text(static_cast<double>(tier.shortfall()), units));
    };
    add(QStringLiteral("device"), report.plan.fit.device);
    add(report.plan.unified_memory ? QStringLiteral("shared memory") : QStringLiteral("host"),
        report.plan.fit.host);
    add(QStringLiteral("storage"), report.plan.fit.storage);
    return parts.join(QStringLiteral(", "));
}

}  // namespace sluice
