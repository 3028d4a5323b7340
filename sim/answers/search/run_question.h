// Which machine should train that model, by when and for how much? `sluice choose` and the window's
// start page ask it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/answers/cost/scenario_answer.h"
#include "sim/specs/scenario/task.h"

namespace sluice {

constexpr std::int64_t kMostNodesTried = 64;  ///< of a cluster that is tried

struct RunQuestion {
    std::string model;  ///< as model_of() takes it
    Task task = Task::full_fine_tune;
    double tokens = 1e9;          ///< of the run
    bool most_tokens = false;     ///< in place of `tokens`: as many as the limits allow
    std::int64_t context = 4096;  ///< tokens of a sequence
    RunLimits limits;
    std::string owned;  ///< a machine that costs no more than its electricity; or empty
    std::optional<std::int64_t> owned_gpus;   ///< GPUs that are owned; empty: those of a node
    std::optional<std::string> owned_memory;  ///< of its host, with its unit; empty: its own
    std::optional<std::string> quotes;        ///< a file, as --quotes takes it
    std::optional<std::string> compute;       ///< precision of products, as --compute takes it
    bool operator==(const RunQuestion&) const = default;
};

/// "2 B tokens", "the most tokens".
std::string tokens_words(const RunQuestion& question);

/// The question without a machine. Throws InputError with a field: "model".
PlannedScenario run_scenario(const RunQuestion& question);

/// The owned machine with the GPUs and the memory that it has; none where none is owned. More GPUs
/// than a node of connected GPUs holds are whole nodes. Throws InputError with its field.
std::optional<PlannedMachine> owned_machine(const RunQuestion& question);

/// A machine, or several GPUs of it, with the settings that were found for it.
struct RunWay {
    std::shared_ptr<const ScenarioAnswer> answer;  ///< without operations: forget_operations()
    RunCost run;  ///< of the question's tokens; of an owned machine: electricity alone
    bool priced = false;
    bool owned = false;
    bool most_tokens = false;  ///< `run` has as many as the limits allow: 0 if they allow no step

    bool fits() const { return answer->report().plan.fit.fits(); }
    bool is_bought() const {
        const auto& payment = answer->cost.payment;
        return payment && payment->ownership == Ownership::buy;
    }
    /// Optimizer states in fp32.
    bool has_full_states() const;
    const std::string& machine() const { return answer->planned.machine.machine; }
    std::int64_t gpus() const { return answer->report().asked.training.gpus; }
    /// "gh200-480gb", "16 x h200-sxm-pcie5", "dgx-spark-gb10, bought".
    std::string name() const;
    /// In kMostNameLetters, for titles and tables.
    std::string short_name() const;
};

/// The owned machine first, then each machine of the library that has a price or a quote.
std::vector<PlannedMachine> tried_machines(const RunQuestion& question);

using RunProgress = std::function<void(std::size_t done, std::size_t all)>;

/// Each of tried_machines(): one GPU with host memory and a system that a program executes there
/// today, in full precision and, where that is faster or costs less, with smaller states. Where all
/// are late: those with a larger part of the node that are not. Then 1, 2, 4, ... nodes, up to
/// kMostNodesTried, until a run meets the deadline and more nodes cost no less, or train no more
/// tokens. Where nothing fits: a plan of one GPU that lacks memory, with smaller states. Rented
/// ways are bought, too, where that is within the budget or costs less. `found` gets each,
/// `progress` how many machines of all are done. On an owned machine with several GPUs, also with
/// all of them. None where bounds exclude all: see out_of_reach(). Throws InputError.
void try_ways(const RunQuestion& question, const std::function<void(RunWay)>& found,
              const RunProgress& progress);

/// Ways that were found for a run.
struct FoundWays {
    RunQuestion question;
    std::vector<PlannedScenario> ways;
};
/// Predicts them again, several at a time; `found` gets each, and `done` is called after each. Ways
/// that are refused, since a machine or a rule has changed, are left out.
void predict_again(
    const FoundWays& asked, const std::function<void(RunWay)>& found,
    const std::function<void()>& done = [] {});

/// The cheapest first, or the one with the most tokens; then those without a price, then those that
/// do not fit.
void rank(std::vector<RunWay>& ways);

/// The ways of try_ways(), ranked. One thread at a time calls `progress`.
std::vector<RunWay> all_ways(const RunQuestion& question, const RunProgress& progress = {});

/// One way that is proposed, and why.
struct RunPick {
    std::size_t candidate = 0;
    std::string why;
    bool operator==(const RunPick&) const = default;
};

/// Whether it fits, its price is known, and the run ends in time and within the budget.
bool meets(const RunQuestion& question, const RunWay& one);

/// At most three ways on different machines or numbers of GPUs, the best first: the cheapest run
/// that meets deadline and budget, the fastest of them if that is another, a cheaper one with
/// smaller states, and the next cheapest on another machine. The others have states in fp32, if any
/// such way meets both. If none meets both: the one that misses them by the least, the cheapest in
/// time, and the fastest within the budget. With most_tokens: those that train the most, on
/// different machines. Empty if nothing fits.
std::vector<RunPick> pick_ways(const RunQuestion& question, const std::vector<RunWay>& candidates);

/// Ways that do not fit, but say what would: the owned machine's, if no plan fits it. Where nothing
/// fits at all, three at most: those with settings that would fit first, then those that lack the
/// smallest part of their memory. Indices into `ways`.
std::vector<std::size_t> near_misses(const std::vector<RunWay>& ways);

/// "21.3 days (18 to 25), $8,120", of most_tokens with "5.2 B tokens: " before it.
std::string time_and_money(const RunWay& one);

}  // namespace sluice
