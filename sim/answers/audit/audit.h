// Is a claim possible? First by arithmetic, which no program escapes, then by the simulator, which
// knows what a good schedule reaches. Claims name systems, models, machines and numbers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/machine/machine_spec.h"
#include "sim/specs/model/model_spec.h"
#include "sim/specs/scenario/training_spec.h"

namespace sluice {

/// "1.84 times as fast as zero3-offload".
struct SpeedupClaim {
    Schedule over;
    double times = 0;
};

/// With these settings the GPU computes between `low` and `high` of the time.
struct BusyClaim {
    TrainingSpec training;
    std::string settings;  ///< as the file has them, for the report
    double low = 0, high = 1;
};

/// One claim. Numbers that the file does not state are absent.
struct Claim {
    std::string id;
    std::string says;  ///< in words
    ModelSpec model;
    MachineProfile profile;
    MachineSpec machine;
    TrainingSpec training;  ///< without a batch of its own, several are tried
    bool batch_given = false;
    std::optional<double> gpu_memory_gb;   ///< of the GPU that is named
    std::optional<double> host_memory_gb;  ///< said to be there, or to suffice
    double storage_gb = 0;
    std::optional<double> tokens_per_s;
    std::optional<SpeedupClaim> speedup;
    std::vector<BusyClaim> busy;  ///< of one batch, all of them
};

struct ClaimFile {
    std::string source;  ///< who claims it, and where
    std::vector<Claim> claims;
};

/// Throws InputError: file, field, value, expected.
ClaimFile parse_claims(std::string_view text, const std::string& file);

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
