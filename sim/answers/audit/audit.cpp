#include "sim/answers/audit/audit.h"

#include <algorithm>

namespace sluice {

Verdict AuditedClaim::verdict() const {
    Verdict worst = Verdict::possible;
    for (const Finding& finding : findings) worst = std::max(worst, finding.verdict);
    return worst;
}

std::vector<AuditedClaim> audit(const ClaimFile& file) {
    std::vector<AuditedClaim> out;
    for (const Claim& claim : file.claims) {
        AuditedClaim audited{claim.id, claim.says, check_memory(claim)};
        for (const auto& check : {check_rates, check_simulated}) {
            const std::vector<Finding> findings = check(claim);
            audited.findings.insert(audited.findings.end(), findings.begin(), findings.end());
        }
        out.push_back(std::move(audited));
    }
    return out;
}

}  // namespace sluice
