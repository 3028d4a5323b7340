#include <fmt/format.h>

#include <algorithm>

#include "sim/answers/compare/findings.h"
#include "sim/answers/decision/decision.h"
#include "sim/base/format.h"
#include "sim/report/search/advice_report.h"

namespace sluice {
namespace {

std::string row(const Candidate& c, std::size_t width) {
    const Prediction& r = c.report();
    const RunCost cost = cost_or_free(c.cost);
    const bool fits = c.fits(), paid = fits && c.cost.cost;
    return fmt::format(
        "{:<{}}  {:<4} {:>9} {:>18} {:>9} {:>9} {:>10} {:>10} {:>8}  {}\n", c.name, width,
        fits ? "yes" : "NO", fits ? format_thousands(r.tokens_per_s()) : "-",
        fits ? fmt::format("{} to {}", format_thousands(r.tokens_per_s_at(r.band->high)),
                           format_thousands(r.tokens_per_s_at(r.band->low)))
             : "-",
        format_bytes(static_cast<double>(r.plan.fit.device.peak.bytes)),
        format_bytes(static_cast<double>(r.plan.fit.host.peak.bytes)),
        paid ? format_usd(cost.usd_per_hour) : "-",
        paid ? format_usd(cost.usd_per_million_tokens.value) : "-",
        fits ? fmt::format("{:.3g}", cost.days.value) : "-",
        fits ? confidence_name(r.plan.confidence) : short_by(r));
}

}  // namespace

std::string decision_text(const Decision& decision) {
    std::string out = question(decision) + "\n\n";
    for (const std::string& sentence : answer(decision)) out += sentence + "\n";
    std::size_t width = 7;
    for (const Candidate& c : decision.candidates) width = std::max(width, c.name.size());
    out += fmt::format("\n{:<{}}  {:<4} {:>9} {:>18} {:>9} {:>9} {:>10} {:>10} {:>8}  {}\n",
                       "machine", width, "fits", "tokens/s", "5 to 95%", "device", "host",
                       "$ an hour", "a million", "days", "confidence");
    for (const Candidate& c : decision.candidates) out += row(c, width);
    out += "\n";
    for (const Candidate& c : decision.candidates)
        out +=
            fmt::format("{:<{}}  {}\n", c.name, width, settings_flags(c.report().asked.training));
    return out;
}

}  // namespace sluice
