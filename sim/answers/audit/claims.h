// What has been claimed: systems, models, machines and numbers, as a file states them.
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

}  // namespace sluice
