// Which of several machines should train that model, and which numbers does the decision use?
#pragma once

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/answers/compare/comparison.h"
#include "sim/answers/cost/full_node.h"
#include "sim/answers/search/advise_grid.h"
#include "sim/answers/search/run_question.h"
#include "sim/answers/search/sensitivity.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/scenario/project_file.h"

namespace sluice {

/// Errors of earlier predictions: absolute values of predicted over measured, less 1.
struct ErrorPair {
    double mean_percent = 0, worst_percent = 0;
};

/// Held-out runs of the trainer on one calibrated machine.
struct TrackRecord {
    std::string date, profile, runs;
    ErrorPair tokens_per_s, device, host;
    double band_percent = 0;  ///< share of the steps within the predicted 5 to 95%
};

/// Throws InputError if a field is missing or has another type.
std::vector<TrackRecord> read_track_records(std::string_view json);

/// The records of validation/history.json, which is built in.
std::vector<TrackRecord> track_records();

enum class Aim { cheapest, fastest };

/// A machine, or a number of its GPUs with everything in their memory.
struct AskedMachine {
    MachineProfile profile;
    std::int64_t gpus = 0;               ///< 0: one GPU, which trains from host memory
    std::optional<double> usd_per_hour;  ///< for all of it; empty: as the query says
    /// Its own settings and payment, in place of the request's.
    std::optional<TrainingSpec> training = std::nullopt;
    std::optional<CostQuery> money = std::nullopt;
    /// The question for this machine alone, as typed: its name stands on the page where two
    /// scenarios have the same machine, and the page carries it.
    PlannedScenario planned = {};
};

struct DecisionRequest {
    ModelSpec model;
    std::vector<AskedMachine> machines;  ///< never empty
    TrainingSpec training;               ///< of one GPU; a cluster uses the options that it has
    CostQuery money;
    Aim aim = Aim::cheapest;
    /// If set, the best settings of each machine are searched, with its `given` and `fixed`;
    /// otherwise `training` is used.
    std::optional<AdviceRequest> advise;
    /// If set, each machine without settings of its own takes its fastest plan for `training`, in
    /// which options with these fields keep their values. Where no program executes that today, and
    /// the schedule is not among them, it takes the fastest system that runs there.
    std::optional<std::set<std::string>> chosen_beside;
    int workers = 1;            ///< for the search
    bool planned_too = false;   ///< chooses candidates that no program trains with today, too
    std::string date, version;  ///< on the page

    bool chooses_system() const {
        return chosen_beside && !chosen_beside->contains("schedule") && !planned_too;
    }
    /// Whether one of several machines has settings of its own.
    bool has_own_settings() const {
        return machines.size() > 1 && std::ranges::any_of(machines, [](const AskedMachine& one) {
                   return one.training.has_value();
               });
    }
};

struct Candidate {
    std::string name;       ///< "gh200-480gb", "8 x h100-sxm-pcie5": at most 30 letters
    std::string full_name;  ///< with the whole name of the scenario
    MachineProfile profile;
    MachineSpec machine;
    Prediction prediction;  ///< with a band or, if it does not fit, settings that would
    CostAnswer cost;
    std::optional<FullNode> together;  ///< with as many such jobs as its node holds

    const Prediction& report() const { return prediction; }
    bool fits() const { return report().plan.fit.fits(); }
    const RunsToday& today() const { return report().asked.runs_today; }
};

/// A run that was asked of all machines, and every way that was found.
struct RankedRun {
    RunQuestion question;
    std::vector<RunWay> ways;  ///< ranked
};

struct Decision {
    DecisionRequest request;
    std::vector<Candidate> candidates;  ///< in the order of the request
    /// Index of a candidate that can be chosen: the cheapest per million tokens if any has a price
    /// (then only those can be chosen), else the fastest. One that meets its limits goes before all
    /// that do not.
    std::optional<std::size_t> chosen;
    Aim aim = Aim::fastest;           ///< the criterion of the choice
    std::optional<Comparison> other;  ///< other systems on the chosen machine
    /// Gains of upgrades of the chosen machine; empty for a cluster.
    std::optional<Sensitivity> upgrades;
    std::vector<TrackRecord> record;
    std::optional<RankedRun> ranked;  ///< of the same model, if it was asked

    /// It fits, and a program trains this way today unless that is not required.
    bool can_choose(const Candidate& c) const {
        return c.fits() && (request.planned_too || c.today().runs());
    }
    const Candidate* best() const { return chosen ? &candidates[*chosen] : nullptr; }
};

/// Predicts every machine. Throws InputError.
Decision decide(const DecisionRequest& request);

/// The scenario of each candidate with the settings and the money that it was answered with, the
/// chosen one as current; empty if the request does not say how they were typed.
std::optional<Project> decision_project(const Decision& decision);

/// Sets chosen and aim from the candidates.
void choose(Decision& decision);

/// Paths of the profile's numbers and curves that a candidate's prediction and cost use.
std::set<std::string> numbers_used(const Candidate& candidate);

}  // namespace sluice
