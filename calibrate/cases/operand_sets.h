// Where in the arena are the matrices of a call? Calls take turns among sets of operands which
// together exceed the caches, since in training other layers come between two uses.
#pragma once

#include <cstdint>
#include <vector>

#include "calibrate/cases/bench.h"

namespace sluice {

/// Part of the arena.
struct Zone {
    Bytes begin = 0, bytes = 0;
};
/// What kernels only read: random numbers throughout a case.
Zone input_zone(const Bench& bench);
/// What they write: never an input, since numbers would grow from call to call.
Zone output_zone(const Bench& bench);

/// How much memory calls go through before they come to the same again: on a GPU 5 times the L2
/// cache of an H200; on the CPU what some layers of the small models have that it trains.
Bytes rotated_bytes(const Bench& bench);

class OperandSets {
  public:
    /// Sets of operands of `sizes` bytes each, as many as make up rotated_bytes() and fit in the
    /// zone. One, without memory, where all sizes are 0.
    OperandSets(const Bench& bench, Zone zone, const std::vector<Bytes>& sizes);
    /// Whether the zone holds one set at least.
    bool fit() const { return sets_ > 0; }
    std::int64_t sets() const { return sets_; }
    Bytes bytes() const { return sets_ * set_bytes_; }  ///< of all sets
    /// Operand `which` of a call's set. Precondition: fit().
    char* at(std::int64_t call, std::size_t which) const;

  private:
    char* begin_ = nullptr;
    std::vector<Bytes> offsets_;
    Bytes set_bytes_ = 0;
    std::int64_t sets_ = 0;
};

}  // namespace sluice
