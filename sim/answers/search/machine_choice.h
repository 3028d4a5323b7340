// Which machine of the library does it for the least money, and which are on a front of cost and
// speed?
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/answers/cost/cost_query.h"

namespace sluice {

/// A machine of the library with the step predicted there and what it costs.
struct MachineChoice {
    std::string id;
    std::vector<Setting> changes;  ///< of the asked settings
    Prediction report;             ///< with its band
    std::optional<Payment> payment;
    std::optional<RunCost> cost;
    bool does_it = false;
    bool unpriced = false;  ///< its price does not know of all its host memory
};

struct MachineChoices {
    double tokens_per_s = 0;              ///< wanted
    std::vector<MachineChoice> machines;  ///< those that do it first, the cheapest hour first
    std::vector<std::string> left_out;    ///< "mi355x: why no step can be predicted"
    std::string unpriced;  ///< which prices do not know of the host memory given, or empty
    std::string capped;    ///< which machines cannot have that much, or empty

    const MachineChoice* cheapest() const;
};

/// Predicts the step on every machine of the library. `host_memory` replaces what profiles say;
/// where they say nothing and it is not given, the machine is left out; one that cannot have so
/// much gets the most it can.
MachineChoices choose_machine(const ModelSpec& model, const TrainingSpec& training,
                              double tokens_per_s, bool adjust, const CostQuery& query,
                              std::optional<double> host_memory_bytes);

/// Indices of those that no other beats: none has less cost and as much speed, or as little cost
/// and more speed. `points` are cost and speed.
std::vector<std::size_t> pareto_front(const std::vector<std::pair<double, double>>& points);

struct FrontMarks {
    bool by_hour = false;   ///< of $ an hour
    bool by_token = false;  ///< of $ per million tokens
};

/// A point of a front: which machine, what it costs, how fast it is.
struct MachinePoint {
    std::size_t machine = 0;
    double usd = 0, tokens_per_s = 0;
    bool on_front = false;
};

enum class CostAxis { usd_per_hour, usd_per_million_tokens };

/// The points of machines that reach the goal and have a price.
std::vector<MachinePoint> machine_points(const MachineChoices& choices, CostAxis axis);

/// One a machine, in their order.
std::vector<FrontMarks> front_marks(const MachineChoices& choices);

}  // namespace sluice
