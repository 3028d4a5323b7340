// Which machine of the library reaches the goal for the least money, and which are on a front of
// cost and speed?
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/answers/cost/cost.h"
#include "sim/specs/machine/default_host.h"

namespace sluice {

/// A step with smaller optimizer states than asked: another training, which the user decides.
struct SmallerStates {
    std::int64_t bytes = 0;  ///< of a parameter
    double tokens_per_s = 0;
    std::optional<double> usd_per_million_tokens;  ///< empty: no price is known
};

/// A machine of the library with its predicted step and costs.
struct MachineChoice {
    std::string id;
    std::vector<Setting> changes;  ///< of the given settings
    Prediction report;             ///< with its band
    CostAnswer cost;
    HostMemory host_memory;
    /// Shortages of the plan for which the fewest bytes are short; empty if it fits.
    std::vector<Shortage> shortages;
    /// If it does not fit: the largest states with which it reaches the goal.
    std::optional<SmallerStates> smaller_states;
    bool does_it = false;
};

struct MachineChoices {
    double tokens_per_s = 0;  ///< required minimum
    /// Those that reach the goal first, the cheapest hour first.
    std::vector<MachineChoice> machines;
    std::vector<std::string> left_out;       ///< "mi355x: why no step can be predicted"
    std::vector<std::string> without_price;  ///< not predicted, since no price is known
    /// Machines whose price does not include the given host memory, or empty.
    std::string unpriced;
    bool several_gpus = false;  ///< of each machine train
    bool chosen_plans = false;  ///< each machine has the fastest plan for the batch
    std::string capped;         ///< machines that cannot have that much, or empty
    bool planned_too =
        false;  ///< machines where no program trains this way today reach the goal, too

    const MachineChoice* cheapest() const;
};

/// Predicts the step on every machine of the library with a price; `unpriced_too`: on the others,
/// too, which are test machines, old ones and those without a public price. `host_memory` replaces
/// the profiles' sizes. A machine that cannot have so much gets the most it can have. A machine on
/// which no program trains this way today does not reach the goal, unless `planned_too`. Each
/// machine takes the plan `chosen_beside` given options, as in Wanted.
MachineChoices choose_machine(const ModelSpec& model, const TrainingSpec& training,
                              double tokens_per_s, bool adjust, const CostQuery& query,
                              std::optional<double> host_memory_bytes, bool planned_too = false,
                              const std::set<std::string>* chosen_beside = nullptr,
                              bool unpriced_too = false);

/// Indices of points that no other beats: none has less cost at the same speed or more, or more
/// speed at the same cost or less. `points` are cost and speed.
std::vector<std::size_t> pareto_front(const std::vector<std::pair<double, double>>& points);

struct FrontMarks {
    bool by_hour = false;   ///< by $ an hour
    bool by_token = false;  ///< by $ per million tokens
};

/// A point of a front: machine, cost, speed.
struct MachinePoint {
    std::size_t machine = 0;
    double usd = 0, tokens_per_s = 0;
    bool on_front = false;
};

enum class CostAxis { usd_per_hour, usd_per_million_tokens };

/// The points of machines that reach the goal and have a price.
std::vector<MachinePoint> machine_points(const MachineChoices& choices, CostAxis axis);

/// One per machine, in their order.
std::vector<FrontMarks> front_marks(const MachineChoices& choices);

}  // namespace sluice
