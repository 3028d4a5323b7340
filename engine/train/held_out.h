// How large is the loss on data that a run does not train on?
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/data/batch_sampler.h"
#include "engine/data/data_facts.h"
#include "engine/run/streamed_step.h"
#include "engine/train/run_settings.h"
#include "engine/watch/step_record.h"

namespace sluice {

StepTokens tokens_of(const Batch& batch);
/// Targets that count in the loss.
std::int64_t counted_targets(const Batch& batch);

/// All sequences of --validation once, in batches of training's size, each of one set. They stay in
/// memory, 8 bytes a token.
class HeldOut {
  public:
    /// Precondition: settings.validation is not empty. Throws InputError if the data is wrong or
    /// none of its targets counts.
    HeldOut(const ModelSpec& model, const TrainingSpec& training, const TrainSettings& settings);

    /// That of the tokens of all sets.
    const std::string& fingerprint() const { return fingerprint_; }
    /// Fingerprints of each set.
    const std::vector<std::string>& fingerprints() const { return fingerprints_; }
    /// Those of each set.
    const std::vector<DataFacts>& facts() const { return facts_; }
    bool is_due(std::int64_t step) const { return step % every_ == 0 || step == steps_; }
    /// The step before loss() names it as its next.
    const Batch& first() const { return batches_.front(); }
    /// Means over the targets that count. The step after it trains on `next`.
    ValidationLoss loss(StreamedStep& step, const Batch& next) const;

  private:
    /// Its batches, which are added.
    void add(const ValidationSet& set, const ModelSpec& model, const TrainingSpec& training,
             std::uint64_t seed);

    std::int64_t every_, steps_;
    std::string fingerprint_;
    std::vector<std::string> names_, fingerprints_;
    std::vector<DataFacts> facts_;
    std::vector<std::size_t> ends_;  ///< of each set in batches_
    std::vector<Batch> batches_;
};

}  // namespace sluice
