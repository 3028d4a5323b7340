#include "planner-gui/pictures/operation_facts.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/format.h"
#include "sim/report/lane_blocks.h"

namespace sluice {
namespace {

constexpr std::size_t kMostWaits = 4;  // named in a tooltip; the rest is counted

std::string moment(Seconds time) {
    return time < 0 ? "-" + format_seconds(-time) : format_seconds(time);
}

std::string label(const TimelineRow& row, OperationId id) {
    return operation_label(row.operation(id), row.report->asked.layers);
}

std::string layer_text(const Operation& operation, int layers) {
    if (operation.layer == kEmbeddingLayer) return "embedding";
    if (operation.layer >= layers) return "head";
    return fmt::format("{} of 0 to {}", operation.layer, layers - 1);
}

double bytes_of(const Operation& operation) {
    return operation.link_bytes > 0 ? operation.link_bytes : operation.host_bytes;
}

/// "weights in 12 (H2D, until 1.23 s, the last to end)".
std::string wait_text(const TimelineRow& row, const Dependency& wait, bool last) {
    const Seconds end =
        row.interval(wait.operation).end - (wait.previous_step ? row.report->step.seconds : 0);
    return fmt::format("{} ({}, until {}{}{})", label(row, wait.operation),
                       lane_label(row.operation(wait.operation).lane), moment(end),
                       wait.previous_step ? ", of the step before" : "",
                       last ? ", the last to end" : "");
}

/// What ended last comes first.
std::vector<Fact> waits_of(const TimelineRow& row, OperationId id) {
    std::vector<Dependency> waits = row.operation(id).waits_for;
    if (waits.empty()) return {{"waits for", "only what its lane did before"}};
    const OperationId last = last_wait(*row.report, id);
    std::ranges::stable_partition(waits,
                                  [&](const Dependency& wait) { return wait.operation == last; });
    std::vector<Fact> out;
    for (std::size_t i = 0; i < std::min(waits.size(), kMostWaits); ++i)
        out.push_back(
            {i == 0 ? "waits for" : "", wait_text(row, waits[i], waits.size() > 1 && i == 0)});
    if (waits.size() > kMostWaits)
        out.push_back({"", fmt::format("and {} more", waits.size() - kMostWaits)});
    return out;
}

/// How long compute waits for it.
std::string exposed_text(const TimelineRow& row, OperationId id) {
    Seconds exposed = 0;
    for (const WaitBlock& wait : row.waits)
        if (wait.cause == id) exposed += wait.end - wait.start;
    return exposed > 0 ? "compute waits " + format_seconds(exposed) + " for it"
                       : "no: hidden behind compute";
}

}  // namespace

Facts operation_facts(const TimelineRow& row, OperationId id, ByteUnits units) {
    const Operation& operation = row.operation(id);
    const OperationInterval& when = row.interval(id);
    const Seconds duration = when.end - when.start;
    const BytesText bytes_text = sluice::bytes_text(units);
    Facts out{label(row, id), {}};
    const auto add = [&out](const char* name, std::string value) {
        out.facts.push_back({name, std::move(value)});
    };
    add("lane", fmt::format("{}, {}", lane_label(row.lane),
                            row.report->step.measured ? "measured" : "predicted"));
    add("layer", layer_text(operation, row.report->asked.layers));
    if (row.report->asked.training.micro_batches() > 1)
        add("micro-batch", std::to_string(operation.micro_batch));
    add("start", moment(when.start));
    add("duration", format_seconds(duration));
    if (const double bytes = bytes_of(operation); bytes > 0) {
        add(operation.link_bytes > 0 ? "bytes" : "bytes of host memory", bytes_text(bytes));
        if (duration > 0) add("rate", bytes_text(bytes / duration) + "/s");
    }
    for (Fact& wait : waits_of(row, id)) out.facts.push_back(std::move(wait));
    if (row.lane != Lane::compute) add("exposed", exposed_text(row, id));
    return out;
}

std::string facts_lines(const Facts& facts) {
    std::string lines = facts.title;
    for (const Fact& fact : facts.facts)
        lines += "\n" + (fact.name.empty() ? "    " : fact.name + ": ") + fact.value;
    return lines;
}

std::string facts_line(const Facts& facts) {
    std::string line = facts.title + ":";
    for (const Fact& fact : facts.facts) {
        if (&fact != &facts.facts.front()) line += fact.name.empty() ? "," : ";";
        line += " " + (fact.name.empty() ? "" : fact.name + " ") + fact.value;
    }
    return line;
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
