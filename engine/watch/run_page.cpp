#include "engine/watch/run_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/format.h"
#include "sim/report/step_curves.h"
#include "sim/report/to_svg.h"

namespace sluice {
namespace {

std::string plain(double value) { return fmt::format("{:.4g}", value); }
std::string size(Bytes bytes) { return format_bytes(static_cast<double>(bytes)); }

struct Fact {
    std::string name, value;
};

/// "2.31 (lowest 2.30 at step 4,000)"
std::string with_lowest(const ThinnedSeries& series) {
    const std::vector<Point> points = series.points();
    const auto lowest = std::ranges::min_element(points, {}, &Point::y);
    return fmt::format("{:.4f} (lowest {:.4f} at step {})", points.back().y, lowest->y,
                       format_thousands(lowest->x));
}

/// The prediction of a step of the last one's kind.
std::optional<Seconds> expected_step(const RunFacts& facts, const StepRecord& last) {
    return last.outcome.ahead && facts.expected_step_ahead ? facts.expected_step_ahead
                                                           : facts.expected_step;
}

std::vector<Fact> facts_of(const RunPage& page) {
    std::vector<Fact> out;
    const RunFacts& facts = page.facts;
    const auto add = [&](const char* name, std::string value) {
        if (!value.empty()) out.push_back({name, std::move(value)});
    };
    if (page.last) {
        const StepRecord& last = *page.last;
        add("loss", fmt::format("{:.4f}", last.outcome.loss));
        if (const auto validation = page.history.series("validation_loss");
            !validation.points().empty())
            add("validation loss", with_lowest(validation));
        add("speed", fmt::format("{} tokens/s, {} a step", format_thousands(last.tokens_per_s()),
                                 format_seconds(last.seconds)));
        if (const auto expected = expected_step(facts, last))
            add("predicted",
                fmt::format("{} tokens/s, {} a step",
                            format_thousands(static_cast<double>(last.tokens) / *expected),
                            format_seconds(*expected)));
        if (page.measured) add("against the plan", page.measured->against_plan);
        add("norm of the gradient", plain(last.outcome.gradient_norm));
        add("learning rate", plain(last.learning_rate));
        add("device memory",
            fmt::format("{} of {} planned", size(last.device), size(facts.planned_device)));
        add("host memory",
            fmt::format("{} of {} planned", size(last.host), size(facts.planned_host)));
        if (last.gpu_joules)
            add("energy of the GPU",
                fmt::format("{:.0f} W, {} J a token", *last.gpu_joules / last.seconds,
                            plain(*last.gpu_joules / static_cast<double>(last.tokens))));
    }
    add("newest checkpoint", page.checkpoint.empty() ? "none" : page.checkpoint);
    return out;
}

/// A chart of the series that have points; empty if none has.
std::string chart(const RunPage& page, const std::string& title,
                  const std::vector<std::pair<std::string, std::string>>& keys_and_names,
                  const TickLabel& label, bool logarithmic = false, std::vector<double> levels = {},
                  std::string level_words = "") {
    StepCurves out{title, std::move(level_words), {}, label, std::move(levels), logarithmic};
    std::int64_t group = 1;
    for (const auto& [key, name] : keys_and_names) {
        const ThinnedSeries series = page.history.series(key);
        if (series.points().empty()) continue;
        out.curves.push_back({name, series.points(), key == "validation_loss"});
        group = std::max(group, series.values_per_point());
    }
    if (out.curves.empty()) return "";
    if (group > 1)
        out.subtitle += fmt::format("{}each point is the mean of {} steps",
                                    out.subtitle.empty() ? "" : "; ", group);
    return to_svg(step_curves_picture(out, {.width = 620}));
}

std::string charts(const RunPage& page) {
    std::vector<double> predicted;
    for (const auto& step : {page.facts.expected_step, page.facts.expected_step_ahead})
        if (page.last && step) predicted.push_back(static_cast<double>(page.last->tokens) / *step);
    constexpr const char* kWords[] = {
        "", "dashed: predicted",
        "dashed: predicted, above for steps that update before the norm is known"};
    std::string out = "<div class=\"charts\">\n";
    out += chart(page, "Loss", {{"loss", "training"}, {"validation_loss", "held-out data"}}, plain,
                 true);
    out += chart(page, "Tokens/s", {{"tokens_per_s", "tokens/s"}}, format_thousands, false,
                 predicted, kWords[predicted.size()]);
    out += chart(page, "Norm of the gradient, before clipping", {{"gradient_norm", "norm"}}, plain,
                 true);
    out += chart(page, "Learning rate", {{"learning_rate", "learning rate"}}, plain);
    out += chart(page, "Power of the GPU [W]", {{"gpu_power_w", "power"}}, plain);
    return out + "</div>\n";
}

std::string settings_table(const std::vector<std::pair<std::string, std::string>>& settings) {
    using Row = std::pair<std::string, std::string>;
    return html_element("h2", "Settings") + "<div class=\"facts\">\n" +
           to_html(table_of<Row>(
               settings, {{"", "setting", [](const Row& row) { return row.first; }},
                          {"", "at the start", [](const Row& row) { return row.second; }}})) +
           "</div>\n";
}

constexpr std::string_view kStyle =
    ".charts{display:flex;flex-wrap:wrap;gap:8px}"
    "th:first-child,td:first-child{text-align:left}"
    ".facts td{text-align:left}.muted{color:#666;font-size:13px}";

}  // namespace

std::string html(const RunPage& page) {
    const std::string title = fmt::format("{} on {}", page.facts.model, page.facts.device);
    std::string body = html_element("h1", title, kPageMark) + html_element("p", page.state);
    body += "<div class=\"facts\">\n" +
            to_html(table_of<Fact>(facts_of(page),
                                   {{"", "the run", [](const Fact& fact) { return fact.name; }},
                                    {"", "now", [](const Fact& fact) { return fact.value; }}})) +
            "</div>\n";
    if (!page.facts.settings.empty()) body += settings_table(page.facts.settings);
    if (!page.notes.empty()) body += html_element("h2", "Notes") + html_list(page.notes);
    body += charts(page);
    if (page.measured) {
        body += html_element("h2", "The newest measured step");
        body += to_html(page.measured->comparison) + to_svg(page.measured->step);
    }
    body += html_element(
        "p",
        page.ended
            ? fmt::format("Written {}.", page.written)
            : fmt::format("Written {}. The page loads itself again every {} seconds; an older time "
                          "than that means that the run has ended or that the step takes longer.",
                          page.written, kRefreshSeconds),
        "muted");
    return html_page(title, std::string(html_table_style()) + std::string(kStyle), body,
                     page.ended ? std::nullopt : std::optional(kRefreshSeconds));
}

}  // namespace sluice
