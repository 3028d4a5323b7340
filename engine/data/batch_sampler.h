// Which tokens are in which batch? Every window of the data once per epoch, shuffled; a single
// number is enough to resume.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/data/token_source.h"

namespace sluice {

/// A permutation of [0, count) that depends on `key`, computed entry by entry. A Feistel network
/// (Luby and Rackoff, 1988) works on the smallest square power of two (4, 16, 64, ...) that holds
/// `count`, and is applied again while the result lies outside (cycle walking; Black and Rogaway,
/// 2002). That takes at most four applications on average, since the square is at most 4 count.
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
    std::int64_t seq = 0;  ///< tokens per sequence
    std::int64_t position =
        0;  ///< sequences drawn before this batch: seek() to this number draws it again
    std::vector<std::int32_t> inputs;  ///< (sequences, seq) token ids
    /// (sequences, seq) the token after each token of `inputs`; -1 if the mask says that it is not
    /// learned
    std::vector<std::int32_t> targets;
    /// Index of each document's first input; a sequence begins one. Empty unless the source knows
    /// documents.
    std::vector<std::int32_t> documents;
};

/// Cuts each shard into windows of seq + 1 tokens; the last token of a window is the first of the
/// next. Every token is a target once, except the first of a shard and at most seq - 1 at its end.
/// Each epoch visits every window once, in an order that depends on seed and epoch. A batch may
/// hold the end of one epoch and the start of the next.
class BatchSampler {
  public:
    /// `sequences` and `seq` at least 1. Throws InputError if a shard is shorter than a window.
    BatchSampler(TokenSource tokens, std::int64_t sequences, std::int64_t seq, std::uint64_t seed);

    /// Throws InputError for a token id outside the vocabulary or a wrong mask; the position then
    /// does not change.
    Batch next();

    /// Number of sequences drawn so far. With the same files, seq and seed it is the whole state,
    /// for any batch size.
    std::int64_t position() const { return position_; }
    void seek(std::int64_t position);

    const TokenSource& tokens() const { return tokens_; }
    std::int64_t windows_per_epoch() const { return windows_before_.back(); }

  private:
    /// Appends the sequence at that position.
    void read_sequence(std::int64_t position, Batch& batch) const;

    TokenSource tokens_;
    std::int64_t sequences_, seq_;
    std::uint64_t seed_;
    /// (shards + 1) number of windows in the shards before.
    std::vector<std::int64_t> windows_before_;
    std::int64_t position_ = 0;
};

}  // namespace sluice
