// How does a run look in a browser? One HTML page that needs no other file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/watch/run_history.h"
#include "engine/watch/step_record.h"
#include "sim/report/table.h"

namespace sluice {

/// Facts that do not change during a run.
struct RunFacts {
    std::string model, device;
    std::int64_t steps = 0;
    Bytes planned_device = 0, planned_host = 0;
    std::optional<Seconds> expected_step;             ///< that a plan predicts
    std::optional<Seconds> expected_step_ahead = {};  ///< whose updates begin before the norm
    /// Names with their values: weights, data, optimizer and others that the run began with.
    std::vector<std::pair<std::string, std::string>> settings = {};
    nlohmann::ordered_json hyperparameters = nlohmann::ordered_json::object();  ///< as numbers
};

/// The newest measured step.
struct MeasuredParts {
    std::string against_plan;  ///< "97% of plan; ..."; empty without a plan
    Table comparison;          ///< with the plan; without rows if there is none
    Picture step;              ///< its lanes over time
};

struct RunPage {
    RunFacts facts;
    std::string state;  ///< "step 12 of 100, 0:31 left", or how it ended
    bool ended = false;
    std::string written;  ///< when
    std::optional<StepRecord> last;
    std::string checkpoint;  ///< the newest; empty: none
    RunHistory history;
    std::optional<MeasuredParts> measured;
    std::vector<std::string> notes;  ///< the newest first
};

/// The class of every page's heading, so that it is known as one of ours.
inline constexpr std::string_view kPageMark = "sluice-train-watch";

/// Browsers load it again after this time, until the run has ended.
inline constexpr int kRefreshSeconds = 10;

std::string html(const RunPage& page);

}  // namespace sluice
