#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "sim/answers/cost/run_limits.h"
#include "sim/answers/decision/decision.h"
#include "sim/report/answers/answer_reports.h"
#include "sim/report/answers/findings.h"
#include "sim/report/report.h"
#include "sim/report/to_svg.h"
#include "sim/specs/scenario/field_label.h"

namespace sluice {
namespace {

// Pictures stay black on white in dark mode, since their colours are chosen for white.
constexpr const char* kStyle =
    "body{max-width:1240px;margin:24px auto;padding:0 24px;line-height:1.4}"
    "h1{font-size:24px;margin-bottom:4px}h2{font-size:18px;margin-top:32px}h3{font-size:14px}"
    ".meta{color:#555;font-size:13px}"
    ".answer{border-left:4px solid #0072b2;padding:4px 16px;margin:20px 0}"
    ".answer p:first-child{font-size:17px;font-weight:bold}"
    "td{vertical-align:top;font-variant-numeric:tabular-nums}"
    "tr.marked td{background:#e3f0f9}"
    "li{margin:3px 0;overflow-wrap:anywhere}"
    "figure{margin:0 0 24px;background:#fff;color:#222;overflow-x:auto}"
    "figcaption{font-weight:bold;padding:6px 0}figure svg{margin:0}"
    "@media (prefers-color-scheme:dark){"
    "body{color:#ddd;background:#161616}.meta{color:#aaa}"
    "th,td{border-bottom-color:#444}tr.marked td{background:#12344a}.group td{background:#2a2a2a}"
    "figure{padding:8px;border-radius:4px}}"
    "@media print{@page{size:A4 landscape;margin:12mm}"
    "body{max-width:none;margin:0;padding:0;color:#000;background:#fff;font-size:10pt}"
    "table{font-size:8pt}th,td{padding:2px 4px;border-bottom-color:#bbb}td.text{min-width:4em}"
    ".wide{overflow:visible}"
    "figure,tr,.answer{break-inside:avoid}h2,h3{break-after:avoid}thead{display:table-header-group}"
    "tr.marked td{background:#e3f0f9;color:#000}.meta{color:#333}}";

std::string value_text(const Quantity& quantity) {
    if (!quantity.value) return "not known";
    if (!quantity.low) return fmt::format("{:.6g}", *quantity.value);
    return fmt::format("{:.6g} ({:.6g} to {:.6g})", *quantity.value, *quantity.low, *quantity.high);
}

/// Estimates are bold.
Table sources_table(const Candidate& c) {
    Table out{
        {{"", "number"}, {"", "value"}, {"", "method"}, {"", "date"}, {"", "source and note"}}};
    const auto add = [&](const auto& entry, std::string value) {
        const bool estimated = entry.method == Method::estimated;
        out.rows.push_back(
            {{entry.path, std::move(value), Cell(method_name(entry.method)).with_mark(estimated),
              entry.date, entry.note.empty() ? entry.source : entry.source + ". " + entry.note},
             "",
             estimated});
    };
    const std::set<std::string> used = numbers_used(c);
    for (const Quantity& one : c.profile.quantities)
        if (used.contains(one.path)) add(one, value_text(one));
    for (const Curve& one : c.profile.curves)
        if (used.contains(one.path)) add(one, format_number_of(std::ssize(one.points), "point"));
    for (const KernelEntry& one : c.profile.kernels)
        add(one, format_number_of(std::ssize(one.measured.points), "shape"));
    const auto add_given = [&](const std::string& flag, const std::string& value) {
        out.rows.push_back(
            {{fields_for_flags(flag), value, "given", "", "given with the question"}});
    };
    const auto& payment = c.cost.payment;
    if (payment && payment->given) add_given(payment->given->flag, payment->given->price);
    if (c.cost.energy && c.cost.power.host_given)
        add_given("--host-watts",
                  fmt::format("{:g} W of host power for each GPU", *c.cost.power.host_w));
    return out;
}

std::string section(const std::string& title, const std::string& content) {
    return content.empty() ? "" : html_element("h2", title) + content;
}

/// A page may be read by people who have no command line.
std::string page_list(std::vector<std::string> sentences) {
    for (std::string& one : sentences) one = fields_for_flags(one);
    return html_list(sentences);
}

std::string answer_box(const Decision& decision) {
    std::string out = "<div class=\"answer\">\n";
    for (const std::string& sentence : answer(decision))
        out += html_element("p", fields_for_flags(sentence));
    return out + "</div>\n";
}

std::string machines_part(const Decision& decision) {
    std::vector<std::string> columns = {"machine ",
                                        "fits",
                                        "meets",
                                        "tokens_per_s",
                                        "tokens_per_s_{}_percent",
                                        "days",
                                        "run_usd",
                                        "run_kwh",
                                        "runs_today.runs",
                                        "states",
                                        "products",
                                        "tokens_a_step",
                                        "bottleneck",
                                        "device_peak_bytes",
                                        "device_usable_bytes",
                                        "host_peak_bytes",
                                        "host_usable_bytes",
                                        "paid_for",
                                        "usd_per_hour",
                                        "usd_per_million_tokens",
                                        "usd_per_million_tokens_{}_percent",
                                        "usd_per_million_tokens_of_a_full_node",
                                        "confidence",
                                        "short"};
    if (std::ranges::any_of(decision.candidates,
                            [](auto& c) { return c.cost.payment && c.cost.run.usd_at_once > 0; }))
        columns.insert(std::ranges::find(columns, "run_usd") + 1, "spent_usd");
    return to_html(select(decision_machines_table(decision), columns)) +
           html_element("p",
                        "5 to 95%: nine of ten steps should lie there. Energy and money follow "
                        "the speed. A rent pays for the largest share that a plan takes of its "
                        "node, in whole GPUs.");
}

std::string other_systems(const Decision& decision) {
    if (!decision.other) return "";
    std::vector<std::string> notes = decision.other->left_out;
    for (const ComparedSystem& system : decision.other->systems)
        if (!system.fits())
            notes.push_back(fmt::format("{}: {}", system.name,
                                        fmt::join(misfit_words(*decision.other, system), "; ")));
    const bool cluster = decision.best()->report().asked.training.schedule->several_gpus;
    const char* const settings =
        decision.request.chosen_beside
            ? "Each system has its own schedule, with its fastest plan for the batch."
        : cluster ? "Each system has its own schedule, with the batch above on one GPU."
        : decision.request.advise
            ? "Each system has its own schedule and uses the settings above that it has; the best "
              "settings of each were not searched."
            : "Each system has its own schedule and uses the settings above that it has.";
    return html_element("p", settings) + to_html(systems_and_memory(*decision.other)) +
           page_list(notes);
}

/// Every way to do the run that was asked, the cheapest first.
std::string ranked_ways(const Decision& decision) {
    if (!decision.ranked) return "";
    const auto& [question, ways] = *decision.ranked;
    return html_element("p", fields_for_flags(ways_summary(question, ways))) +
           to_html(ways_table(question, ways));
}

std::string upgrades(const Decision& decision) {
    if (!decision.upgrades) return "";  // they are predicted for one machine, not for a cluster
    const Sensitivity& all = *decision.upgrades;
    const std::string settings = all.base_settings.empty()
                                     ? "the settings above"
                                     : fmt::format("the settings above and {}, which are faster",
                                                   setting_words(all.base_settings));
    return html_element(
               "p", fmt::format(
                        "Starting from {} tokens/s, with {}. Upgrades without settings keep these.",
                        format_thousands(all.base.tokens_per_s()), settings)) +
           to_html(upgrades_table(all)) + page_list(all.not_possible);
}

std::string track_record(const Decision& decision) {
    std::vector<std::string> sentences;
    for (const TrackRecord& record : decision.record)
        sentences.push_back(track_record_words(record));
    return html_list(sentences) +
           html_element("p",
                        "Machines with confidence transferred or datasheet were not calibrated: "
                        "their band is wider, and no such record supports it.");
}

std::string scenario_names(const Project& project) {
    std::vector<std::string> names;
    for (const PlannedScenario& one : project.scenarios) names.push_back(one.name);
    return fmt::format("{}", fmt::join(names, "; "));
}

/// The assumptions of predictions and costs, each once, with the machines that depend on it.
std::string assumptions(const Decision& decision) {
    Comparison all;
    for (const Candidate& c : decision.candidates) {
        ComparedSystem& system = all.systems.emplace_back();
        system.name = c.name;
        system.report.plan.assumptions = c.report().plan.assumptions;
        for (const std::string& sentence : c.cost.assumptions)
            system.report.plan.assumptions.push_back("cost: " + sentence);
        if (!c.cost.missing.empty())
            system.report.plan.assumptions.push_back("cost: buying is left out: " + c.cost.missing);
    }
    std::string out;
    for (const auto& [machines, sentences] : grouped_assumptions(all))
        out += html_element("h3", machines.size() == all.systems.size() && machines.size() > 1
                                      ? "all machines"
                                      : fmt::format("{}", fmt::join(machines, ", "))) +
               page_list(sentences);
    return out;
}

std::string all_sources(const Decision& decision) {
    std::string out =
        html_element("p",
                     "Each number's name ends with its unit. Estimates are bold: arithmetic, an "
                     "assumption, a third party's guess or a measurement on another machine.");
    for (const Candidate& c : decision.candidates)
        out += html_element("h3", c.name + ": " + c.machine.name) + to_html(sources_table(c));
    return out;
}

}  // namespace

std::string decision_text(const Decision& decision) {
    std::string out = question(decision) + "\n\n";
    for (const std::string& sentence : answer(decision)) out += sentence + "\n";
    if (!decision.request.advise) out += "--advise searches other settings, too.\n";
    return out + "\n" +
           to_text(select(
               decision_machines_table(decision),
               {"machine", "fits", "tokens_per_s", "tokens_per_s_{}_percent", "runs_today.runs",
                "states", "products", "tokens_a_step", "device_peak_bytes", "host_peak_bytes",
                "usd_per_hour", "usd_per_million_tokens", "usd_per_million_tokens_of_a_full_node",
                "days", "confidence", "short"})) +
           "\n" + to_text(select(decision_settings_table(decision), {"machine", "flags"}));
}

std::string decision_html(const Decision& decision) {
    const std::string title = question(decision);
    std::string body =
        html_element("h1", title) +
        html_element("p",
                     fmt::format("{}; predicted by sluice {}", decision.request.date,
                                 decision.request.version),
                     "meta") +
        answer_box(decision) + section("Machines", machines_part(decision)) +
        section(decision.request.advise          ? "Settings: the best found for each machine"
                : decision.request.chosen_beside ? "Settings: the fastest plan of each machine"
                                                 : "Settings: as given",
                to_html(select(decision_settings_table(decision), {"machine", "settings"}))) +
        section("Pictures", decision_pictures(decision));
    if (const Candidate* const best = decision.best())
        body +=
            section("Ways to pay for " + best->name, ways_to_pay_html(best->cost, best->together));
    if (decision.chosen)
        body +=
            section("Other systems on " + decision.best()->machine.id, other_systems(decision)) +
            section("Gains of upgrades of " + decision.best()->name, upgrades(decision));
    if (decision.ranked)
        body += section(
            fmt::format("All ways for {} on {}{}", task_name(decision.ranked->question.task),
                        tokens_words(decision.ranked->question),
                        limits_words(decision.ranked->question.limits)),
            ranked_ways(decision));
    body += "<div class=\"appendix\">\n" +
            section("How good predictions have been", track_record(decision)) +
            section("Assumptions", assumptions(decision)) +
            section("Numbers and their sources", all_sources(decision)) + "</div>\n";
    if (const auto project = decision_project(decision))
        body += section("Open this page again",
                        html_element("p",
                                     "This file carries the scenarios of its machines. File, Open "
                                     "in the planner shows them, and sluice predict --scenario "
                                     "FILE:NAME predicts one of: " +
                                         scenario_names(*project) + ".")) +
                project_element(*project);
    return html_page(title, std::string(html_table_style()) + kStyle, body);
}

}  // namespace sluice
