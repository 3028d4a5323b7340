// How large is the loss on data that a run does not train on?
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/data/batch_sampler.h"
#include "engine/data/data_facts.h"
#include "engine/run/streamed_step.h"
#include "engine/train/run_settings.h"

namespace sluice {

StepTokens tokens_of(const Batch& batch);
/// Targets that count in the loss.
std::int64_t counted_targets(const Batch& batch);

/// All sequences of --validation once, in batches of training's size. They stay in memory, 8 bytes
/// a token.
class HeldOut {
  public:
    /// Precondition: settings.validation is not empty. Throws InputError if the data is wrong or
    /// none of its targets counts.
    HeldOut(const ModelSpec& model, const TrainingSpec& training, const TrainSettings& settings);

    const std::string& fingerprint() const { return fingerprint_; }
    const DataFacts& facts() const { return facts_; }
    bool is_due(std::int64_t step) const { return step % every_ == 0 || step == steps_; }
    /// The step before loss() names it as its next.
    const Batch& first() const { return batches_.front(); }
    /// Mean over the targets that count. The step after it trains on `next`.
    double loss(StreamedStep& step, const Batch& next) const;

  private:
    std::int64_t every_, steps_;
    std::string fingerprint_;  ///< of the data
    DataFacts facts_;
    std::vector<Batch> batches_;
};

}  // namespace sluice
