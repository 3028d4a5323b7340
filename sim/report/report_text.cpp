// The report as text: one screen.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/answers/predict/prediction.h"
#include "sim/base/format.h"
#include "sim/report/report.h"

namespace sluice {
namespace {

constexpr std::size_t kMostAssumptions = 6;
constexpr std::size_t kLongestLine = 116;

void append_heading(std::string& out, const TimedPlan& r) {
    const std::string active =
        r.asked.active_parameters == r.asked.parameters
            ? ""
            : fmt::format(", {} active",
                          format_count(static_cast<double>(r.asked.active_parameters)));
    out += fmt::format("{} ({} parameters{}, {}) on {}\n", r.asked.model_name,
                       format_count(static_cast<double>(r.asked.parameters)), active,
                       format_number_of(r.asked.layers, "layer"), r.asked.machine_id);
    std::string settings;
    const TrainingSpec standard;
    for (const Option& option : training_options()) {
        const std::string field = option.field;
        if (!has_option(r.asked.training.schedule, option)) continue;
        const bool always =
            field == "schedule" || field == "batch" || field == "seq" || field == "buffer_depth";
        if (!always && option.get(r.asked.training) == option.get(standard)) continue;
        settings += fmt::format("{}{} {}", settings.empty() ? "" : ", ", field,
                                option_text(r.asked.training, option));
    }
    out += settings + "\n";
    if (!r.asked.machine_changes.empty())
        out += fmt::format("what-if: {}\n", fmt::join(r.asked.machine_changes, " "));
    for (const std::string& note : {r.asked.model_note, r.plan.note})
        if (!note.empty()) out += fmt::format("note: {}\n", note);
}

std::string used_of(const Fit::OfTier& tier) {
    return fmt::format("{} of {}", format_bytes(static_cast<double>(tier.peak.bytes)),
                       format_bytes(static_cast<double>(tier.usable)));
}

void append_misfit(std::string& out, const TimedPlan& r, const StepAdvice& advice) {
    out += "DOES NOT FIT\n";
    for (const std::string& words : shortages(r.plan)) out += fmt::format("  {}\n", words);
    for (const Suggestion& s : advice.suggestions) {
        out += fmt::format("  fits with {} (device {}, host {})\n", setting_flags(s.settings),
                           format_bytes(static_cast<double>(s.device_peak)),
                           format_bytes(static_cast<double>(s.host_peak)));
    }
    if (advice.no_suggestion)
        out += fmt::format("  {}\n", no_suggestion_text(*advice.no_suggestion));
    out += "  the speed below assumes that it fits\n";
}

std::string measured_range(const Measurement& measured) {
    if (measured.steps == 1) return "; of one step";
    const std::string range =
        fmt::format("{} to {}", format_seconds(measured.low), format_seconds(measured.high));
    return measured.steps > 0 && measured.steps < kFewSteps
               ? fmt::format("; fastest and slowest of {}: {}", measured.steps, range)
               : fmt::format("; nine in ten steps took {}", range);
}

/// The range of a measured step; the band and the first step of a predicted one.
std::string beside_speed(const TimedPlan& r, const std::optional<Band>& band) {
    if (r.step.measured) return measured_range(*r.step.measured);
    const std::string range =
        band ? fmt::format(" (5 to 95%: {} to {})", format_thousands(r.tokens_per_s_at(band->high)),
                           format_thousands(r.tokens_per_s_at(band->low)))
             : "";
    return fmt::format("{}; the first step takes {}", range, format_seconds(r.step.first));
}

void append_fit(std::string& out, const TimedPlan& r, const StepAdvice& advice) {
    if (r.plan.fit.fits()) {
        out += fmt::format(
            "fits         device {} (plus CUDA context {}), host {}\n", used_of(r.plan.fit.device),
            format_bytes(static_cast<double>(r.plan.device_context)), used_of(r.plan.fit.host));
    } else {
        append_misfit(out, r, advice);
    }
}

void append_speed(std::string& out, const TimedPlan& r, const std::optional<Band>& band) {
    out += fmt::format("speed        {} a step, {} tokens/s{}\n", format_seconds(r.step.seconds),
                       format_thousands(r.tokens_per_s()), beside_speed(r, band));
    out += fmt::format(
        "             {:.1f} TFLOPS useful (6PT: six a token and active parameter), {:.1f} "
        "executed\n",
        r.model_flops_per_s() / kTera, r.executed_flops_per_s() / kTera);
    out += fmt::format("bound by     {}\n", bottleneck_text(r.step));
}

void append_cost(std::string& out, const Prediction& r) {
    if (!r.cost) return;
    const auto usd = [&](Seconds step) { return format_usd(r.usd_per_million_tokens_at(step)); };
    const std::string range =
        r.band ? fmt::format(" (5 to 95%: {} to {})", usd(r.band->low), usd(r.band->high)) : "";
    out +=
        fmt::format("cost         {} a million tokens{}, at {} an hour ({})\n", usd(r.step.seconds),
                    range, format_usd(r.cost->usd_per_hour), hourly_cost_origin(*r.cost));
}

std::string with_share(Seconds seconds, Seconds step) {
    return fmt::format("{:>8} {:>5}", format_seconds(seconds), format_percent(seconds / step));
}

void append_lanes(std::string& out, const TimedPlan& r, const std::vector<Remedy>& remedies) {
    out += fmt::format("\n{:<12} {:>14}   {:>14}   {:>14}   {:>10}\n", "lane", "busy", "exposed",
                       "idle", "moved");
    for (int i = 0; i < kLaneCount; ++i) {
        const LaneTime& lane = r.step.lanes[static_cast<std::size_t>(i)];
        if (lane.operations == 0) continue;
        const bool compute = static_cast<Lane>(i) == Lane::compute;
        out += fmt::format("{:<12} {}   {:>14}   {}   {:>10}\n", lane_label(static_cast<Lane>(i)),
                           with_share(lane.busy, r.step.seconds),
                           compute ? "-" : with_share(lane.exposed, r.step.seconds),
                           with_share(lane.idle, r.step.seconds),
                           compute ? "-" : format_bytes(lane.bytes));
    }
    for (const Remedy& remedy : remedies) out += fmt::format("  {}\n", remedy_text(remedy));
    std::string shares;
    for (const Utilization& used : r.step.utilization)
        shares += fmt::format("{}{} {}", shares.empty() ? "" : ", ", used.resource,
                              format_percent(used.share));
    if (!shares.empty()) out += fmt::format("used: {}\n", shares);
}

void append_memory(std::string& out, const TimedPlan& r) {
    out += fmt::format("\n{:<16} {:>10} {:>10}\n", "memory in a step", "device", "host");
    for (int i = 0; i < kMemoryKindCount; ++i) {
        const auto kind = static_cast<std::size_t>(i);
        const double device = static_cast<double>(r.plan.fit.device.peak.by_kind[kind]),
                     host = static_cast<double>(r.plan.fit.host.peak.by_kind[kind]);
        if (device + host == 0) continue;
        out += fmt::format("{:<16} {:>10} {:>10}\n", memory_kind_name(static_cast<MemoryKind>(i)),
                           device > 0 ? format_bytes(device) : "-",
                           host > 0 ? format_bytes(host) : "-");
    }
    if (r.plan.fit.storage.peak.bytes > 0) {
        out += "storage:";
        for (int i = 0; i < kMemoryKindCount; ++i) {
            const Bytes bytes = r.plan.fit.storage.peak.by_kind[static_cast<std::size_t>(i)];
            if (bytes > 0)
                out += fmt::format(" {} {},", memory_kind_name(static_cast<MemoryKind>(i)),
                                   format_bytes(static_cast<double>(bytes)));
        }
        out += fmt::format(" in all {}\n",
                           format_bytes(static_cast<double>(r.plan.fit.storage.peak.bytes)));
    }
    out += "host over time:";
    for (const HostMoment& moment : r.plan.memory.host_moments)
        out += fmt::format(" {} {},", moment.name, format_bytes(static_cast<double>(moment.bytes)));
    out += fmt::format(" between steps {}\n",
                       format_bytes(static_cast<double>(r.plan.memory.host_between_steps)));
}

void append_assumptions(std::string& out, const TimedPlan& r) {
    const std::vector<std::string> all = assumptions(r);
    if (all.empty()) return;
    out += "\nassumed:\n";
    for (std::size_t i = 0; i < std::min(kMostAssumptions, all.size()); ++i) {
        const std::string& sentence = all[i];
        out += sentence.size() <= kLongestLine
                   ? fmt::format("  {}\n", sentence)
                   : fmt::format("  {}...\n", sentence.substr(0, kLongestLine - 3));
    }
    if (all.size() > kMostAssumptions)
        out += fmt::format("  and {} more, whole in --json\n", all.size() - kMostAssumptions);
}

}  // namespace

std::string report_text(const Prediction& prediction) {
    std::string out;
    append_heading(out, prediction);
    out += "\n";
    append_fit(out, prediction, prediction.advice);
    append_speed(out, prediction, prediction.band);
    append_cost(out, prediction);
    out += fmt::format("confidence   {} rates of the machine\n",
                       confidence_name(prediction.plan.confidence));
    append_lanes(out, prediction, prediction.advice.remedies);
    append_memory(out, prediction);
    append_assumptions(out, prediction);
    return out;
}

std::string report_text(const TimedPlan& measured) {
    std::string out;
    append_heading(out, measured);
    out += "\n";
    append_fit(out, measured, {});
    append_speed(out, measured, {});
    out += fmt::format("measured     device {} at most, host {} resident\n",
                       format_bytes(static_cast<double>(measured.step.measured->device)),
                       format_bytes(static_cast<double>(measured.step.measured->host)));
    append_lanes(out, measured, {});
    append_memory(out, measured);
    append_assumptions(out, measured);
    return out;
}

std::string report_operations(const TimedPlan& r) {
    std::string out =
        fmt::format("{:>5}  {:<12} {:<28} {:>11} {:>11} {:>10} {:>9}  {}\n", "id", "lane",
                    "operation", "start", "duration", "moved", "GB/s", "waits for");
    for (std::size_t i = 0; i < r.plan.program.operations.size(); ++i) {
        const Operation& op = r.plan.program.operations[i];
        const OperationInterval& when = r.step.intervals[i];
        std::string waits;
        for (const Dependency& wait : op.waits_for)
            waits += fmt::format("{}{}{}", waits.empty() ? "" : " ", wait.operation,
                                 wait.previous_step ? "(step before)" : "");
        const double moved = op.link_bytes + op.host_bytes;
        const Seconds duration = when.end - when.start;
        out +=
            fmt::format("{:>5}  {:<12} {:<28} {:>8.3f} ms {:>8.3f} ms {:>10} {:>9}  {}\n", i,
                        lane_label(op.lane), operation_label(op, r.asked.layers), when.start * 1e3,
                        duration * 1e3, moved > 0 ? format_bytes(moved) : "-",
                        moved > 0 ? fmt::format("{:.1f}", moved / duration / kGiga) : "-", waits);
    }
    return out;
}

}  // namespace sluice
