// The page of a decision.
#include <fmt/format.h>

#include "sim/answers/compare/findings.h"
#include "sim/base/format.h"
#include "sim/report/decision/decision_parts.h"
#include "sim/report/html.h"
#include "sim/report/svg_text.h"

namespace sluice {
namespace {

// Pictures stay black on white in the dark, since their colours are chosen for that.
constexpr const char* kStyle =
    "body{max-width:1240px;margin:24px auto;padding:0 24px;line-height:1.4}"
    "h1{font-size:24px;margin-bottom:4px}h2{font-size:18px;margin-top:32px}h3{font-size:14px}"
    ".meta{color:#555;font-size:13px}"
    ".answer{border-left:4px solid #0072b2;padding:4px 16px;margin:20px 0}"
    ".answer p:first-child{font-size:17px;font-weight:bold}"
    "td{vertical-align:top;font-variant-numeric:tabular-nums}"
    ".fits td:nth-child(2){white-space:normal;text-align:left;min-width:60px}"
    ".fits th:nth-child(2){text-align:left}"
    "tr.best td{background:#e3f0f9}small{color:#555}"
    ".sources td,.sources th{text-align:left;white-space:normal}"
    ".sources td:first-child,.sources td:last-child{overflow-wrap:anywhere}"
    ".sources tr.estimate td{background:#fdf3dd}"
    "dt{font-weight:bold;margin-top:6px}dd{margin:0 0 0 16px}code{font-size:12px}"
    "li{margin:3px 0;overflow-wrap:anywhere}"
    "figure{margin:0 0 24px;background:#fff;color:#222;overflow-x:auto}"
    "figcaption{font-weight:bold;padding:6px 0}figure svg{margin:0}"
    "@media (prefers-color-scheme:dark){"
    "body{color:#ddd;background:#161616}.meta,small{color:#aaa}"
    "th,td{border-bottom-color:#444}tr.best td{background:#12344a}"
    ".sources tr.estimate td{background:#40341a}"
    "figure{padding:8px;border-radius:4px}}"
    "@media print{@page{size:A4 landscape;margin:12mm}"
    "body{max-width:none;margin:0;padding:0;color:#000;background:#fff;font-size:10pt}"
    "table{font-size:8pt}th,td{padding:2px 4px;border-bottom-color:#bbb}.wide{overflow:visible}"
    "figure,tr,.answer{break-inside:avoid}h2,h3{break-after:avoid}thead{display:table-header-group}"
    "tr.best td{background:#e3f0f9;color:#000}.sources tr.estimate "
    "td{background:#fdf3dd;color:#000}"
    "small,.meta{color:#333}}";

std::string section(const std::string& title, const std::string& content) {
    return content.empty() ? "" : html_element("h2", title) + content;
}

std::string answer_box(const Decision& decision) {
    std::string out = "<div class=\"answer\">\n";
    for (const std::string& sentence : answer(decision)) out += html_element("p", sentence);
    return out + "</div>\n";
}

std::string other_systems(const Decision& decision) {
    if (!decision.other) return "";
    std::vector<std::string> notes = decision.other->left_out;
    for (const ComparedSystem& system : decision.other->systems)
        if (!system.fits())
            notes.push_back(system.name + ": " + misfit_words(*decision.other, system).back());
    return html_element(
               "p",
               fmt::format("Each has its own schedule and, of the settings above, those that it "
                           "has{}. Speed is a multiple of this program's own trainer (streamed).",
                           decision.request.advise ? "; its own best were not sought" : "")) +
           systems_table(decision) + html_list(notes);
}

std::string upgrades(const Decision& decision) {
    if (!decision.upgrades)
        return html_element("p", "Upgrades are predicted of one machine, not of a cluster.");
    const Sensitivity& all = *decision.upgrades;
    const std::string settings =
        all.base_settings.empty()
            ? "the settings above"
            : fmt::format("the settings above and {}, which are faster", all.base_settings);
    return html_element("p", fmt::format("From {} tokens/s, with {}; after an upgrade likewise.",
                                         format_thousands(all.base.tokens_per_s()), settings)) +
           upgrades_table(all) + html_list(all.not_possible);
}

std::string track_record(const Decision& decision) {
    std::vector<std::string> sentences;
    for (const TrackRecord& record : decision.record)
        sentences.push_back(track_record_words(record));
    return html_list(sentences) +
           html_element("p",
                        "Machines whose confidence is transferred or datasheet were not "
                        "calibrated: their band is wider, and no such record stands behind it.");
}

std::string all_sources(const Decision& decision) {
    std::string out = html_element(
        "p",
        "The unit is the end of each number's name. Estimated, in bold: arithmetic, an assumption, "
        "a third party's guess or a measurement on another machine.");
    for (const Candidate& c : decision.candidates)
        out += html_element("h3", c.name + ": " + c.machine.name) + sources_table(c);
    return out;
}

}  // namespace

std::string decision_html(const Decision& decision) {
    const std::string title = question(decision);
    std::string body = html_element("h1", title);
    body += fmt::format("<p class=\"meta\">{}; predicted by sluice {}</p>\n",
                        escape_xml(decision.request.date), escape_xml(decision.request.version));
    body += answer_box(decision);
    body += section("Machines",
                    machines_table(decision) +
                        html_element("p",
                                     "5 to 95%: where nine of ten steps should lie. "
                                     "Energy and money follow the speed. A rent is for a GPU and "
                                     "its share of a node, whose memory may be less "
                                     "than a step uses: see the assumptions."));
    body +=
        section(decision.request.advise ? "Settings: the best found of each" : "Settings: as given",
                settings_list(decision));
    body += section("Pictures", pictures(decision));
    if (decision.chosen)
        body += section("Other systems on " + decision.best()->machine.id, other_systems(decision));
    if (decision.chosen)
        body += section("What upgrades of " + decision.best()->name + " would gain",
                        upgrades(decision));
    body += section("How good predictions have been", track_record(decision));
    body += section("Assumptions", assumption_lists(decision));
    body += section("Numbers and their sources", all_sources(decision));
    return html_page(title, std::string(html_table_style()) + kStyle, body);
}

}  // namespace sluice
