// Which tokens does training read: shards and texts, in which order?
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/data/token_shard.h"

namespace sluice {

/// Token files in the order in which they were given.
class TokenSource {
  public:
    TokenSource(std::vector<TokenShard> shards, std::int64_t vocabulary);

    std::size_t shard_count() const { return shards_.size(); }
    const TokenShard& shard(std::size_t index) const { return shards_[index]; }

    /// Tokens [begin, begin + out.size()) of a shard; all are less than the vocabulary,
    /// else InputError.
    void read(std::size_t shard, std::int64_t begin, std::span<std::int32_t> out) const;

  private:
    std::vector<TokenShard> shards_;
    std::int64_t vocabulary_;
};

/// Opens files (see TokenShard for what they may hold) and folders. A folder stands for its *.bin
/// files in the order of their names, or, where there are none, for its *.txt and *.md files.
/// Throws InputError; also for a folder that mixes training shards with those for validation, and
/// for text when `vocabulary` is less than 256.
TokenSource open_tokens(const std::vector<std::string>& paths, std::int64_t vocabulary);

}  // namespace sluice
