#include "planner-gui/models/system_table.h"

#include <fmt/format.h>

#include "sim/answers/compare/findings.h"
#include "sim/base/format.h"
#include "sim/report/report.h"

namespace sluice {
namespace {

QString text(const std::string& words) { return QString::fromStdString(words); }

Cell bytes_cell(const Fit::OfTier& tier, ByteUnits units) {
    return {byte_text(static_cast<double>(tier.peak.bytes), units),
            static_cast<double>(tier.peak.bytes),
            QStringLiteral("of %1").arg(byte_text(static_cast<double>(tier.usable), units)),
            tier.shortfall() > 0};
}

/// What does not fit has no speed.
Cell speed_cell(bool fits, double number, const std::string& words) {
    if (!fits) return {QStringLiteral("-")};
    return {text(words), number};
}

std::vector<Cell> row_of(const Comparison& comparison, const ComparedSystem& system,
                         ByteUnits units) {
    const Prediction& r = system.report;
    const bool fits = system.fits();
    const auto relative = relative_speed(comparison, system);
    const auto [lane, share] = bound_of(r);
    std::vector<Cell> row;
    row.push_back({text(system.name),
                   {},
                   text(fmt::format("keeps {}\n{}", states_of(r.asked.training),
                                    settings_text(own_settings(r.asked.training))))});
    row.push_back(
        {fits ? QStringLiteral("yes") : QStringLiteral("no"),
         {},
         fits ? QString()
              : text(fmt::format(
                    "{}", fmt::join(misfit_words(comparison, system, bytes_text(units)), "\n"))),
         !fits});
    row.push_back(speed_cell(fits, r.tokens_per_s(), format_thousands(r.tokens_per_s())));
    row.push_back(
        fits && r.band
            ? Cell{text(fmt::format("{} to {}", format_thousands(r.tokens_per_s_at(r.band->high)),
                                    format_thousands(r.tokens_per_s_at(r.band->low)))),
                   r.tokens_per_s_at(r.band->high)}
            : Cell{QStringLiteral("-")});
    row.push_back(relative ? Cell{text(fmt::format("{:.2f}x", *relative)), *relative}
                           : Cell{QStringLiteral("-")});
    row.push_back(speed_cell(fits, r.step.seconds, format_seconds(r.step.seconds)));
    row.push_back(bytes_cell(r.plan.fit.device, units));
    row.push_back(bytes_cell(r.plan.fit.host, units));
    row.push_back({fits ? text(fmt::format("{} {}", lane_label(lane), format_percent(share)))
                        : QStringLiteral("-"),
                   {},
                   text(bottleneck_text(r.step))});
    const double usd = r.usd_per_million_tokens_at(r.step.seconds);
    row.push_back(r.cost ? speed_cell(fits, usd, format_usd(usd)) : Cell{QStringLiteral("-")});
    row.push_back({text(confidence_name(r.plan.confidence))});
    return row;
}

}  // namespace

CellTable system_table(const Comparison& comparison, ByteUnits units) {
    CellTable table;
    table.columns = {
        {QStringLiteral("System"), QStringLiteral("Whose order of operations"),
         QStringLiteral("system")},
        {QStringLiteral("Fits"), {}, QStringLiteral("fits")},
        {QStringLiteral("Tokens/s"), QStringLiteral("Batch x sequence / step"),
         QStringLiteral("tokens_per_s")},
        {QStringLiteral("5 to 95%"), QStringLiteral("Nine of ten measured steps should lie there"),
         QStringLiteral("tokens_per_s_5_to_95_percent")},
        {QStringLiteral("Speed"), QStringLiteral("Tokens/s as a multiple of streamed's"),
         QStringLiteral("relative_speed")},
        {QStringLiteral("Step"), {}, QStringLiteral("step_s")},
        {QStringLiteral("Device"), QStringLiteral("Most bytes at once on the device"),
         QStringLiteral("device_bytes")},
        {QStringLiteral("Host"), QStringLiteral("Most bytes at once on the host"),
         QStringLiteral("host_bytes")},
        {QStringLiteral("Bound by"),
         QStringLiteral("Lane with the largest share of the step's critical path"),
         QStringLiteral("bound_by")},
        {QStringLiteral("$/M tokens"), QStringLiteral("At the typical rent of its GPUs"),
         QStringLiteral("usd_per_million_tokens")},
        {QStringLiteral("Confidence"), {}, QStringLiteral("confidence")}};
    for (const ComparedSystem& system : comparison.systems)
        table.rows.push_back(row_of(comparison, system, units));
    return table;
}

QStringList comparison_sentences(const Comparison& comparison) {
    QStringList out;
    for (const auto& sentences : {verdict(comparison), comparison.left_out})
        for (const std::string& sentence : sentences) {
            QString words = text(sentence);
            words[0] = words[0].toUpper();
            out << words;
        }
    return out;
}

QString system_sentence(const Comparison& comparison, const ComparedSystem& system,
                        ByteUnits units) {
    const Prediction& r = system.report;
    const std::string settings = settings_text(own_settings(r.asked.training));
    const std::string with = settings.empty() ? "" : fmt::format(" with {}", settings);
    if (!system.fits())
        return text(
            fmt::format("{}{} does not fit: {}.", system.name, with,
                        fmt::join(misfit_words(comparison, system, bytes_text(units)), "; ")));
    return text(fmt::format("{}{}: {} tokens/s, {} a step, bound by {}.", system.name, with,
                            format_thousands(r.tokens_per_s()), format_seconds(r.step.seconds),
                            bottleneck_text(r.step)));
}

}  // namespace sluice
