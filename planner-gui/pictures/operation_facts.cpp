#include "planner-gui/pictures/operation_facts.h"

#include <fmt/format.h>

#include <QStringList>
#include <algorithm>

#include "sim/base/format.h"
#include "sim/report/lane_blocks.h"

namespace sluice {
namespace {

constexpr std::size_t kMostWaits = 4;  // named in a tooltip; the rest is counted

QString text(const std::string& words) { return QString::fromStdString(words); }

std::string moment(Seconds time) {
    return time < 0 ? "-" + format_seconds(-time) : format_seconds(time);
}

std::string label(const TimelineRow& row, OperationId id) {
    return operation_label(row.operation(id), row.report->asked.layers);
}

QString layer_text(const Operation& operation, int layers) {
    if (operation.layer == kEmbeddingLayer) return QStringLiteral("embedding");
    if (operation.layer >= layers) return QStringLiteral("head");
    return QStringLiteral("%1 of 0 to %2").arg(operation.layer).arg(layers - 1);
}

double bytes_of(const Operation& operation) {
    return operation.link_bytes > 0 ? operation.link_bytes : operation.host_bytes;
}

/// "weights in 12 (H2D, until 1.23 s, the last to end)".
QString wait_text(const TimelineRow& row, const Dependency& wait, bool last) {
    const Seconds end =
        row.interval(wait.operation).end - (wait.previous_step ? row.report->step.seconds : 0);
    return text(fmt::format("{} ({}, until {}{}{})", label(row, wait.operation),
                            lane_label(row.operation(wait.operation).lane), moment(end),
                            wait.previous_step ? ", of the step before" : "",
                            last ? ", the last to end" : ""));
}

void add_waits(Facts& facts, const TimelineRow& row, OperationId id) {
    const std::vector<Dependency>& waits = row.operation(id).waits_for;
    const OperationId last = last_wait(*row.report, id);
    std::vector<Dependency> shown = waits;
    std::ranges::stable_sort(shown, [&](const Dependency& a, const Dependency& b) {
        return (a.operation == last) > (b.operation == last);
    });
    for (std::size_t i = 0; i < std::min(shown.size(), kMostWaits); ++i)
        facts.facts.push_back({i == 0 ? QStringLiteral("waits for") : QString(),
                               wait_text(row, shown[i], shown.size() > 1 && i == 0)});
    if (shown.size() > kMostWaits)
        facts.facts.push_back(
            {QString(), QStringLiteral("and %1 more").arg(shown.size() - kMostWaits)});
    if (waits.empty())
        facts.facts.push_back(
            {QStringLiteral("waits for"), QStringLiteral("only what its lane did before")});
}

void add_exposed(Facts& facts, const TimelineRow& row, OperationId id) {
    if (row.lane == Lane::compute) return;
    Seconds exposed = 0;
    for (const WaitBlock& wait : row.waits)
        if (wait.cause == id) exposed += wait.end - wait.start;
    facts.facts.push_back({QStringLiteral("exposed"),
                           exposed > 0
                               ? text("compute waits " + format_seconds(exposed) + " for it")
                               : QStringLiteral("no: hidden behind compute")});
}

}  // namespace

Facts operation_facts(const TimelineRow& row, OperationId id, ByteUnits units) {
    const Operation& operation = row.operation(id);
    const OperationInterval& when = row.interval(id);
    const Seconds duration = when.end - when.start;
    Facts facts{text(label(row, id)), {}};
    facts.facts.push_back(
        {QStringLiteral("lane"),
         text(fmt::format("{}, {}", lane_label(row.lane),
                          row.report->step.measured ? "measured" : "predicted"))});
    facts.facts.push_back(
        {QStringLiteral("layer"), layer_text(operation, row.report->asked.layers)});
    if (row.report->asked.training.micro_batches() > 1)
        facts.facts.push_back(
            {QStringLiteral("micro-batch"), QString::number(operation.micro_batch)});
    facts.facts.push_back({QStringLiteral("start"), text(moment(when.start))});
    facts.facts.push_back({QStringLiteral("duration"), text(format_seconds(duration))});
    if (const double bytes = bytes_of(operation); bytes > 0) {
        facts.facts.push_back({operation.link_bytes > 0 ? QStringLiteral("bytes")
                                                        : QStringLiteral("bytes of host memory"),
                               byte_text(bytes, units)});
        if (duration > 0)
            facts.facts.push_back({QStringLiteral("rate"),
                                   byte_text(bytes / duration, units) + QStringLiteral("/s")});
    }
    add_waits(facts, row, id);
    add_exposed(facts, row, id);
    return facts;
}

Facts wait_facts(const TimelineRow& row, const WaitBlock& wait) {
    Facts facts{text("compute waits " + format_seconds(wait.end - wait.start)), {}};
    if (wait.cause >= 0)
        facts.facts.push_back(
            {QStringLiteral("for"), text(fmt::format("{} ({})", label(row, wait.cause),
                                                     lane_label(row.operation(wait.cause).lane)))});
    facts.facts.push_back({QStringLiteral("before"), text(label(row, wait.waiting))});
    facts.facts.push_back({QStringLiteral("from"), text(moment(wait.start))});
    return facts;
}

QString facts_lines(const Facts& facts) {
    QStringList lines{facts.title};
    for (const Fact& fact : facts.facts)
        lines << (fact.name.isEmpty() ? QStringLiteral("    ") + fact.value
                                      : fact.name + QStringLiteral(": ") + fact.value);
    return lines.join(QLatin1Char('\n'));
}

QString facts_line(const Facts& facts) {
    QString line = facts.title + QStringLiteral(": ");
    bool first = true;
    for (const Fact& fact : facts.facts) {
        if (!first) line += fact.name.isEmpty() ? QStringLiteral(", ") : QStringLiteral("; ");
        line += fact.name.isEmpty() ? fact.value : fact.name + QLatin1Char(' ') + fact.value;
        first = false;
    }
    return line;
}

QString timeline_csv(const Timeline& timeline) {
    std::string csv =
        "step,lane,operation,layer,micro_batch,start_s,end_s,bytes,rate_gb_per_s,waits_for\n";
    for (const TimelineRow& row : timeline.rows()) {
        const auto& operations = row.report->plan.program.operations;
        for (std::size_t i = 0; i < operations.size(); ++i) {
            const Operation& operation = operations[i];
            if (operation.lane != row.lane) continue;
            const OperationInterval& when = row.report->step.intervals[i];
            const double bytes = bytes_of(operation);
            const Seconds duration = when.end - when.start;
            std::string waits;
            for (const Dependency& wait : operation.waits_for)
                waits +=
                    fmt::format("{}{}{}", waits.empty() ? "" : "; ", label(row, wait.operation),
                                wait.previous_step ? " (previous step)" : "");
            csv += fmt::format(
                "{},{},{},{},{},{:.9g},{:.9g},{:.0f},{},{}\n",
                row.report->step.measured ? "measured" : "predicted", lane_name(row.lane),
                csv_text(label(row, static_cast<OperationId>(i))), operation.layer,
                operation.micro_batch, when.start, when.end, bytes,
                bytes > 0 && duration > 0 ? fmt::format("{:.6g}", bytes / duration / kGiga) : "",
                csv_text(waits));
        }
    }
    return text(csv);
}

}  // namespace sluice
