#include "engine/data/batch_sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "sim/base/input_error.h"
#include "sim/base/mixed_bits.h"

namespace sluice {

ShuffledOrder::ShuffledOrder(std::int64_t count, std::uint64_t key)
    : count_(static_cast<std::uint64_t>(count)), key_(key) {
    if (count < 1 || count > std::int64_t{1} << 62)
        throw InternalError(fmt::format("shuffled order of {} entries", count));
    half_bits_ = std::max(1, (static_cast<int>(std::bit_width(count_ - 1)) + 1) / 2);
}

std::uint64_t ShuffledOrder::permute_square(std::uint64_t value) const {
    // Four rounds are pseudorandom for large halves; halves of a few bits need more.
    constexpr std::uint64_t kRounds = 8;
    const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
    std::uint64_t left = value >> half_bits_;
    std::uint64_t right = value & mask;
    for (std::uint64_t round = 0; round < kRounds; ++round) {
        const std::uint64_t changed = left ^ (mixed_bits(mixed_bits(key_ + round) ^ right) & mask);
        left = right;
        right = changed;
    }
    return (left << half_bits_) | right;
}

std::int64_t ShuffledOrder::operator()(std::int64_t index) const {
    std::uint64_t value = permute_square(static_cast<std::uint64_t>(index));
    while (value >= count_) value = permute_square(value);
    return static_cast<std::int64_t>(value);
}

BatchSampler::BatchSampler(TokenSource tokens, std::int64_t sequences, std::int64_t seq,
                           std::uint64_t seed)
    : tokens_(std::move(tokens)), sequences_(sequences), seq_(seq), seed_(seed) {
    if (sequences < 1 || seq < 1 || tokens_.shard_count() == 0)
        throw InternalError(fmt::format("batch of {} sequences of {} tokens from {} shards",
                                        sequences, seq, tokens_.shard_count()));
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
    if (position < 0 || position > std::int64_t{1} << 62)
        throw InternalError(fmt::format("batch sampler: seek to sequence {}", position));
    position_ = position;
}

void BatchSampler::read_sequence(std::int64_t position, Batch& batch) const {
    const auto epoch = static_cast<std::uint64_t>(position / windows_per_epoch());
    const ShuffledOrder order(windows_per_epoch(), mixed_bits(mixed_bits(seed_) + epoch));
    const std::int64_t index = order(position % windows_per_epoch());
    const auto after = std::upper_bound(windows_before_.begin(), windows_before_.end(), index);
    const auto shard = static_cast<std::size_t>(after - windows_before_.begin()) - 1;
    const std::int64_t begin = (index - windows_before_[shard]) * seq_;
    for (const std::int64_t document : tokens_.documents(shard, begin, seq_))
        batch.documents.push_back(
            static_cast<std::int32_t>(std::ssize(batch.inputs) + document - begin));
    std::vector<std::int32_t> tokens(static_cast<std::size_t>(seq_));
    tokens_.read(shard, begin, tokens);
    batch.inputs.insert(batch.inputs.end(), tokens.begin(), tokens.end());
    tokens_.read_targets(shard, begin + 1, tokens);
    batch.targets.insert(batch.targets.end(), tokens.begin(), tokens.end());
}

Batch BatchSampler::next() {
    Batch batch{sequences_, seq_, position_, {}, {}, {}};
    batch.inputs.reserve(static_cast<std::size_t>(sequences_ * seq_));
    batch.targets.reserve(static_cast<std::size_t>(sequences_ * seq_));
    for (std::int64_t i = 0; i < sequences_; ++i) read_sequence(position_ + i, batch);
    position_ += sequences_;
    return batch;
}

}  // namespace sluice
