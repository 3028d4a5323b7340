// The report as text: one screen.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/format.h"
#include "sim/plan/step_report.h"

namespace sluice {
namespace {

constexpr std::size_t kMostAssumptions = 6;
constexpr std::size_t kLongestLine = 116;

void append_heading(std::string& out, const StepReport& r) {
    const std::string active =
        r.active_parameters == r.parameters
            ? ""
            : fmt::format(", {} active", format_count(static_cast<double>(r.active_parameters)));
    out += fmt::format("{} ({} parameters{}, {}) on {}\n", r.model_name,
                       format_count(static_cast<double>(r.parameters)), active,
                       format_number_of(r.layers, "layer"), r.machine_id);
    std::string settings;
    const TrainingSpec standard;
    for (const Option& option : training_options()) {
        const std::string field = option.field;
        if (!has_option(r.training.schedule, option)) continue;
        const bool always =
            field == "schedule" || field == "batch" || field == "seq" || field == "buffer_depth";
        if (!always && option.get(r.training) == option.get(standard)) continue;
        settings += fmt::format("{}{} {}", settings.empty() ? "" : ", ", field,
                                option_text(r.training, option));
    }
    out += settings + "\n";
    if (!r.machine_changes.empty())
        out += fmt::format("what-if: {}\n", fmt::join(r.machine_changes, " "));
    for (const std::string& note : {r.model_note, r.schedule_note})
        if (!note.empty()) out += fmt::format("note: {}\n", note);
}

std::string used_of(const Fit::OfTier& tier) {
    return fmt::format("{} of {}", format_bytes(static_cast<double>(tier.peak.bytes)),
                       format_bytes(static_cast<double>(tier.usable)));
}

Shortage shortage_of(const char* memory, const Fit::OfTier& tier) {
    const auto& kinds = tier.peak.by_kind;
    const auto largest = std::max_element(kinds.begin(), kinds.end());
    return {memory, tier.peak.bytes, tier.usable, static_cast<MemoryKind>(largest - kinds.begin()),
            *largest};
}

void append_misfit(std::string& out, const StepReport& r) {
    out += "DOES NOT FIT\n";
    for (const std::string& words : shortages(r)) out += fmt::format("  {}\n", words);
    for (const Suggestion& s : r.suggestions) {
        out += fmt::format("  fits with {} (device {}, host {})\n", s.change,
                           format_bytes(static_cast<double>(s.device_peak)),
                           format_bytes(static_cast<double>(s.host_peak)));
    }
    if (r.no_suggestion) out += fmt::format("  {}\n", no_suggestion_text(*r.no_suggestion));
    out += "  speed below: as if it did fit\n";
}

std::string measured_range(const StepReport& r) {
    if (r.steps_measured == 1) return "; of one step";
    const std::string range =
        fmt::format("{} to {}", format_seconds(r.step_low), format_seconds(r.step_high));
    return r.steps_measured > 0 && r.steps_measured < kFewSteps
               ? fmt::format("; fastest and slowest of {}: {}", r.steps_measured, range)
               : fmt::format("; nine in ten steps took {}", range);
}

/// Of a measured step its range; of a predicted one its band and the first step.
std::string beside_speed(const StepReport& r) {
    if (r.measured) return measured_range(r);
    const std::string band =
        r.has_band()
            ? fmt::format(" (5 to 95%: {} to {})", format_thousands(r.tokens_per_s_at(r.step_high)),
                          format_thousands(r.tokens_per_s_at(r.step_low)))
            : "";
    return fmt::format("{}; the first step takes {}", band, format_seconds(r.first_step));
}

void append_verdict(std::string& out, const StepReport& r) {
    if (r.fit.fits()) {
        out += fmt::format(
            "fits         device {} (CUDA context {} besides), host {}\n", used_of(r.fit.device),
            format_bytes(static_cast<double>(r.device_context)), used_of(r.fit.host));
    } else {
        append_misfit(out, r);
    }
    out += fmt::format("speed        {} a step, {} tokens/s{}\n", format_seconds(r.step),
                       format_thousands(r.tokens_per_s()), beside_speed(r));
    out += fmt::format(
        "             {:.1f} TFLOPS useful (6PT: six a token and active parameter), {:.1f} "
        "executed\n",
        r.model_flops_per_s() / kTera, r.executed_flops_per_s() / kTera);
    out += fmt::format("bound by     {}\n", r.bottleneck_words);
    if (r.has_price())
        out += fmt::format("cost         {} a million tokens{}, at {} an hour ({})\n",
                           format_usd(r.usd_per_million_tokens_at(r.step)),
                           r.has_band()
                               ? fmt::format(" (5 to 95%: {} to {})",
                                             format_usd(r.usd_per_million_tokens_at(r.step_low)),
                                             format_usd(r.usd_per_million_tokens_at(r.step_high)))
                               : "",
                           format_usd(r.usd_per_hour), r.usd_per_hour_of);
    if (r.measured) {
        out += fmt::format("measured     device {} at most, host {} resident\n",
                           format_bytes(static_cast<double>(r.measured_device)),
                           format_bytes(static_cast<double>(r.measured_host)));
        return;
    }
    out += fmt::format("confidence   {} rates of the machine\n", confidence_name(r.confidence));
}

std::string with_share(Seconds seconds, Seconds step) {
    return fmt::format("{:>8} {:>5}", format_seconds(seconds), format_percent(seconds / step));
}

void append_lanes(std::string& out, const StepReport& r) {
    out += fmt::format("\n{:<12} {:>14}   {:>14}   {:>14}   {:>10}\n", "lane", "busy", "exposed",
                       "idle", "moved");
    for (int i = 0; i < kLaneCount; ++i) {
        const LaneTime& lane = r.lanes[static_cast<std::size_t>(i)];
        if (lane.operations == 0) continue;
        const bool compute = static_cast<Lane>(i) == Lane::compute;
        out += fmt::format("{:<12} {}   {:>14}   {}   {:>10}\n", lane_label(static_cast<Lane>(i)),
                           with_share(lane.busy, r.step),
                           compute ? "-" : with_share(lane.exposed, r.step),
                           with_share(lane.idle, r.step), compute ? "-" : format_bytes(lane.bytes));
    }
    for (const Remedy& remedy : r.remedies) out += fmt::format("  {}\n", remedy.sentence);
    std::string shares;
    for (const Utilization& used : r.utilization)
        shares += fmt::format("{}{} {}", shares.empty() ? "" : ", ", used.resource,
                              format_percent(used.share));
    if (!shares.empty()) out += fmt::format("used: {}\n", shares);
}

void append_memory(std::string& out, const StepReport& r) {
    out += fmt::format("\n{:<16} {:>10} {:>10}\n", "memory in a step", "device", "host");
    for (int i = 0; i < kMemoryKindCount; ++i) {
        const auto kind = static_cast<std::size_t>(i);
        const double device = static_cast<double>(r.fit.device.peak.by_kind[kind]),
                     host = static_cast<double>(r.fit.host.peak.by_kind[kind]);
        if (device + host == 0) continue;
        out += fmt::format("{:<16} {:>10} {:>10}\n", memory_kind_name(static_cast<MemoryKind>(i)),
                           device > 0 ? format_bytes(device) : "-",
                           host > 0 ? format_bytes(host) : "-");
    }
    if (r.fit.storage.peak.bytes > 0) {
        out += "storage:";
        for (int i = 0; i < kMemoryKindCount; ++i) {
            const Bytes bytes = r.fit.storage.peak.by_kind[static_cast<std::size_t>(i)];
            if (bytes > 0)
                out += fmt::format(" {} {},", memory_kind_name(static_cast<MemoryKind>(i)),
                                   format_bytes(static_cast<double>(bytes)));
        }
        out += fmt::format(" in all {}\n",
                           format_bytes(static_cast<double>(r.fit.storage.peak.bytes)));
    }
    out += "host over time:";
    for (const HostMoment& moment : r.host_timeline)
        out += fmt::format(" {} {},", moment.name, format_bytes(static_cast<double>(moment.bytes)));
    out +=
        fmt::format(" between steps {}\n", format_bytes(static_cast<double>(r.host_between_steps)));
}

void append_assumptions(std::string& out, const StepReport& r) {
    if (r.assumptions.empty()) return;
    out += "\nassumed:\n";
    for (std::size_t i = 0; i < std::min(kMostAssumptions, r.assumptions.size()); ++i) {
        const std::string& sentence = r.assumptions[i];
        out += sentence.size() <= kLongestLine
                   ? fmt::format("  {}\n", sentence)
                   : fmt::format("  {}...\n", sentence.substr(0, kLongestLine - 3));
    }
    if (r.assumptions.size() > kMostAssumptions)
        out += fmt::format("  and {} more, whole in --json\n",
                           r.assumptions.size() - kMostAssumptions);
}

}  // namespace

const char* lane_label(Lane lane) {
    switch (lane) {
        case Lane::host_to_device:
            return "H2D";
        case Lane::compute:
            return "compute";
        case Lane::device_to_host:
            return "D2H";
        case Lane::optimizer:
            return "optimizer";
        case Lane::host:
            return "host";
        case Lane::storage_read:
            return "read";
        case Lane::storage_write:
            return "write";
        case Lane::interconnect:
            return "interconnect";
        case Lane::python:
            return "Python";
    }
    return "";
}

std::string operation_label(const Operation& operation, int layers) {
    const char* name = operation_name(operation.kind);
    if (operation.kind == OperationKind::loss) return name;
    if (operation.layer == kEmbeddingLayer) {
        const bool says_so = std::string_view(name).find("embedding") != std::string_view::npos;
        return says_so || operation.lane == Lane::optimizer ? name
                                                            : fmt::format("{} (embedding)", name);
    }
    if (operation.layer == layers) return fmt::format("{} (head)", name);
    return operation.micro_batch == 0
               ? fmt::format("{} {}", name, operation.layer)
               : fmt::format("{} {} micro-batch {}", name, operation.layer, operation.micro_batch);
}

std::vector<Shortage> find_shortages(const StepReport& report) {
    std::vector<Shortage> out;
    for (const auto& [memory, tier] :
         {std::pair("device", &report.fit.device),
          std::pair(report.unified_memory ? "shared memory" : "host", &report.fit.host),
          std::pair("storage", &report.fit.storage)})
        if (tier->shortfall() > 0) out.push_back(shortage_of(memory, *tier));
    return out;
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

std::vector<std::string> shortages(const StepReport& report, const BytesText& bytes) {
    std::vector<std::string> out;
    for (const Shortage& shortage : find_shortages(report))
        out.push_back(shortage_text(shortage, bytes));
    return out;
}

std::string report_text(const StepReport& report) {
    std::string out;
    append_heading(out, report);
    out += "\n";
    append_verdict(out, report);
    append_lanes(out, report);
    append_memory(out, report);
    append_assumptions(out, report);
    return out;
}

std::string report_operations(const StepReport& r) {
    std::string out =
        fmt::format("{:>5}  {:<12} {:<28} {:>11} {:>11} {:>10} {:>9}  {}\n", "id", "lane",
                    "operation", "start", "duration", "moved", "GB/s", "waits for");
    for (std::size_t i = 0; i < r.program.operations.size(); ++i) {
        const Operation& op = r.program.operations[i];
        const OperationInterval& when = r.operations[i];
        std::string waits;
        for (const Dependency& wait : op.waits_for)
            waits += fmt::format("{}{}{}", waits.empty() ? "" : " ", wait.operation,
                                 wait.previous_step ? "(step before)" : "");
        const double moved = op.link_bytes + op.host_bytes;
        const Seconds duration = when.end - when.start;
        out +=
            fmt::format("{:>5}  {:<12} {:<28} {:>8.3f} ms {:>8.3f} ms {:>10} {:>9}  {}\n", i,
                        lane_label(op.lane), operation_label(op, r.layers), when.start * 1e3,
                        duration * 1e3, moved > 0 ? format_bytes(moved) : "-",
                        moved > 0 ? fmt::format("{:.1f}", moved / duration / kGiga) : "-", waits);
    }
    return out;
}

}  // namespace sluice
