// Which of several machines should train that model, and what does a decision to buy or rent it
// rest on?
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/answers/compare/comparison.h"
#include "sim/answers/cost/cost_query.h"
#include "sim/answers/search/advise_grid.h"
#include "sim/answers/search/sensitivity.h"
#include "sim/specs/machine/machine_profile.h"

namespace sluice {

/// How near predictions have been: absolute errors, predicted over measured less 1.
struct ErrorPair {
    double mean_percent = 0, worst_percent = 0;
};

/// Held-out runs of the trainer on one calibrated machine.
struct TrackRecord {
    std::string date, profile, runs;
    ErrorPair tokens_per_s, device, host;
    double tau = 0;           ///< Kendall's, of the order by tokens/s
    double band_percent = 0;  ///< of the steps within the predicted 5 to 95%
};

/// Throws InputError where a field is missing or holds something else.
std::vector<TrackRecord> read_track_records(std::string_view json);

/// The records of validation/history.json, which is built in.
std::vector<TrackRecord> track_records();

/// What the best machine is.
enum class Aim { cheapest, fastest };

/// A machine, or a number of its GPUs with everything in their memory.
struct AskedMachine {
    MachineProfile profile;
    std::int64_t gpus = 0;               ///< 0: one, from host memory
    std::optional<double> usd_per_hour;  ///< of all of it; nothing: as the query says
    /// Its own settings, and what is paid for it, in place of the request's.
    std::optional<TrainingSpec> training = std::nullopt;
    std::optional<CostQuery> money = std::nullopt;
};

struct DecisionRequest {
    ModelSpec model;
    std::vector<AskedMachine> machines;  ///< never empty
    TrainingSpec training;               ///< of one GPU; a cluster takes what it has of it
    CostQuery money;
    Aim aim = Aim::cheapest;
    /// The best settings of each machine are searched, with `given` and `fixed` of this; otherwise
    /// `training` is taken.
    std::optional<AdviceRequest> advise;
    int workers = 1;            ///< of the search
    std::string date, version;  ///< shown
};

/// One machine with what is predicted of it.
struct Candidate {
    std::string name;  ///< "gh200-480gb", "8 x h100-sxm-pcie5"
    MachineProfile profile;
    MachineSpec machine;
    Prediction prediction;  ///< with a band or, where it does not fit, what would
    CostAnswer cost;

    const Prediction& report() const { return prediction; }
    bool fits() const { return report().plan.fit.fits(); }
};

struct Decision {
    DecisionRequest request;
    std::vector<Candidate> candidates;  ///< in the order asked
    /// One of the candidates that fit: the cheapest per million tokens if any has a price (then
    /// only those can be chosen), else the fastest.
    std::optional<std::size_t> chosen;
    Aim aim = Aim::fastest;           ///< by which it was chosen
    std::optional<Comparison> other;  ///< other systems on the chosen machine
    /// What upgrades of the chosen machine would gain; nothing of a cluster.
    std::optional<Sensitivity> upgrades;
    std::vector<TrackRecord> record;

    const Candidate* best() const { return chosen ? &candidates[*chosen] : nullptr; }
};

/// Predicts every machine. Throws InputError.
Decision decide(const DecisionRequest& request);

/// Sets chosen and aim from the candidates.
void choose(Decision& decision);

/// Paths of numbers and curves of its profile on which a candidate's prediction and cost rest.
std::set<std::string> numbers_used(const Candidate& candidate);

}  // namespace sluice
