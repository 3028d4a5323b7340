// Which settings are the best for a model on a machine, and what would others cost? Which of
// several machines is the best, each with its best settings?
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/answers/search/advise_grid.h"
#include "sim/answers/search/search.h"
#include "sim/plan/step.h"
#include "sim/specs/scenario/payment.h"

namespace sluice {

struct AdvisedSettings {
    TrainingSpec training;
    SearchRow row;  ///< simulated

    double tokens_per_s() const { return row.tokens_per_s(training); }
};

/// Another value of one option, with the best settings otherwise.
struct Neighbour {
    std::string option;           ///< field
    std::string chosen, instead;  ///< values
    SearchRow row{};              ///< simulated, too large or excluded
    // If simulated: compared with the best settings.
    double speed_change = 0;  ///< change of tokens/s; -0.02: two percent fewer
    Bytes device_change = 0, host_change = 0;
    /// The difference is smaller than the distance from the prediction to the nearer end of its
    /// band, so a measurement could reverse it.
    bool within_band = false;
};

/// Combinations that were left out because of one option.
struct LeftOut {
    std::string field;    ///< the option's field, as in InputError::field()
    std::string example;  ///< the reason for one of them
    std::size_t count = 0;
};

struct Advice {
    std::string model_name, machine_id;
    int layers = 0;
    std::optional<AdvisedSettings> best;  ///< with its band; empty if nothing fits
    /// The smallest batch that loses no more than the request allows, with its band; empty if the
    /// best has that batch.
    std::optional<AdvisedSettings> knee;
    bool reaches_least = true;  ///< best reaches the requested tokens/s
    /// The best of each batch that fits.
    std::vector<AdvisedSettings> by_batch;
    std::vector<Neighbour> neighbours;
    std::vector<LeftOut> left_out;
    std::size_t combinations = 0, simulated = 0, bounded = 0, too_large = 0;
    /// If nothing fits: the row with the smallest shortage.
    std::optional<AdvisedSettings> nearest;
};

/// Advice for the only model and machine of the grid, which is advice_grid() of the request. The
/// best is at most kIndifferent + kNoGain below the best of all combinations of the grid: a
/// scenario is not simulated if its bound is better by no more than kIndifferent, and of scenarios
/// that are equally fast within kNoGain the one with the least memory wins. If the
/// schedule has resident layers, the best of each batch goes beyond the grid with choose_plan().
Advice advise(const ScenarioGrid& grid, const AdviceRequest& request, int processes = 1,
              const ShowProgress& show = {});

inline constexpr double kIndifferent = 0.005, kNoGain = 0.001;

/// Advice for one of several machines, with its price; or why the machine was left out.
struct MachineAdvice {
    std::string machine;
    std::optional<Payment> price;  ///< of the best settings, if there are some
    std::string left_out;  ///< "rents for 3.50 $ an hour, more than the 2.00 allowed"; else empty
    std::optional<Advice> advice;
    std::optional<AskedStep> asked = std::nullopt;  ///< of the best settings

    /// Dollars per million tokens; empty without a price or settings.
    std::optional<double> usd_per_million_tokens() const;
    bool is_choice() const {
        return advice && advice->best && advice->reaches_least && left_out.empty();
    }
};

/// The fastest of the machines that can be chosen, each with its best settings; null if there is
/// none.
const MachineAdvice* best_machine(const std::vector<MachineAdvice>& machines);
/// The machine with a price that trains a million tokens for the least; null if there is none.
const MachineAdvice* cheapest_machine(const std::vector<MachineAdvice>& machines);
/// The other machines whose bands overlap that of the best, so that measurements could reverse the
/// order.
std::vector<std::string> near_best_machine(const std::vector<MachineAdvice>& machines);

}  // namespace sluice
