#include "engine/train/run_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "engine/data/files.h"
#include "sim/base/input_error.h"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

// The order of the data depends on these.
constexpr std::array<std::string_view, 4> kMustNotChange = {"seq", "seed", "windows_per_epoch",
                                                            "data"};

// Options of the plan that change numbers.
constexpr std::array kChangeNumbers = {
    "clipping",       "compute",   "frozen_weights", "adapter_dropout_percent",
    "head_gradients", "kept_bits", "attend_within"};

bool has_an_end(const Json& schedule) {
    const auto place = std::ranges::find(kLearningRateNames, schedule.get<std::string>());
    return ends_at_a_step(static_cast<LearningRateKind>(place - kLearningRateNames.begin()));
}

std::string shown(const Json& object, const std::string& key) {
    return object.contains(key) ? object[key].dump() : "not said";
}

[[noreturn]] void refuse_other_place(const std::string& folder, std::string_view key,
                                     const std::string& before, const std::string& now,
                                     const std::vector<std::string>& data) {
    constexpr const char* kLost =
        "so its place in the data would be lost; give the same, or start again with --load";
    if (key == "seq" || key == "seed")
        throw InputError(fmt::format("--{} is {}, but {} was trained with {}, {} {}", key, now,
                                     folder, before, kLost, folder));
    throw InputError(fmt::format("--data {}: holds other tokens than {} was trained on, {} {}",
                                 fmt::join(data, " "), folder, kLost, folder));
}

}  // namespace

std::vector<ValidationSet> validation_sets(const std::vector<std::string>& words) {
    std::vector<ValidationSet> sets;
    for (const std::string& word : words) {
        const std::size_t equals = word.find('=');
        // A file may have such a name.
        const bool names_a_set = equals != word.npos && word.find('/') > equals && !is_there(word);
        const std::string name = names_a_set ? word.substr(0, equals) : "";
        if (names_a_set && (name.empty() || equals + 1 == word.size()))
            throw InputError(fmt::format(
                "--validation {}: expected NAME=FILE, or a file; give both a name and a file",
                word));
        if (names_a_set && std::ranges::count(sets, name, &ValidationSet::name) > 0)
            throw InputError(fmt::format(
                "--validation {}: {} has a set already; write its files after one another", word,
                name));
        if (names_a_set && !sets.empty() && sets.front().name.empty())
            throw InputError(
                fmt::format("--validation {}: {} comes before it without a name; name it, too",
                            word, sets.front().files.front()));
        if (names_a_set || sets.empty()) sets.push_back({name, {}});
        sets.back().files.push_back(names_a_set ? word.substr(equals + 1) : word);
    }
    return sets;
}

std::vector<std::string> files_of(const std::vector<ValidationSet>& sets) {
    std::vector<std::string> files;
    for (const ValidationSet& set : sets)
        files.insert(files.end(), set.files.begin(), set.files.end());
    return files;
}

double adapter_alpha(const TrainSettings& settings, const TrainingSpec& training) {
    const auto rank = static_cast<double>(training.adapter_rank);
    return settings.adapter_alpha.value_or(2 * (settings.rank_stabilized ? std::sqrt(rank) : rank));
}

AdamWStep adamw_step(const TrainSettings& settings, std::int64_t step) {
    AdamWStep adam;
    adam.learning_rate = static_cast<float>(
        learning_rate_at({settings.learning_rate, settings.final_fraction, settings.warmup_steps,
                          settings.steps, settings.schedule, settings.decay_share},
                         step));
    adam.beta1 = settings.beta1;
    adam.beta2 = settings.beta2;
    adam.epsilon = static_cast<float>(settings.epsilon);
    adam.weight_decay = static_cast<float>(settings.weight_decay);
    adam.step = step;
    adam.seed = settings.seed;
    return adam;
}

std::string settings_record(const TrainingSpec& training, const TrainSettings& s,
                            const BatchSampler& data, const DataFingerprints& fingerprints) {
    Json record{{"batch", training.batch},
                {"seq", training.sequence},
                {"steps", s.steps},
                {"seed", s.seed},
                {"learning_rate", s.learning_rate},
                {"warmup_steps", s.warmup_steps},
                {"lr_schedule", kLearningRateNames[static_cast<std::size_t>(s.schedule)]},
                {"final_fraction", s.final_fraction},
                {"beta1", s.beta1},
                {"beta2", s.beta2},
                {"epsilon", s.epsilon},
                {"weight_decay", s.weight_decay},
                {"max_norm", s.max_norm},
                {"on_spike", kOnSpikeNames[static_cast<std::size_t>(s.on_spike)]},
                {"spike_deviations", s.spike_deviations},
                {"micro_batch", training.micro_batch_sequences()},
                {"precision", s.precision},
                {"windows_per_epoch", data.windows_per_epoch()},
                {"data", fingerprints.tokens}};
    if (s.schedule == LearningRateKind::wsd) record["decay_share"] = s.decay_share;
    const std::map<std::string, std::string> plan = option_texts(training);
    for (const char* const option : kChangeNumbers) record[option] = plan.at(option);
    if (!fingerprints.documents.empty()) record["documents"] = fingerprints.documents;
    if (!fingerprints.validation.empty()) record["validation"] = fingerprints.validation;
    return record.dump();
}

bool same_validation(const std::string& saved, const std::string& now) {
    return shown(Json::parse(saved), "validation") == shown(Json::parse(now), "validation");
}

std::string changed_settings(const std::string& folder, const std::string& saved,
                             const std::string& now, const std::vector<std::string>& data) {
    const Json before = Json::parse(saved), after = Json::parse(now);
    std::string changes;
    for (const auto& [key, value] : after.items()) {
        const bool fixed =
            std::find(kMustNotChange.begin(), kMustNotChange.end(), key) != kMustNotChange.end();
        if (before.contains(key) ? before[key] == value : !fixed) continue;
        if (fixed) refuse_other_place(folder, key, shown(before, key), value.dump(), data);
        changes += changes.empty() ? "" : ", ";
        if (key == "documents" || key == "validation")
            changes += fmt::format("the {} data are others",
                                   key == "documents" ? "documents of the" : "held-out");
        else
            changes += fmt::format("{} is {} instead of {}", key, value.dump(), shown(before, key));
        if (key == "steps" && has_an_end(after["lr_schedule"]))
            changes += ", which the learning rates from here on follow";
    }
    return changes;
}

}  // namespace sluice
