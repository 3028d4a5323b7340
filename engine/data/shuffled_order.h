// In which order does an epoch visit its windows, without a list of them in memory?
#pragma once

#include <cstdint>

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

}  // namespace sluice
