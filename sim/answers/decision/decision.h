// Which of several machines should train that model? What a decision to buy or rent rests on, as
// plain values; see the writers below.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/answers/compare/comparison.h"
#include "sim/answers/cost/cost_query.h"
#include "sim/answers/decision/track_record.h"
#include "sim/answers/search/advise_grid.h"
#include "sim/answers/search/sensitivity.h"
#include "sim/specs/machine/machine_profile.h"

namespace sluice {

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
    bool advised = false;  ///< the settings were searched

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

/// Tokens of the run: "20 B", "1.5 B".
std::string tokens_words(const Decision& decision);
/// "Which of 3 machines should train Qwen2.5-14B (...)?"
std::string question(const Decision& decision);
/// One sentence or a few: which machine, how fast, for how much; how sure that is.
std::vector<std::string> answer(const Decision& decision);

/// A number on which the prediction or the cost of a candidate rests.
struct SourceRow {
    std::string path, value, method, source, date, note;
    bool estimated = false;
};
/// In the order of the profile.
std::vector<SourceRow> sources(const Candidate& candidate);

}  // namespace sluice
