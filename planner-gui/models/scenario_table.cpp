#include "planner-gui/models/scenario_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "planner-gui/pictures/answer_words.h"
#include "sim/answers/compare/comparison.h"
#include "sim/base/format.h"
#include "sim/report/report.h"

namespace sluice {
namespace {

Cell bytes_of(const Fit::OfMemory& tier, ByteUnits units) {
    const BytesText bytes = bytes_text(units);
    return Cell(tier.peak.bytes)
        .shown_as(fmt::format("{} of {}", bytes(static_cast<double>(tier.peak.bytes)),
                              bytes(static_cast<double>(tier.usable))));
}

bool shown_always(const Option& option) {
    const std::string_view field = option.field;
    return field == "schedule" || field == "batch" || field == "seq";
}

constexpr std::size_t kThreeLines = 54;  // letters

/// A quantity: its name, its meaning, and its value for a scenario.
struct Comparing {
    std::string name, tooltip;
    std::function<Cell(const ComparedScenario&)> cell;
    std::string unit = {};  ///< of the numbers in CSV
};

/// The text for a scenario that fits; times and money of one that does not fit are not meaningful.
template <typename Words>
auto if_fits(Words words) {
    return [words](const ComparedScenario& s) {
        return s.report->plan.fit.fits() ? Cell(words(*s.report)) : Cell();
    };
}

template <typename Words>
auto of_run(Words words) {
    return [words](const ComparedScenario& s) {
        return s.cost && s.report->plan.fit.fits() ? Cell(words(*s.cost, s)) : Cell();
    };
}

std::vector<Comparing> asked() {
    std::vector<Comparing> out = {
        {"Model", "", [](const ComparedScenario& s) { return s.report->asked.model_name; }},
        {"Parameters", "",
         [](const ComparedScenario& s) {
             return Cell(s.report->asked.parameters)
                 .shown_as(format_count(static_cast<double>(s.report->asked.parameters)));
         }},
        {"Layers", "", [](const ComparedScenario& s) { return s.report->asked.layers; }},
        {"Machine", "",
         [](const ComparedScenario& s) {
             const std::string& id = s.report->asked.machine_id;
             return Cell(id).cut_as(cut_to_letters(id, kMostNameLetters));
         }},
        {"Changes of the machine", "What-if values, as flags of the command line",
         [](const ComparedScenario& s) {
             const auto& changes = s.report->asked.machine_changes;
             return changes.empty() ? "none" : fmt::format("{}", fmt::join(changes, " "));
         }}};
    for (const Option& option : training_options())
        out.push_back(
            {field_label(option.field), option.help, [&option](const ComparedScenario& s) {
                 const TrainingSpec& training = s.report->asked.training;
                 if (!has_option(training.schedule, option)) return Cell();
                 const std::string text = option_text(training, option);
                 return option.choices.empty() && option.members.empty()
                            ? Cell(option.get(training)).shown_as(text)
                            : Cell(text);
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
        {"Tokens/s", "Batch x sequence / step", if_fits([](auto& r) {
             return Cell(r.tokens_per_s()).shown_as(format_thousands(r.tokens_per_s()));
         })},
        {"Runs today", "The program that trains this model on this machine today",
         [](const ComparedScenario& s) {
             const RunsToday& today = s.report->asked.runs_today;
             return Cell(today.runs() ? today.program : "no: " + today.why_not);
         }},
        {"5 to 95%", "Nine of ten measured steps should lie there",
         if_fits([](auto& r) { return Cell(cell_text(range_of(r.speed()), Unit::whole)); })},
        {"Step", "", if_fits([](auto& r) {
             return Cell(r.step.seconds).shown_as(format_seconds(r.step.seconds));
         }),
         "s"},
        {"$ per million tokens", "$ an hour / tokens an hour, with the band of the step",
         of_run([](auto& c, auto& s) {
             const double usd = c.usd_per_million_tokens.value;
             return s.priced ? Cell(usd).shown_as(format_usd(usd)) : Cell().shown_as("no price");
         })},
        {"Tokens of the run", "",
         [](const ComparedScenario& s) {
             return s.cost ? Cell(s.cost->tokens).shown_as(format_count(s.cost->tokens)) : Cell();
         }},
        {"$ of the run", "For all its tokens, 5 to 95% in brackets", of_run([](auto& c, auto& s) {
             return s.priced ? Cell(c.usd.value).shown_as(format_usd(c.usd))
                             : Cell().shown_as("no price");
         })},
        {"kWh of the run",
         "Energy of the GPUs and their part of the host; a ceiling where only datasheets are known",
         of_run([](auto& c, auto&) {
             return c.kwh ? Cell(c.kwh->value).shown_as(format_kwh(c))
                          : Cell().shown_as("not known");
         })},
        {"Time of the run", "Tokens / speed",
         of_run([](auto& c, auto&) { return Cell(c.days.value).shown_as(format_days(c.days)); })},
        {"Device peak", "Peak memory, and the size of device memory",
         [units](const ComparedScenario& s) {
             return bytes_of(s.report->plan.fit.device(), units);
         },
         "bytes"},
        {"Host peak", "Peak memory, and the size of host memory",
         [units](const ComparedScenario& s) { return bytes_of(s.report->plan.fit.host(), units); },
         "bytes"},
        {"Bottleneck", "The lane with the largest share of the step's critical path",
         [](const ComparedScenario& s) { return bottleneck_text(s.report->step); }},
        {"Confidence", "The weakest origin among the rates that the prediction uses",
         [](const ComparedScenario& s) -> std::string {
             return confidence_name(s.report->plan.confidence);
         }}};
}

Row row_of(const Comparing& quantity, const std::vector<ComparedScenario>& scenarios) {
    const std::string unit = quantity.unit.empty() ? "" : " [" + quantity.unit + "]";
    Row row{{Cell(quantity.name + unit).shown_as(quantity.name)}};
    for (const ComparedScenario& scenario : scenarios) {
        row.cells.push_back(quantity.cell(scenario));
        row.marked = row.marked || row.cells.back() != row.cells[1];
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
        out.columns.push_back({scenario.name.toStdString(),
                               cut_to_letters(scenario.name.toStdString(), kThreeLines), Unit::text,
                               scenario.name.toStdString(), Programs::csv});
    for (const Comparing& quantity : answered(units))
        out.rows.push_back(row_of(quantity, scenarios));
    std::set<std::string> if_differing;
    for (const Option& option : training_options())
        if (!shown_always(option)) if_differing.insert(field_label(option.field));
    for (const Comparing& quantity : asked()) {
        Row row = row_of(quantity, scenarios);
        if (row.marked || !if_differing.contains(quantity.name)) out.rows.push_back(std::move(row));
    }
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
                        r.asked.gpus_and_machine(), r.asked.training.schedule->name,
                        format_thousands(bar.value), format_seconds(r.step.seconds));
        chart.groups.front().bars.push_back(std::move(bar));
    }
    return chart;
}

}  // namespace sluice
