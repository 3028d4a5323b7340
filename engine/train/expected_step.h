// Which step is expected of this run, and how far is the measured step from it?
#pragma once

#include <map>
#include <optional>
#include <string>

#include "engine/train/expected_rates.h"
#include "sim/answers/predict/prediction.h"
#include "sim/report/table.h"

namespace sluice {

/// Numbers of a prediction that a run is compared with.
struct ExpectedStep {
    struct Times {
        Seconds busy = 0, exposed = 0;
    };
    std::string file;  ///< that it was read from, if it was
    std::string model;
    std::int64_t parameters = 0;
    std::map<std::string, std::string> training;  ///< by field, as typed
    Seconds step = 0;
    Bytes device = 0, host = 0;          ///< at most
    ByLane<std::optional<Times>> lanes;  ///< empty: the plan does not use it
    std::optional<ExpectedRates> rates;  ///< empty: the prediction has none
    /// With --clipping auto, a step that clips nothing; empty: it is as long, or nearly.
    std::optional<Seconds> step_ahead;

    /// The prediction of a step whose updates began before its norm was known, or waited for it.
    /// Lanes and rates are those of steps that wait.
    ExpectedStep of(bool ahead) const;
};

ExpectedStep expected_of(const Prediction& prediction);
/// Throws InputError if the file is no prediction of `sluice predict --json`, or its plan does not
/// fit.
ExpectedStep read_expected_step(const std::string& file);

/// Throws InputError if the prediction is for another model.
void check_expected_model(const ExpectedStep& expected, const ModelSpec& model);

/// Step, memory and lanes: predicted, measured, and their difference.
Table expected_table(const ExpectedStep& expected, const TimedPlan& measured);

/// "97% of plan; optimizer 12% slower than planned": of the speed, and the lane that accounts for
/// most of the difference, if that is 1% of a step.
std::string against_plan(const ExpectedStep& expected, const TimedPlan& measured);

/// "most of the difference: optimizer exposed time is 80.0 ms longer than predicted, 4.0% of the
/// step"; "" if the prediction has no lanes.
std::string largest_difference(const ExpectedStep& expected, const TimedPlan& measured);

}  // namespace sluice
