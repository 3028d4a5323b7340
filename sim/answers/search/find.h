// The inverse questions: the largest model, batch or context on a machine; the least memory, link
// or cores for a model at a wanted speed. Each answer is checked by a prediction on both sides.
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
/// Throws InputError where the name is none of them.
Sought parse_sought(const std::string& name);

/// Continuous answers are found to this share of their value.
inline constexpr double kFindTolerance = 0.01;

struct FindQuery {
    Sought sought = Sought::batch;
    double tokens_per_s = 0;  ///< wanted at least; 0: it only has to fit
    /// Where the asked settings do not fit, the nearest that do and change nothing but speed
    /// (nearest_fits()) count too. Not for the batch.
    bool adjust = false;
};

/// One side of the answer.
struct FindSide {
    double value = 0;              ///< in the unit of the answer
    std::string subject;           ///< "57 sequences", "llama-3.1-70b"
    Prediction report;             ///< with its band
    std::vector<Setting> changes;  ///< of the asked settings
    bool fits() const { return report.plan.fit.fits(); }
};

struct FindAnswer {
    FindQuery query;
    std::string asked;            ///< "largest batch", "least link"
    std::optional<FindSide> best;  ///< does it; nothing where no value searched does
    std::optional<FindSide>
        other;      ///< the next that does not; nothing where all that was searched do
    int plans = 0;  ///< that were tried
    /// What holds the answer back or puts it in doubt: memory that such a machine cannot have.
    std::string note;
    /// Several predictions lie so near to the wanted speed that their bands hold it: then the
    /// answer is not sure.
    bool speed_within_band() const;
};

/// Throws InputError where the query does not go with machine or settings. `training`: what is
/// held; `model` is not read if the model is the unknown.
FindAnswer find_limit(const ModelSpec& model, const MachineSpec& machine, const TrainingSpec& training,
                   const FindQuery& query);

}  // namespace sluice
