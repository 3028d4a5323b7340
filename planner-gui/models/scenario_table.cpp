#include "planner-gui/models/scenario_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <set>

#include "planner-gui/pictures/answer_words.h"
#include "sim/answers/compare/comparison.h"
#include "sim/base/format.h"
#include "sim/report/report.h"

namespace sluice {
namespace {

std::string bytes_of(const Fit::OfTier& tier, ByteUnits units) {
    const BytesText bytes = bytes_text(units);
    return fmt::format("{} of {}", bytes(static_cast<double>(tier.peak.bytes)),
                       bytes(static_cast<double>(tier.usable)));
}

bool shown_always(const Option& option) {
    const std::string_view field = option.field;
    return field == "schedule" || field == "batch" || field == "seq";
}

/// The option's name: "Micro batch" for micro_batch.
std::string option_name(const Option& option) {
    std::string name = option.field;
    if (name == "schedule") return "System";
    std::replace(name.begin(), name.end(), '_', ' ');
    name[0] = static_cast<char>(std::toupper(name[0]));
    return name;
}

std::string banded(const Banded& number, int digits) {
    const auto one = [&](double value) {
        return value < 1000 ? fmt::format("{:.{}f}", value, digits) : format_thousands(value);
    };
    if (number.high <= 0) return one(number.value);
    return fmt::format("{} ({} to {})", one(number.value), one(number.low), one(number.high));
}

/// Shortened to three lines.
std::string shortened(const QString& name) {
    constexpr int kMost = 54;
    return (name.size() <= kMost ? name : name.left(kMost - 1).trimmed() + QChar(0x2026))
        .toStdString();
}

/// A quantity: its name, its meaning, and its text for a scenario.
struct Comparing {
    std::string name, tooltip;
    std::function<std::string(const ComparedScenario&)> words;
};

/// The text for a scenario that fits; times and money of one that does not fit are not meaningful.
template <typename Words>
auto if_fits(Words words) {
    return [words](const ComparedScenario& s) {
        return s.report->plan.fit.fits() ? std::string(words(*s.report)) : "-";
    };
}

template <typename Words>
auto of_run(Words words) {
    return [words](const ComparedScenario& s) {
        return s.cost && s.report->plan.fit.fits() ? std::string(words(*s.cost, s)) : "-";
    };
}

std::vector<Comparing> asked() {
    std::vector<Comparing> out = {
        {"Model", "", [](const ComparedScenario& s) { return s.report->asked.model_name; }},
        {"Parameters", "",
         [](const ComparedScenario& s) {
             return format_count(static_cast<double>(s.report->asked.parameters));
         }},
        {"Layers", "",
         [](const ComparedScenario& s) { return std::to_string(s.report->asked.layers); }},
        {"Machine", "", [](const ComparedScenario& s) { return s.report->asked.machine_id; }},
        {"Changes of the machine", "What-if values, as flags of the command line",
         [](const ComparedScenario& s) {
             const auto& changes = s.report->asked.machine_changes;
             return changes.empty() ? "none" : fmt::format("{}", fmt::join(changes, " "));
         }}};
    for (const Option& option : training_options())
        out.push_back({option_name(option), option.help, [&option](const ComparedScenario& s) {
                           const TrainingSpec& training = s.report->asked.training;
                           return has_option(training.schedule, option)
                                      ? option_text(training, option)
                                      : "-";
                       }});
    return out;
}

std::vector<Comparing> answered(ByteUnits units) {
    return {
        {"Fits", "Whether the peaks fit into device memory, host memory and storage",
         [units](const ComparedScenario& s) {
             return s.report->plan.fit.fits() ? "yes"
                                              : "no: " + short_text(*s.report, units).toStdString();
         }},
        {"Tokens/s", "Batch x sequence / step",
         if_fits([](auto& r) { return format_thousands(r.tokens_per_s()); })},
        {"Runs today", "The program that trains this model on this machine today",
         [](const ComparedScenario& s) {
             const RunsToday& today = s.report->asked.runs_today;
             return today.runs() ? today.program : "no: " + today.why_not;
         }},
        {"5 to 95%", "Nine of ten measured steps should lie there",
         if_fits([](auto& r) { return cell_text(range_of(r.speed()), Unit::whole); })},
        {"Step", "", if_fits([](auto& r) { return format_seconds(r.step.seconds); })},
        {"$ per million tokens", "$ an hour / tokens an hour, with the band of the step",
         of_run([](auto& c, auto& s) {
             return s.priced ? format_usd(c.usd_per_million_tokens.value) : "no price";
         })},
        {"Tokens of the run", "",
         [](const ComparedScenario& s) { return s.cost ? format_count(s.cost->tokens) : "-"; }},
        {"$ of the run", "For all its tokens, 5 to 95% in brackets",
         of_run([](auto& c, auto& s) { return s.priced ? format_usd(c.usd) : "no price"; })},
        {"kWh of the run", "Energy of the GPUs and, if known, of the host",
         of_run([](auto& c, auto&) {
             return c.kwh ? banded(*c.kwh, c.kwh->value < 100 ? 1 : 0) : "not known";
         })},
        {"Days of the run", "Tokens / tokens a day",
         of_run([](auto& c, auto&) { return banded(c.days, 1); })},
        {"Device peak", "Peak memory, and the size of device memory",
         [units](const ComparedScenario& s) { return bytes_of(s.report->plan.fit.device, units); }},
        {"Host peak", "Peak memory, and the size of host memory",
         [units](const ComparedScenario& s) { return bytes_of(s.report->plan.fit.host, units); }},
        {"Bottleneck", "The lane with the largest share of the step's critical path",
         [](const ComparedScenario& s) { return bottleneck_text(s.report->step); }},
        {"Confidence", "The weakest origin among the rates that the prediction uses",
         [](const ComparedScenario& s) -> std::string {
             return confidence_name(s.report->plan.confidence);
         }}};
}

Row row_of(const Comparing& quantity, const std::vector<ComparedScenario>& scenarios) {
    Row row{{quantity.name}};
    for (const ComparedScenario& scenario : scenarios) {
        row.cells.emplace_back(quantity.words(scenario));
        row.marked = row.marked || quantity.words(scenario) != quantity.words(scenarios.front());
    }
    row.tooltip = quantity.tooltip;
    return row;
}

}  // namespace

Table scenario_table(const std::vector<ComparedScenario>& scenarios, ByteUnits units) {
    Table out;
    if (scenarios.empty()) return out;
    out.columns.push_back({" ", "Quantity", Unit::text, "", Programs::csv});
    for (const ComparedScenario& scenario : scenarios)
        out.columns.push_back({scenario.name.toStdString(), shortened(scenario.name), Unit::text,
                               scenario.name.toStdString(), Programs::csv});
    std::set<std::string> if_differing;
    for (const Option& option : training_options())
        if (!shown_always(option)) if_differing.insert(option_name(option));
    for (const Comparing& quantity : asked()) {
        Row row = row_of(quantity, scenarios);
        if (row.marked || !if_differing.contains(quantity.name)) out.rows.push_back(std::move(row));
    }
    for (const Comparing& quantity : answered(units))
        out.rows.push_back(row_of(quantity, scenarios));
    return out;
}

BarChart scenario_bars(const std::vector<ComparedScenario>& scenarios, ByteUnits units) {
    BarChart chart;
    chart.title = "Scenarios";
    chart.subtitle = "predicted tokens/s";
    chart.note =
        "Thin line: nine of ten steps should lie there. Grey: does not fit; the length is the "
        "speed "
        "without that limit.";
    chart.groups.emplace_back();
    for (const ComparedScenario& scenario : scenarios) {
        const Prediction& r = *scenario.report;
        Bar bar;
        bar.name = scenario.name.toStdString();
        bar.value = r.tokens_per_s();
        bar.low = r.speed().low;
        bar.high = r.speed().high;
        bar.label = format_thousands(bar.value);
        if (!r.plan.fit.fits()) bar.misfit = short_text(r, units).toStdString();
        bar.colour = paint(Role::pointed_out);
        bar.tooltip =
            fmt::format("{}\n{} on {}, {}\n{} tokens/s, {} a step", bar.name, r.asked.model_name,
                        r.asked.machine_id, r.asked.training.schedule->name,
                        format_thousands(bar.value), format_seconds(r.step.seconds));
        chart.groups.front().bars.push_back(std::move(bar));
    }
    return chart;
}

}  // namespace sluice
