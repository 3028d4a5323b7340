#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/answers/compare/findings.h"
#include "sim/base/format.h"
#include "sim/report/decision/decision_parts.h"
#include "sim/report/html.h"
#include "sim/report/search/advice_report.h"
#include "sim/report/svg_text.h"

namespace sluice {
namespace {

/// All digits for programs, some for people.
std::string number(double value, const std::string& shown) {
    return fmt::format("<data value=\"{}\">{}</data>", value, escape_xml(shown));
}

/// A cell whose content is HTML already.
std::string cell(const std::string& content) { return "<td>" + content + "</td>"; }

std::string range(double low, double high, const std::string& shown_low,
                  const std::string& shown_high) {
    return number(low, shown_low) + " to " + number(high, shown_high);
}

std::string speed_range(const Prediction& r) {
    const double low = r.tokens_per_s_at(r.band->high), high = r.tokens_per_s_at(r.band->low);
    return range(low, high, format_thousands(low), format_thousands(high));
}

std::string used_of(const Fit::OfTier& tier) {
    return number(static_cast<double>(tier.peak.bytes),
                  format_bytes(static_cast<double>(tier.peak.bytes))) +
           " of " + escape_xml(format_bytes(static_cast<double>(tier.usable)));
}

std::string bound_words(const Prediction& r) {
    const auto [lane, share] = bound_of(r);
    return fmt::format("{} {}", lane_label(lane), format_percent(share));
}

/// "29.1" as the text of `sluice cost` writes it.
std::string digits(double value) {
    return value >= 100 ? format_thousands(value) : fmt::format("{:.3g}", value);
}

std::string money_cells(const CostAnswer& answer) {
    const RunCost cost = cost_or_free(answer);
    const Banded& million = cost.usd_per_million_tokens;
    std::string out;
    if (answer.cost) {
        out += cell(number(cost.usd_per_hour, format_usd(cost.usd_per_hour)));
        out += cell(
            number(million.value, format_usd(million.value)) + "<br/><small>" +
            range(million.low, million.high, format_usd(million.low), format_usd(million.high)) +
            "</small>");
    } else {
        out += cell("not known") + cell("not known");
    }
    out += cell(number(cost.days.value, digits(cost.days.value)));
    out += cell(answer.cost ? number(cost.usd.value, format_usd(cost.usd.value)) : "not known");
    return out + cell(cost.kwh ? number(cost.kwh->value, digits(cost.kwh->value)) : "not known");
}

/// "+2.5%", with no "-0.0%".
std::string gain_text(double gain) { return format_error(std::abs(gain) < 0.0005 ? 0.0 : gain); }

std::string machine_row(const Decision& decision, const Candidate& c) {
    const Prediction& r = c.report();
    const bool best = &c == decision.best();
    std::string out = fmt::format("<tr{}>", best ? " class=\"best\"" : "");
    out += cell(escape_xml(c.name) + (best ? " (chosen)" : ""));
    out += cell(c.fits() ? "yes" : "<strong>NO</strong>: " + escape_xml(short_by(r)));
    if (c.fits()) {
        out += cell(number(r.tokens_per_s(), format_thousands(r.tokens_per_s())) + "<br/><small>" +
                    speed_range(r) + "</small>");
        out += cell(escape_xml(bound_words(r)));
    } else {
        out += cell("-") + cell("-");
    }
    out += cell(used_of(r.plan.fit.device)) + cell(used_of(r.plan.fit.host));
    out +=
        c.fits() ? money_cells(c.cost) : cell("-") + cell("-") + cell("-") + cell("-") + cell("-");
    return out + cell(confidence_name(r.plan.confidence)) + "</tr>\n";
}

}  // namespace

std::string machines_table(const Decision& decision) {
    const std::string tokens = tokens_words(decision);
    std::string out = "<div class=\"wide\"><table class=\"fits\">\n" +
                      html_row({"machine", "fits", "tokens/s, 5 to 95%", "bound by",
                                "device memory", "host memory", "$ an hour",
                                "$ a million tokens, 5 to 95%", "days for " + tokens + " tokens",
                                "$ for " + tokens, "kWh for " + tokens, "confidence"},
                               "th");
    for (const Candidate& c : decision.candidates) out += machine_row(decision, c);
    return out + "</table></div>\n";
}

std::string settings_list(const Decision& decision) {
    std::string out = "<dl>\n";
    for (const Candidate& c : decision.candidates)
        out += fmt::format("<dt>{}</dt><dd><code>{}</code></dd>\n", escape_xml(c.name),
                           escape_xml(settings_flags(c.report().asked.training)));
    return out + "</dl>\n";
}

std::string systems_table(const Decision& decision) {
    if (!decision.other) return "";
    std::string out = "<div class=\"wide\"><table class=\"fits\">\n" +
                      html_row({"system", "fits", "tokens/s", "5 to 95%", "speed", "step",
                                "device memory", "host memory", "bound by", "confidence"},
                               "th");
    for (const ComparedSystem& system : decision.other->systems) {
        const Prediction& r = system.report;
        const bool fits = system.fits();
        const auto relative = relative_speed(*decision.other, system);
        out += "<tr>" + cell(escape_xml(system.name)) +
               cell(fits ? "yes" : "<strong>NO</strong>: " + escape_xml(short_by(r))) +
               cell(fits ? number(r.tokens_per_s(), format_thousands(r.tokens_per_s())) : "-") +
               cell(fits ? speed_range(r) : "-") +
               cell(relative ? fmt::format("{:.2f}x", *relative) : "-") +
               cell(fits ? escape_xml(format_seconds(r.step.seconds)) : "-") +
               cell(used_of(r.plan.fit.device)) + cell(used_of(r.plan.fit.host)) +
               cell(fits ? escape_xml(bound_words(r)) : "-") +
               cell(confidence_name(r.plan.confidence)) + "</tr>\n";
    }
    return out + "</table></div>\n";
}

std::string upgrades_table(const Sensitivity& upgrades) {
    std::string out =
        "<div class=\"wide\"><table>\n" +
        html_row({"upgrade", "gain", "5 to 95%", "tokens/s", "then limits", "with"}, "th");
    for (const Upgrade& one : upgrades.upgrades)
        out += html_row({one.name, gain_text(one.gain),
                         gain_text(one.gain_low) + " to " + gain_text(one.gain_high),
                         format_thousands(one.report.tokens_per_s()), one.successor,
                         one.settings.empty() ? "the same settings" : setting_flags(one.settings)},
                        "td");
    return out + "</table></div>\n";
}

std::string assumption_lists(const Decision& decision) {
    Comparison all;
    for (const Candidate& c : decision.candidates) {
        ComparedSystem system;
        system.name = c.name;
        system.report.plan.assumptions = c.report().plan.assumptions;
        for (const std::string& sentence : c.cost.assumptions)
            system.report.plan.assumptions.push_back("cost: " + sentence);
        all.systems.push_back(std::move(system));
    }
    // Sentences that the same machines rest on stand together.
    std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>> groups;
    for (SharedAssumption& assumption : shared_assumptions(all)) {
        auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& known) {
            return known.first == assumption.systems;
        });
        if (group == groups.end()) group = groups.insert(group, {assumption.systems, {}});
        group->second.push_back(std::move(assumption.sentence));
    }
    std::string out;
    for (const auto& [systems, sentences] : groups)
        out += html_element("h3", systems.size() == all.systems.size() && systems.size() > 1
                                      ? "all machines"
                                      : fmt::format("{}", fmt::join(systems, ", "))) +
               html_list(sentences);
    return out;
}

std::string sources_table(const Candidate& candidate) {
    std::string out = "<div class=\"wide\"><table class=\"sources\">\n" +
                      html_row({"number", "value", "method", "date", "source and note"}, "th");
    for (const SourceRow& row : sources(candidate)) {
        const std::string method =
            row.estimated ? "<strong>" + row.method + "</strong>" : row.method;
        out += fmt::format("<tr{}>", row.estimated ? " class=\"estimate\"" : "") +
               cell(escape_xml(row.path)) + cell(escape_xml(row.value)) + cell(method) +
               cell(escape_xml(row.date)) +
               cell(escape_xml(row.note.empty() ? row.source : row.source + ". " + row.note)) +
               "</tr>\n";
    }
    return out + "</table></div>\n";
}

}  // namespace sluice
