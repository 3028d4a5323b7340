#include <fmt/format.h>

#include "sim/report/format.h"
#include "sim/report/svg_text.h"
#include "sim/validate/validation_svg.h"

namespace sluice {
namespace {

constexpr const char* kStyle =
    "body{font-family:sans-serif;margin:24px;color:#222;background:#fff}"
    "table{border-collapse:collapse;margin:12px 0 24px;font-size:13px}"
    "th,td{padding:3px 8px;text-align:right;border-bottom:1px solid #ddd;white-space:nowrap}"
    "th{border-bottom:2px solid "
    "#888;white-space:normal;vertical-align:bottom}td:first-child,th:first-child{text-align:left}"
    ".group td{font-weight:bold;background:#f1f1f1;text-align:left}"
    ".wide{overflow-x:auto}svg{display:block;margin:0 0 24px;max-width:100%;height:auto}";

std::string cells(const std::vector<std::string>& texts, const char* tag) {
    std::string out = "<tr>";
    for (const std::string& text : texts)
        out += fmt::format("<{0}>{1}</{0}>", tag, escape_xml(text));
    return out + "</tr>\n";
}

std::string run_row(const RunComparison& c) {
    std::string band = "-";
    if (c.in_band()) {
        const int out = c.run.process_count() - *c.steps_in_band();
        band = fmt::format("{} to {}{}", format_seconds(c.predicted.step_low),
                           format_seconds(c.predicted.step_high),
                           out == 0                     ? ""
                           : c.run.process_count() == 1 ? ", outside"
                                                        : fmt::format(", {} outside", out));
    }
    const auto spread = c.run.process_spread();
    return cells({c.run.name, format_seconds(c.run.step), format_seconds(c.predicted.step),
                  format_error(c.step_error()), band, format_thousands(c.run.tokens_per_s()),
                  format_thousands(c.predicted.tokens_per_s()), format_error(c.throughput_error()),
                  format_error(c.device_error()), format_error(c.host_error()),
                  fmt::format("{}", c.run.process_count()),
                  spread ? fmt::format("{:.1f}%", 100 * *spread) : "-"},
                 "td");
}

std::string runs_table(const Validation& v) {
    std::string out =
        "<div class=\"wide\"><table>\n" +
        cells({"run", "measured step", "predicted", "error", "5 to 95%", "measured tokens/s",
               "predicted", "error", "device", "host", "processes", "spread"},
              "th");
    const std::vector<std::string> groups = group_names(v.runs);
    for (const std::string& group : groups) {
        if (groups.size() > 1)
            out += fmt::format("<tr class=\"group\"><td colspan=\"12\">{}</td></tr>\n",
                               escape_xml(group));
        for (const RunComparison& c : v.runs)
            if (c.run.group == group) out += run_row(c);
    }
    return out + "</table></div>\n";
}

std::string mean_and_worst(const ErrorSummary& errors) {
    if (errors.count == 0) return "-";
    return fmt::format("{:.1f}%, {}", 100 * errors.mean_absolute, format_error(errors.worst));
}

std::string summary_table(const Validation& v) {
    std::string out = "<table>\n" + cells({"errors: mean, worst", "runs", "processes", "tokens/s",
                                           "device memory", "host memory", "Kendall's tau-b",
                                           "steps within 5 to 95%"},
                                          "th");
    for (const GroupSummary& s : v.summaries)
        out += cells(
            {s.group.empty() ? "all" : s.group, fmt::format("{}", s.runs),
             fmt::format("{}", s.processes), mean_and_worst(s.throughput), mean_and_worst(s.device),
             mean_and_worst(s.host), s.tau_b ? fmt::format("{:.2f}", *s.tau_b) : "-",
             s.with_band > 0 ? fmt::format("{} of {}", s.in_band, s.with_band) : "-"},
            "td");
    return out + "</table>\n";
}

}  // namespace

std::string validation_html(const Validation& v) {
    const std::string title =
        escape_xml(fmt::format("Predicted against measured: {}", v.machine_id));
    std::string notes;
    if (const auto spread = process_spread(v.runs))
        notes += fmt::format(
            "<p>Processes of one configuration ({} in {}) differ from the mean of their steps by "
            "{:.1f}% on average, worst {:.1f}% ({}): no prediction can be nearer to "
            "single processes.</p>\n",
            spread->processes, spread->configurations, 100 * spread->mean, 100 * spread->worst,
            escape_xml(spread->worst_name));
    for (const auto* sentences : {&v.other_machines, &v.left_out})
        for (const std::string& sentence : *sentences)
            notes += fmt::format("<p>{}</p>\n", escape_xml(sentence));
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title>"
        "<style>{1}</style></head><body>\n<h1>{0}</h1>\n"
        "<p>An error is predicted / measured - 1.{2}</p>\n{3}{4}{5}{6}{7}</body></html>\n",
        title, kStyle,
        v.machine_changes.empty()
            ? ""
            : escape_xml(fmt::format(" What-if: {}", fmt::join(v.machine_changes, " "))),
        summary_table(v), scatter_svg(v), error_bars_svg(v), runs_table(v), notes);
}

}  // namespace sluice
