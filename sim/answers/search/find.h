// The inverse questions: the largest model, batch or context on a machine; the least memory, link
// or cores for a model at a wanted speed. A prediction on both sides checks each answer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/answers/predict/prediction.h"
#include "sim/specs/machine/machine_spec.h"
#include "sim/specs/model/model_spec.h"
#include "sim/specs/scenario/training_spec.h"

namespace sluice {

enum class Sought { batch, sequence, layers, model, host_memory, device_memory, link, cores };
const char* sought_name(Sought sought);
/// "largest batch", "slowest link".
const char* sought_question(Sought sought);
/// The unit of FindSide::value, as a key: "sequences", "gb".
const char* sought_unit(Sought sought);
/// Throws InputError if the name is none of them.
Sought parse_sought(const std::string& name);

/// Continuous answers are exact to this share of their value.
inline constexpr double kFindTolerance = 0.01;

struct FindQuery {
    Sought sought = Sought::batch;
    double tokens_per_s = 0;  ///< required minimum; 0: it only has to fit
    /// If the given settings do not fit, also tries the nearest ones that change only speed
    /// (nearest_fits()). Not for the batch.
    bool adjust = false;
    bool planned_too = false;  ///< for the model: those that no program trains there today, too
};

struct FindSide {
    double value = 0;              ///< in the unit of the answer
    std::string subject;           ///< "57 sequences", "llama-3.1-70b"
    Prediction report;             ///< with its band
    std::vector<Setting> changes;  ///< of the given settings
    bool fits() const { return report.plan.fit.fits(); }
};

struct FindAnswer {
    FindQuery query;
    std::string asked;             ///< "largest batch", "least link"
    std::optional<FindSide> best;  ///< the last value that works; empty if none does
    /// The next value, which does not work; empty if all searched values work.
    std::optional<FindSide> other;
    int plans = 0;  ///< number of plans tried
    /// Says why the answer is doubtful, such as memory that such a machine cannot have.
    std::string note;
    /// The bands of predictions near the answer contain the wanted speed, so the answer is not
    /// sure.
    bool speed_within_band() const;
};

/// Throws InputError if the query does not match machine or settings. `training`: the fixed
/// settings; `model` is not read if the model is the unknown.
FindAnswer find_limit(const ModelSpec& model, const MachineSpec& machine,
                      const TrainingSpec& training, const FindQuery& query);

}  // namespace sluice
