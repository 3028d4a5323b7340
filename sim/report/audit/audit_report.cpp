// An audit as text and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/answers/audit/audit.h"
#include "sim/base/format.h"
#include "sim/base/json_text.h"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

int count(const std::vector<AuditedClaim>& claims, Verdict verdict) {
    return static_cast<int>(
        std::count_if(claims.begin(), claims.end(),
                      [&](const AuditedClaim& claim) { return claim.verdict() == verdict; }));
}

}  // namespace

std::string audit_text(const ClaimFile& file, const std::vector<AuditedClaim>& claims) {
    std::string out =
        fmt::format("{}\n{}: {} possible, {} doubtful, {} impossible\n", file.source,
                    format_number_of(std::ssize(claims), "claim"), count(claims, Verdict::possible),
                    count(claims, Verdict::doubtful), count(claims, Verdict::impossible));
    for (const AuditedClaim& claim : claims) {
        std::string verdict = verdict_name(claim.verdict());
        for (char& c : verdict)
            if (claim.verdict() == Verdict::impossible) c = static_cast<char>(c - 'a' + 'A');
        out += fmt::format("\n{:<11} {}: {}\n", verdict, claim.id, claim.says);
        for (const Finding& finding : claim.findings) {
            out += fmt::format("  {:<10} {:<10} {}\n", verdict_name(finding.verdict), finding.by,
                               finding.sentence);
            if (!finding.would_need.empty())
                out += fmt::format("  {:<21} would need: {}\n", "", finding.would_need);
        }
    }
    return out;
}

std::string audit_json(const ClaimFile& file, const std::vector<AuditedClaim>& claims) {
    Json out;
    out["source"] = file.source;
    out["claims"] = Json::array();
    for (const AuditedClaim& claim : claims) {
        Json findings = Json::array();
        for (const Finding& finding : claim.findings)
            findings.push_back({{"verdict", verdict_name(finding.verdict)},
                                {"by", finding.by},
                                {"number", finding.sentence},
                                {"would_need", finding.would_need}});
        out["claims"].push_back({{"id", claim.id},
                                 {"says", claim.says},
                                 {"verdict", verdict_name(claim.verdict())},
                                 {"findings", findings}});
    }
    return readable_json(out);
}

}  // namespace sluice
