// Which settings are the best for a model on a machine, and what would others cost? And which of
// several machines is the best, each with its best settings?
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/answers/search/advise_grid.h"
#include "sim/answers/search/search.h"

namespace sluice {

/// Settings with what is predicted of them.
struct AdvisedSettings {
    TrainingSpec training;
    SearchRow row;  ///< simulated

    double tokens_per_s() const { return row.tokens_per_s(training); }
};

/// Another value of one option, all else as in the best settings.
struct Neighbour {
    std::string option;           ///< field
    std::string chosen, instead;  ///< values
    SearchRow row;                ///< simulated, too large or excluded
    // Simulated: against the best settings.
    double speed_change = 0;  ///< of tokens/s; -0.02: two percent fewer
    Bytes device_change = 0, host_change = 0;
    /// The difference is smaller than the distance from the prediction to the nearer end of its
    /// band, so a measurement could reverse it.
    bool within_band = false;
};

/// Combinations that were left out because of one option.
struct LeftOut {
    std::string field;    ///< of the option, as InputError::field()
    std::string example;  ///< the reason of one of them
    std::size_t count = 0;
};

struct Advice {
    std::string model_name, machine_id;
    int layers = 0;
    std::optional<AdvisedSettings> best;  ///< with its band; nothing where nothing fits
    /// The smallest batch that loses no more than the request allows, with its band; nothing where
    /// that is the best itself.
    std::optional<AdvisedSettings> knee;
    bool reaches_least = true;  ///< best has the tokens/s asked for
    /// The best of each batch that fits; of one that can be neither best nor knee, the settings
    /// with the best bound.
    std::vector<AdvisedSettings> by_batch;
    std::vector<Neighbour> neighbours;
    std::vector<LeftOut> left_out;
    std::size_t combinations = 0, simulated = 0, bounded = 0, too_large = 0;
    /// Where nothing fits: the row that is short by the least.
    std::optional<AdvisedSettings> nearest;
};

/// Advice for the only model and machine of the grid, which is advice_grid() of the request.
/// The best is at most kIndifferent + kNoGain below the best of all combinations of the grid: a
/// scenario is not simulated where its bound is better by no more than kIndifferent, and of those
/// that are as fast but for kNoGain the one is taken that needs the least memory. The best goes
/// beyond the grid where faster_with_more_memory() are faster by kWorthChanging.
Advice advise(const ScenarioGrid& grid, const AdviceRequest& request, int processes = 1,
              const ShowProgress& show = {});

inline constexpr double kIndifferent = 0.005, kNoGain = 0.001;

/// What an hour of a machine costs.
struct HourlyPrice {
    double usd = 0;      ///< of one GPU and its part of the machine
    std::string source;  ///< who asks it, and when
};

/// Advice for one of several machines, with its price; or why the machine was not asked.
struct MachineAdvice {
    std::string machine;
    std::optional<HourlyPrice> price;
    std::string left_out;  ///< "rents for 3.50 $ an hour, more than the 2.00 allowed"; else empty
    std::optional<Advice> advice;

    /// Dollars for a million tokens; nothing without a price or settings.
    std::optional<double> usd_per_million_tokens() const;
    bool is_choice() const {
        return advice && advice->best && advice->reaches_least && left_out.empty();
    }
};

/// The machine whose best settings train the most tokens a second, of those that are a choice;
/// nothing where none is.
const MachineAdvice* best_machine(const std::vector<MachineAdvice>& machines);
/// The one of those with a price that trains a million tokens for the least; nothing where none is.
const MachineAdvice* cheapest_machine(const std::vector<MachineAdvice>& machines);
/// The other choices whose bands reach into that of the best machine, so that measurements could
/// turn the order round.
std::vector<std::string> near_best_machine(const std::vector<MachineAdvice>& machines);

}  // namespace sluice
