// Is a claim possible? First by arithmetic, which no program escapes, then by the simulator, which
// knows what a good schedule reaches.
#pragma once

#include <string>
#include <vector>

#include "sim/answers/audit/claims.h"

namespace sluice {

enum class Verdict { possible, doubtful, impossible };
const char* verdict_name(Verdict verdict);

/// One number held against a claim.
struct Finding {
    Verdict verdict = Verdict::possible;
    std::string by;          ///< "bytes", "FLOPs", "link", "storage", "simulated", ...
    std::string sentence;    ///< the number
    std::string would_need;  ///< what would have to be true; empty where the claim may stand
};

struct AuditedClaim {
    std::string id, says;
    std::vector<Finding> findings;
    Verdict verdict() const;  ///< the worst of its findings
};

/// Whether all that is stated of the machine goes together, and states have a place: 12 bytes a
/// parameter (fp32 master and moments), or 6 (8-bit moments), against host, device and storage.
std::vector<Finding> check_memory(const Claim& claim);

/// Tokens/s against the GPU's datasheet FLOPs (six a token and active parameter), and how many
/// tokens a step must have so that link and storage keep up.
std::vector<Finding> check_rates(const Claim& claim);

/// If computing takes the share `serial` of a step in which copies wait for it and it for them,
/// then it takes at most this share once the two overlap: min(1, serial / (1 - serial)).
double most_busy_overlapped(double serial);

/// Tokens/s, speedups and busy shares against predictions for batches of 1, 2, 4, ... sequences
/// that fit (or the batch that is claimed).
std::vector<Finding> check_simulated(const Claim& claim);

std::vector<AuditedClaim> audit(const ClaimFile& file);

}  // namespace sluice
