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
    for (const ValidationSet& set : settings.validation) add(set, model, training, settings.seed);
    if (fingerprints_.size() == 1) {
        fingerprint_ = fingerprints_.front();
        return;
    }
    // As that of all files without names.
    const TokenSource all =
        open_tokens(files_of(settings.validation), model.vocabulary, training.within_documents());
    fingerprint_ = all.fingerprint() + all.documents_fingerprint();
}

void HeldOut::add(const ValidationSet& set, const ModelSpec& model, const TrainingSpec& training,
                  std::uint64_t seed) {
    TokenSource tokens = open_tokens(set.files, model.vocabulary, training.within_documents());
    names_.push_back(set.name);
    facts_.push_back(data_facts(tokens, training.sequence));
    fingerprints_.push_back(tokens.fingerprint() + tokens.documents_fingerprint());
    BatchSampler sampler(std::move(tokens), training.batch, training.sequence, seed);
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
                        set.files.front()));
    ends_.push_back(batches_.size());
}

ValidationLoss HeldOut::loss(StreamedStep& step, const Batch& next) const {
    ValidationLoss out;
    double sum_of_all = 0;
    std::int64_t counted_in_all = 0;
    std::size_t i = 0;
    for (std::size_t set = 0; set < ends_.size(); ++set) {
        double sum = 0;
        std::int64_t counted = 0;
        for (; i < ends_[set]; ++i) {
            const Batch& after = i + 1 < batches_.size() ? batches_[i + 1] : next;
            const std::int64_t targets = counted_targets(batches_[i]);
            sum += step.evaluate(tokens_of(batches_[i]), tokens_of(after)) *
                   static_cast<double>(targets);
            counted += targets;
        }
        if (!names_[set].empty())
            out.by_name.emplace_back(names_[set], sum / static_cast<double>(counted));
        sum_of_all += sum;
        counted_in_all += counted;
    }
    out.all = sum_of_all / static_cast<double>(counted_in_all);
    return out;
}

}  // namespace sluice
