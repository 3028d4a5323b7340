#include "sim/report/operation_facts.h"

#include <fmt/format.h>

#include <algorithm>

namespace sluice {
namespace {

constexpr std::size_t kMostWaits = 4;  // more dependencies are only counted

std::string moment(Seconds time) {
    return time < 0 ? "-" + format_seconds(-time) : format_seconds(time);
}

std::string label(const TimelineRow& row, OperationId id) {
    return operation_label(row.operation(id), row.report->asked.layers);
}

/// "weights in 12 (copies to the GPU)"
std::string label_and_lane(const TimelineRow& row, OperationId id) {
    return fmt::format("{} ({})", label(row, id), lane_words(row.operation(id).lane));
}

std::string layer_text(const Operation& operation, int layers) {
    if (operation.layer == kEmbeddingLayer) return "embedding";
    if (operation.layer >= layers) return "head";
    return fmt::format("{} of 0 to {}", operation.layer, layers - 1);
}

double bytes_of(const Operation& operation) {
    return operation.link_bytes > 0 ? operation.link_bytes : operation.host_bytes;
}

/// "weights in 12 (copies to the GPU, until 1.23 s, the last to end)".
std::string wait_text(const TimelineRow& row, const Dependency& wait, bool last) {
    const Seconds end =
        row.interval(wait.operation).end - (wait.previous_step ? row.report->step.seconds : 0);
    return fmt::format("{} ({}, until {}{}{})", label(row, wait.operation),
                       lane_words(row.operation(wait.operation).lane), moment(end),
                       wait.previous_step ? ", of the step before" : "",
                       last ? ", the last to end" : "");
}

void add_waits(std::vector<Fact>& facts, const TimelineRow& row, OperationId id) {
    Dependencies shown = row.operation(id).waits_for;
    const OperationId last = last_wait(*row.report, id);
    std::ranges::stable_sort(shown, [&](const Dependency& a, const Dependency& b) {
        return (a.operation == last) > (b.operation == last);
    });
    for (std::size_t i = 0; i < std::min(shown.size(), kMostWaits); ++i)
        facts.push_back(
            {i == 0 ? "waits for" : "", wait_text(row, shown[i], shown.size() > 1 && i == 0)});
    if (shown.size() > kMostWaits)
        facts.push_back({"", fmt::format("and {} more", shown.size() - kMostWaits)});
    if (shown.empty()) facts.push_back({"waits for", "only the operation before it in its lane"});
}

void add_exposed(std::vector<Fact>& facts, const TimelineRow& row, OperationId id) {
    if (row.lane.work == Work::compute) return;
    Seconds exposed = 0;
    for (const WaitBlock& wait : row.waits)
        if (wait.cause == id) exposed += wait.end - wait.start;
    facts.push_back({"exposed", exposed > 0 ? "compute waits " + format_seconds(exposed) + " for it"
                                            : "no: hidden behind compute"});
}

void add_times(std::vector<Fact>& facts, const TimelineRow& row, OperationId id,
               const BytesText& bytes) {
    const Operation& operation = row.operation(id);
    const OperationInterval& when = row.interval(id);
    const Seconds duration = when.end - when.start;
    facts.push_back({"start", moment(when.start)});
    facts.push_back({"duration", format_seconds(duration)});
    const double moved = bytes_of(operation);
    if (moved <= 0) return;
    facts.push_back({operation.link_bytes > 0 ? "bytes" : "bytes of host memory", bytes(moved)});
    if (duration > 0) facts.push_back({"rate", bytes(moved / duration) + "/s"});
}

}  // namespace

Facts operation_facts(const TimelineRow& row, OperationId id, const BytesText& bytes) {
    const Operation& operation = row.operation(id);
    const TimedPlan& report = *row.report;
    Facts out{label(row, id), {}};
    out.facts = {{"lane", fmt::format("{}, {}", lane_words(row.lane),
                                      report.step.measured ? "measured" : "predicted")},
                 {"layer", layer_text(operation, report.asked.layers)}};
    if (report.asked.training.micro_batches() > 1)
        out.facts.push_back({operation.micro_batches > 1 ? "micro-batches" : "micro-batch",
                             micro_batches_text(operation)});
    add_times(out.facts, row, id, bytes);
    add_waits(out.facts, row, id);
    add_exposed(out.facts, row, id);
    return out;
}

Facts wait_facts(const TimelineRow& row, const WaitBlock& wait) {
    Facts out{"compute waits " + format_seconds(wait.end - wait.start), {}};
    if (wait.cause >= 0) out.facts.push_back({"for", label_and_lane(row, wait.cause)});
    out.facts.push_back({"before", label(row, wait.waiting)});
    out.facts.push_back({"from", moment(wait.start)});
    return out;
}

Facts block_facts(const TimelineRow& row, const Block& block) {
    if (block.count == 1) {
        Facts out{label(row, block.first), {}};
        add_times(out.facts, row, block.first, format_bytes);
        return out;
    }
    return {fmt::format("{} operations, {} ... {}", block.count, label(row, block.first),
                        label(row, block.last)),
            {{"start", moment(block.start)}, {"duration", format_seconds(block.busy) + " in all"}}};
}

std::string facts_lines(const Facts& facts) {
    std::string lines = facts.title;
    for (const Fact& fact : facts.facts)
        lines += "\n" + (fact.name.empty() ? "    " : fact.name + ": ") + fact.value;
    return lines;
}

std::string facts_line(const Facts& facts) {
    std::string line;
    for (const Fact& fact : facts.facts)
        line += (line.empty()        ? ": "
                 : fact.name.empty() ? ", "
                                     : "; ") +
                fact.name + (fact.name.empty() ? "" : " ") + fact.value;
    return facts.title + line;
}

Table timeline_table(const Timeline& timeline) {
    Table out{{{"step", "step"},
               {"lane", "lane"},
               {"operation", "operation"},
               {"layer", "layer", Unit::whole},
               {"micro_batch", "micro-batch", Unit::whole},
               {"start_s", "start", Unit::seconds},
               {"end_s", "end", Unit::seconds},
               {"bytes", "bytes", Unit::bytes},
               {"rate_gb_per_s", "GB/s", Unit::number},
               {"waits_for", "waits for"}}};
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
            const bool has_rate = bytes > 0 && duration > 0;
            out.rows.push_back(
                {{row.report->step.measured ? "measured" : "predicted", lane_name(row.lane),
                  label(row, static_cast<OperationId>(i)), operation.layer, operation.micro_batch,
                  when.start, when.end, bytes, has_rate ? Cell(bytes / duration / kGiga) : Cell(),
                  waits}});
        }
    }
    return out;
}

}  // namespace sluice
