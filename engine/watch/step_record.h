// Which facts are known when a step is done, and under which names do logs and TensorBoard have
// them?
#pragma once

#include <ctime>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/run/streamed_step.h"
#include "sim/base/units.h"

namespace sluice {

/// A held-out loss: a mean over tokens.
struct ValidationLoss {
    double all = 0;  ///< of all sets together
    /// Those of each set that has a name.
    std::vector<std::pair<std::string, double>> by_name = {};
};

struct StepRecord {
    std::int64_t step = 0;  ///< from 1
    StepOutcome outcome;
    bool spike = false;                        ///< loss or norm far above those before
    std::optional<ValidationLoss> validation;  ///< after it, if it was asked for
    double learning_rate = 0;
    Seconds seconds = 0;       ///< since the previous step's loss was known
    std::int64_t tokens = 0;   ///< of the step
    std::int64_t targets = 0;  ///< those that count in the loss
    Bytes device = 0;          ///< in use now, less the context
    Bytes host = 0;            ///< resident now
    std::optional<std::int64_t>
        saving;                        ///< the step whose checkpoint was being written at its start
    Seconds held = 0;                  ///< by saving, before it and in it
    std::optional<double> gpu_joules;  ///< since the previous step; empty without a counter
    std::optional<double> plan_share;  ///< of the speed that a plan predicts
    std::optional<std::time_t> time;   ///< when it was done, by the clock of the machine
    std::int64_t tokens_seen = 0;      ///< by the run so far, those of this step included
    double epochs = 0;                 ///< which these are

    double tokens_per_s() const { return static_cast<double>(tokens) / seconds; }
};

/// A number of a step: its key in the log, its tag in TensorBoard ("": it has none), and its value,
/// null where the step has none. An object has numbers by name, whose tags are below.
struct RecordedNumber {
    const char* key;
    const char* tag;
    nlohmann::ordered_json (*value)(const StepRecord&);
};
const std::vector<RecordedNumber>& recorded_numbers();

/// "2026-11-29T20:50:00Z".
std::string utc_text(std::time_t time);

/// "5.68", or "5.68 (chats 5.10, code 6.20)".
std::string validation_words(const ValidationLoss& loss);
/// The keys of the log that a loss has.
nlohmann::ordered_json validation_json(const ValidationLoss& loss);

/// The line of the log.
nlohmann::ordered_json step_json(const StepRecord& record);

}  // namespace sluice
