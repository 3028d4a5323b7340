#include "engine/data/batch_sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/data/shuffled_order.h"
#include "sim/base/input_error.h"
#include "sim/base/mixed_bits.h"

namespace sluice {

BatchSampler::BatchSampler(TokenSource tokens, std::int64_t sequences, std::int64_t seq,
                           std::uint64_t seed)
    : tokens_(std::move(tokens)), sequences_(sequences), seq_(seq), seed_(seed) {
    if (sequences < 1 || seq < 1 || tokens_.shard_count() == 0) {
        throw InternalError(fmt::format("batch of {} sequences of {} tokens from {} shards",
                                        sequences, seq, tokens_.shard_count()));
    }
    windows_before_.push_back(0);
    for (std::size_t i = 0; i < tokens_.shard_count(); ++i) {
        const std::int64_t count = tokens_.shard(i).tokens();
        if (count <= seq) {
            throw InputError(
                fmt::format("{}: has {} tokens, expected at least {} for one sequence of {} and "
                            "its next token; give a longer file or a smaller --seq",
                            tokens_.shard(i).path(), count, seq + 1, seq));
        }
        windows_before_.push_back(windows_before_.back() + (count - 1) / seq);
    }
}

void BatchSampler::seek(std::int64_t position) {
    // Far beyond any training; keeps the sum in next() in range.
    if (position < 0 || position > std::int64_t{1} << 62) {
        throw InternalError(fmt::format("batch sampler: seek to sequence {}", position));
    }
    position_ = position;
}

void BatchSampler::read_sequence(std::int64_t position, std::vector<std::int32_t>& window) const {
    const auto epoch = static_cast<std::uint64_t>(position / windows_per_epoch());
    const ShuffledOrder order(windows_per_epoch(), mixed_bits(mixed_bits(seed_) + epoch));
    const std::int64_t index = order(position % windows_per_epoch());
    const auto after = std::upper_bound(windows_before_.begin(), windows_before_.end(), index);
    const auto shard = static_cast<std::size_t>(after - windows_before_.begin()) - 1;
    tokens_.read(shard, (index - windows_before_[shard]) * seq_, window);
}

Batch BatchSampler::next() {
    Batch batch{sequences_, seq_, position_, {}, {}};
    batch.inputs.reserve(static_cast<std::size_t>(sequences_ * seq_));
    batch.targets.reserve(static_cast<std::size_t>(sequences_ * seq_));
    std::vector<std::int32_t> window(static_cast<std::size_t>(seq_ + 1));
    for (std::int64_t i = 0; i < sequences_; ++i) {
        read_sequence(position_ + i, window);
        batch.inputs.insert(batch.inputs.end(), window.begin(), window.end() - 1);
        batch.targets.insert(batch.targets.end(), window.begin() + 1, window.end());
    }
    position_ += sequences_;
    return batch;
}

}  // namespace sluice
