#include "engine/train/held_out.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/input_error.h"

namespace sluice {

StepTokens tokens_of(const Batch& batch) { return {batch.inputs, batch.targets, batch.documents}; }

std::int64_t counted_targets(const Batch& batch) {
    return std::count_if(batch.targets.begin(), batch.targets.end(),
                         [](std::int32_t target) { return target >= 0; });
}

HeldOut::HeldOut(const ModelSpec& model, const TrainingSpec& training,
                 const TrainSettings& settings)
    : every_(settings.validate_every), steps_(settings.steps) {
    TokenSource tokens =
        open_tokens(settings.validation, model.vocabulary, training.within_documents());
    facts_ = data_facts(tokens, training.sequence);
    fingerprint_ = tokens.fingerprint() + tokens.documents_fingerprint();
    BatchSampler sampler(std::move(tokens), training.batch, training.sequence, settings.seed);
    std::int64_t counted = 0;
    while (sampler.position() < sampler.windows_per_epoch()) {
        Batch& batch = batches_.emplace_back(sampler.next());
        // Sequences of the next epoch, which only fill the last batch.
        const std::int64_t twice = sampler.position() - sampler.windows_per_epoch();
        if (twice > 0)
            std::fill(batch.targets.end() - std::min(twice * batch.seq, std::ssize(batch.targets)),
                      batch.targets.end(), -1);
        counted += counted_targets(batch);
    }
    if (counted == 0)
        throw InputError(
            fmt::format("--validation {}: its mask leaves no token to learn; give "
                        "other data",
                        settings.validation.front()));
}

double HeldOut::loss(StreamedStep& step, const Batch& next) const {
    double sum = 0;
    std::int64_t counted = 0;
    for (std::size_t i = 0; i < batches_.size(); ++i) {
        const Batch& after = i + 1 < batches_.size() ? batches_[i + 1] : next;
        const std::int64_t targets = counted_targets(batches_[i]);
        sum +=
            step.evaluate(tokens_of(batches_[i]), tokens_of(after)) * static_cast<double>(targets);
        counted += targets;
    }
    return sum / static_cast<double>(counted);
}

}  // namespace sluice
