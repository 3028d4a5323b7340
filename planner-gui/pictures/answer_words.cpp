#include "planner-gui/pictures/answer_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/format.h"
#include "sim/report/answers/findings.h"
#include "sim/report/report.h"

namespace sluice {
namespace {

std::string summary_words(const char* what, const ErrorSummary& errors) {
    if (errors.count == 0) return "";
    return fmt::format("; {} {:.1f}%, most {} ({})", what, 100 * errors.mean_absolute,
                       format_error(errors.worst), errors.worst_name);
}

/// Errors by group, since other systems, machines and purposes have errors of their own.
std::string groups_words(const std::vector<GroupSummary>& summaries) {
    std::vector<std::string> groups;
    for (const GroupSummary& one : summaries)
        if (!one.group.empty() && one.throughput.count > 0)
            groups.push_back(fmt::format("{} {:.1f}% ({} run{})", one.group,
                                         one.throughput.mean_absolute * 100, one.runs,
                                         one.runs == 1 ? "" : "s"));
    if (groups.empty()) return "";
    return fmt::format(" Mean error of tokens/s by group: {}.", fmt::join(groups, ", "));
}

/// "copies to the GPU ran at 82 GB/s instead of 55.4", and what compute would no longer wait for.
std::pair<std::string, const char*> faster_words(Lane lane, const FasterLane& faster) {
    const auto rates = [&](const char* what) {
        return fmt::format("{} ran at {:.3g} GB/s instead of {:.3g}", what,
                           faster.rate / kGiga * faster.factor, faster.rate / kGiga);
    };
    const auto times = [&](const char* what) {
        return fmt::format("{} {:.2g} times as fast", what, faster.factor);
    };
    switch (lane.work) {
        case Work::host_to_device:
            return {rates("copies to the GPU"), "the weights"};
        case Work::device_to_host:
            return {rates("copies from the GPU"), "the copies of gradients"};
        case Work::storage_read:
            return {rates("reads from storage"), "the storage"};
        case Work::storage_write:
            return {rates("writes to storage"), "the storage"};
        case Work::python:
            return {times("the core that runs Python were"), "Python"};
        case Work::interconnect:
            return {times("links and network between the GPUs were"), "the other GPUs"};
        case Work::host:
            return {times("the host collected gradients"), "the host"};
        default:
            return {times("the host's processor worked"), "the optimizer"};
    }
}

}  // namespace

QString remedy_sentence(const Remedy& remedy) {
    if (!remedy.faster)
        return qtext(
            fmt::format("A higher speed of the lane \"{}\" alone would gain less "
                        "than {:.0f}%.",
                        lane_words(remedy.lane), kLeastGain * 100));
    const FasterLane& faster = *remedy.faster;
    const auto [words, waits_for] = faster_words(remedy.lane, faster);
    const std::string memory =
        faster.host_memory > 0
            ? fmt::format(" and host memory at {:.3g} GB/s instead of {:.3g}",
                          faster.host_memory / kGiga * faster.factor, faster.host_memory / kGiga)
            : "";
    return qtext(fmt::format("If {}{}, compute would no longer wait for {}; a step would take {}.",
                             words, memory, waits_for, format_seconds(faster.step)));
}

QString reason_text(const ScenarioValue& value, ByteUnits units) {
    std::string out = value.refused;
    for (const Shortage& shortage : value.shortages)
        out += (out.empty() ? "" : "; ") + shortage_text(shortage, bytes_text(units));
    return window_text(out);
}

QString short_text(const TimedPlan& report, ByteUnits units) {
    QStringList parts;
    const auto add = [&](const QString& name, const Fit::OfMemory& tier) {
        if (tier.shortfall() > 0)
            parts << QStringLiteral("%1 short %2")
                         .arg(name, byte_text(static_cast<double>(tier.shortfall()), units));
    };
    add(QStringLiteral("device"), report.plan.fit.device());
    add(report.plan.unified_memory ? QStringLiteral("shared memory") : QStringLiteral("host"),
        report.plan.fit.host());
    add(QStringLiteral("storage"), report.plan.fit.storage());
    return parts.join(QStringLiteral(", "));
}

QStringList comparison_sentences(const Comparison& comparison) {
    QStringList out;
    for (const auto& sentences : {verdict(comparison), comparison.left_out})
        for (const std::string& sentence : sentences) {
            QString words = window_text(sentence);
            words[0] = words[0].toUpper();
            out << words + QLatin1Char('.');
        }
    return out;
}

QString system_sentence(const Comparison& comparison, const ComparedSystem& system,
                        ByteUnits units) {
    const Prediction& r = system.report;
    const std::string with = fmt::format(" with {}", settings_text(shown_settings(r)));
    if (!system.fits())
        return window_text(
            fmt::format("{}{} does not fit: {}.", system.name, with,
                        fmt::join(misfit_words(comparison, system, bytes_text(units)), "; ")));
    return qtext(fmt::format("{}{}: {} tokens/s, {} a step, bound by {}.", system.name, with,
                             format_thousands(r.tokens_per_s()), format_seconds(r.step.seconds),
                             bottleneck_text(r.step)));
}

QString validation_sentence(const Validation& validation) {
    const GroupSummary& all = validation.summaries.back();
    std::string words =
        fmt::format("{}: {} run{}", validation.machine_id, all.runs, all.runs == 1 ? "" : "s");
    words += summary_words("mean error of tokens/s", all.throughput);
    words += summary_words("device memory", all.device);
    words += summary_words("host memory", all.host);
    if (all.with_band > 0)
        words += fmt::format("; {} of {} steps within the predicted 5 to 95%", all.in_band,
                             all.with_band);
    return qtext(words + "." + groups_words(validation.summaries));
}

}  // namespace sluice
