// Which machine of the library does it for the least money?
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/answers/cost/cost_query.h"
#include "sim/answers/search/fit.h"

namespace sluice {

/// A machine of the library with the step predicted there and what it costs.
struct MachineChoice {
    std::string id;
    std::string changes;  ///< flags beside the asked settings
    Prediction report;    ///< with its band
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

}  // namespace sluice
