// Is a claim possible? Checked first by arithmetic, which holds for every program, then by the
// simulator, which knows the speed of good schedules. Claims name systems, models, machines and
// numbers.
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

/// With these settings the GPU computes for a share of `low` to `high` of the time.
struct BusyClaim {
    TrainingSpec training;
    std::string settings;  ///< as in the file, for the report
    double low = 0, high = 1;
};

/// One claim. Numbers that the file does not state are absent.
struct Claim {
    std::string id;
    std::string says;  ///< in words
    ModelSpec model;
    MachineProfile profile;
    MachineSpec machine;
    TrainingSpec training;  ///< if the claim has no batch, several are tried
    bool batch_given = false;
    std::optional<double> gpu_memory_gb;   ///< of the named GPU
    std::optional<double> host_memory_gb;  ///< claimed to be installed, or to be enough
    double storage_gb = 0;
    std::optional<double> tokens_per_s;
    std::optional<SpeedupClaim> speedup;
    std::vector<BusyClaim> busy;  ///< of one batch, all of them
};

struct ClaimFile {
    std::string source;  ///< source of the claim
    std::vector<Claim> claims;
};

/// Throws InputError: file, field, value, expected.
ClaimFile parse_claims(std::string_view text, const std::string& file);

enum class Verdict { possible, doubtful, impossible };
const char* verdict_name(Verdict verdict);

struct Finding {
    Verdict verdict = Verdict::possible;
    std::string by;        ///< kind of check: "bytes", "FLOPs", "link", "storage", "simulated", ...
    std::string sentence;  ///< the number
    /// The condition under which the claim would hold; empty if it may hold.
    std::string would_need;
};

struct AuditedClaim {
    std::string id, says;
    std::vector<Finding> findings;
    Verdict verdict() const;  ///< the worst of its findings
};

/// Whether the claimed sizes match the machine, and whether the states fit into host, device and
/// storage: 12 bytes a parameter (fp32 master and moments), or 6 (8-bit moments).
std::vector<Finding> check_memory(const Claim& claim);

/// Tokens/s against the GPU's datasheet FLOPs (six per token and active parameter), and the number
/// of tokens per step with which link and storage keep up.
std::vector<Finding> check_rates(const Claim& claim);

/// The largest share of a step for which the GPU computes with overlap, if it computes for the
/// share `serial` without: min(1, serial / (1 - serial)).
double most_busy_overlapped(double serial);

/// Tokens/s, speedups and busy shares against predictions for batches of 1, 2, 4, ... sequences
/// that fit (or the claimed batch).
std::vector<Finding> check_simulated(const Claim& claim);

std::vector<AuditedClaim> audit(const ClaimFile& file);

}  // namespace sluice
