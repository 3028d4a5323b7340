// Which tokens are in which batch? Every window of the data once an epoch, shuffled, resumable by
// one number.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/data/token_source.h"

namespace sluice {

/// A permutation of [0, count) chosen by `key`, computed entry by entry: a Feistel network (Luby
/// and Rackoff, 1988) on the smallest square power of two (4, 16, 64, ...) that holds `count`,
/// applied again while the result lies outside (cycle walking; Black and Rogaway, 2002). At most
/// four times on average, since the square is at most 4 count.
class ShuffledOrder {
  public:
    /// `count` from 1 to 2^62, else InternalError.
    ShuffledOrder(std::int64_t count, std::uint64_t key);

    /// The entry at `index` of [0, count).
    std::int64_t operator()(std::int64_t index) const;

  private:
    std::uint64_t permute_square(std::uint64_t value) const;

    std::uint64_t count_;
    std::uint64_t key_;
    int half_bits_;
};

struct Batch {
    std::int64_t sequences = 0;
    std::int64_t seq = 0;               ///< tokens of a sequence
    std::int64_t position = 0;          ///< sequences drawn before it: seek() here draws it again
    std::vector<std::int32_t> inputs;   ///< (sequences, seq) token ids
    std::vector<std::int32_t> targets;  ///< (sequences, seq) the token after each of `inputs`
};

/// Cuts each shard into windows of seq + 1 tokens, the last token of one being the first of the
/// next: every token is a target once, but for the first of a shard and at most seq - 1 at its end.
/// Each epoch visits every window once, in an order that follows from seed and epoch. A batch may
/// hold the end of an epoch and the start of the next.
class BatchSampler {
  public:
    /// `sequences` and `seq` at least 1. Throws InputError when a shard is shorter than a window.
    BatchSampler(TokenSource tokens, std::int64_t sequences, std::int64_t seq, std::uint64_t seed);

    /// Throws InputError for a token id outside the vocabulary; the position then stays.
    Batch next();

    /// Sequences drawn so far. With the same files, seq and seed this is the whole state, whatever
    /// the number of sequences in a batch was.
    std::int64_t position() const { return position_; }
    void seek(std::int64_t position);

    std::int64_t windows_per_epoch() const { return windows_before_.back(); }

  private:
    void read_sequence(std::int64_t position, std::vector<std::int32_t>& window) const;

    TokenSource tokens_;
    std::int64_t sequences_, seq_;
    std::uint64_t seed_;
    std::vector<std::int64_t> windows_before_;  ///< (shards + 1) windows in the shards before
    std::int64_t position_ = 0;
};

}  // namespace sluice
