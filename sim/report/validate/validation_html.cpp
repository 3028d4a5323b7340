#include <fmt/format.h>

#include "sim/base/format.h"
#include "sim/report/html.h"
#include "sim/report/svg_text.h"
#include "sim/report/validate/validation_svg.h"

namespace sluice {
namespace {

std::string run_row(const RunComparison& c) {
    std::string band = "-";
    if (c.in_band()) {
        const int out = c.run.process_count() - *c.steps_in_band();
        band = fmt::format("{} to {}{}", format_seconds(c.predicted.band->low),
                           format_seconds(c.predicted.band->high),
                           out == 0                     ? ""
                           : c.run.process_count() == 1 ? ", outside"
                                                        : fmt::format(", {} outside", out));
    }
    const auto spread = c.run.process_spread();
    return html_row(
        {c.run.name, format_seconds(c.run.step), format_seconds(c.predicted.step.seconds),
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
        html_row({"run", "measured step", "predicted", "error", "5 to 95%", "measured tokens/s",
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
    std::string out = "<table>\n" + html_row({"errors: mean, worst", "runs", "processes",
                                              "tokens/s", "device memory", "host memory",
                                              "Kendall's tau-b", "steps within 5 to 95%"},
                                             "th");
    for (const GroupSummary& s : v.summaries)
        out += html_row(
            {s.group.empty() ? "all" : s.group, fmt::format("{}", s.runs),
             fmt::format("{}", s.processes), mean_and_worst(s.throughput), mean_and_worst(s.device),
             mean_and_worst(s.host), s.tau_b ? fmt::format("{:.2f}", *s.tau_b) : "-",
             s.with_band > 0 ? fmt::format("{} of {}", s.in_band, s.with_band) : "-"},
            "td");
    return out + "</table>\n";
}

}  // namespace

std::string validation_html(const Validation& v) {
    const std::string title = fmt::format("Predicted against measured: {}", v.machine_id);
    std::string notes;
    if (const auto spread = process_spread(v.runs))
        notes += fmt::format(
            "<p>Processes of one configuration ({} in {}) differ from the mean of their steps by "
            "{:.1f}% on average, worst {:.1f}% ({}): no prediction can be nearer to "
            "single processes.</p>\n",
            spread->processes, spread->configurations, 100 * spread->mean, 100 * spread->worst,
            escape_xml(spread->worst_name));
    for (const auto* sentences : {&v.other_machines, &v.left_out})
        for (const std::string& sentence : *sentences) notes += html_element("p", sentence);
    const std::string what_if =
        v.machine_changes.empty() ? ""
                                  : fmt::format(" What-if: {}", fmt::join(v.machine_changes, " "));
    return html_page(title, html_table_style(),
                     html_element("h1", title) +
                         html_element("p", "An error is predicted / measured - 1." + what_if) +
                         summary_table(v) + scatter_svg(v) + error_bars_svg(v) + runs_table(v) +
                         notes);
}

}  // namespace sluice
