// How many days and dollars does a run take at least, before any plan is searched? A budget or a
// deadline below that is refused at once.
//
// A step does each product of the model and of its gradients: six FLOPs per token and matrix
// element. No plan does them faster than the GPU's highest rate of products, and no rent, purchase
// or electricity costs less than that of the GPUs that train. Bounds leave out all else, so a way
// that they exclude would be excluded by its prediction, too.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/answers/search/run_question.h"

namespace sluice {

/// GPUs of a machine, and what the run takes on them at least.
struct LeastRun {
    std::string machine;
    std::int64_t gpus = 1;
    bool owned = false, bought = false;
    double days = 0, usd = 0;

    /// "8 x mi355x", "dgx-spark-gb10, bought".
    std::string name() const;
};

/// FLOPs of a token's products, with recomputation or without. The embedding is no product.
double least_flops_per_token(const ModelSpec& model);

/// The ways of try_ways() to pay for that machine whose memory could hold the states. Empty where
/// the machine lacks a price or a number of a prediction. With most_tokens: of one step.
std::vector<LeastRun> least_runs_on(const RunQuestion& question, const PlannedMachine& machine);

/// Empty where a way may meet the question's limits, or where the model fits no machine. Else all,
/// the one that misses them by the least first.
std::vector<LeastRun> out_of_reach(const RunQuestion& question);

}  // namespace sluice
