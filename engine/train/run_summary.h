// Which lines tell people, before the first step, all that a run will do?
#pragma once

#include <ctime>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/data/data_facts.h"
#include "engine/train/run_settings.h"

namespace sluice {

struct ComingRun {
    TrainSettings settings;
    TrainingSpec training;
    std::int64_t longest_sequence = 0;  ///< that the model was made for; 0: unknown
    std::int64_t vocabulary = 0;        ///< the model's
    DataFacts data;
    std::vector<DataFacts> validation;  ///< of each set
    bool fp32_activations = false;
    std::optional<std::string> continues_from;  ///< a checkpoint
    std::int64_t done = 0;                      ///< its step
    std::time_t now = 0;
};

/// Names with their values.
std::vector<std::pair<std::string, std::string>> run_facts(const ComingRun& run);
/// The same as text, a line each.
std::string run_summary(const ComingRun& run);

/// Sentences on what is perhaps not meant.
std::vector<std::string> run_warnings(const ComingRun& facts);

/// "2026-11-29 21:50", where the program runs.
std::string local_minute(std::time_t time);

}  // namespace sluice
