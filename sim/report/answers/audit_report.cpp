#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "sim/answers/audit/audit.h"
#include "sim/base/json_text.h"
#include "sim/report/answers/answer_reports.h"
#include "sim/report/chart_parts.h"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

std::int64_t count(const std::vector<AuditedClaim>& claims, Verdict verdict) {
    return std::count_if(claims.begin(), claims.end(),
                         [&](const AuditedClaim& claim) { return claim.verdict() == verdict; });
}

/// In lines of at most kLine characters with what is before them.
std::string wrapped(const std::string& sentence) {
    constexpr std::size_t kLine = 130, kBefore = 24;
    return fmt::format(
        "{}", fmt::join(wrap_text(sentence, kLine - kBefore), "\n" + std::string(kBefore, ' ')));
}

Table findings_table(const std::vector<Finding>& findings) {
    return table_of<Finding>(findings,
                             {{"verdict", "", [](auto& f) { return verdict_name(f.verdict); }},
                              {"by", "", &Finding::by},
                              {"number", "", &Finding::sentence},
                              {"would_need", "", &Finding::would_need}});
}

}  // namespace

std::string audit_text(const ClaimFile& file, const std::vector<AuditedClaim>& claims) {
    std::string out =
        fmt::format("{}\n{}: {} possible, {} doubtful, {} impossible\n", file.source,
                    format_number_of(std::ssize(claims), "claim"), count(claims, Verdict::possible),
                    count(claims, Verdict::doubtful), count(claims, Verdict::impossible));
    for (const AuditedClaim& claim : claims) {
        std::string verdict = verdict_name(claim.verdict());
        if (claim.verdict() == Verdict::impossible)
            for (char& c : verdict) c = static_cast<char>(std::toupper(c));
        out += fmt::format("\n{:<11} {}: {}\n", verdict, claim.id, claim.says);
        for (const Finding& finding :
             claim.findings) {  // A table would be too narrow for these sentences.
            out += fmt::format("  {:<10} {:<10} {}\n", verdict_name(finding.verdict), finding.by,
                               wrapped(finding.sentence));
            if (!finding.would_need.empty())
                out +=
                    fmt::format("  {:<21} {}\n", "", wrapped("would need: " + finding.would_need));
        }
    }
    return out;
}

std::string audit_json(const ClaimFile& file, const std::vector<AuditedClaim>& claims) {
    Json out = {{"source", file.source}, {"claims", Json::array()}};
    for (const AuditedClaim& claim : claims)
        out["claims"].push_back({{"id", claim.id},
                                 {"says", claim.says},
                                 {"verdict", verdict_name(claim.verdict())},
                                 {"findings", to_json(findings_table(claim.findings))}});
    return readable_json(out);
}

}  // namespace sluice
