// How is a table of kernel times measured? One row per shape, timed with operands that no cache
// holds, and again if the groups differ much.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "calibrate/cases/bench.h"
#include "calibrate/cases/kernel_shapes.h"

namespace sluice {

/// Part of the arena.
struct Zone {
    Bytes begin = 0, bytes = 0;
};
/// Kernels only read this zone: it keeps its random numbers throughout a case.
Zone input_zone(const Bench& bench);
/// Kernels write to this zone, which is never an input, since numbers would grow from call to call.
Zone output_zone(const Bench& bench);

/// The amount of memory that calls rotate through: on a GPU 5 times the L2 cache of an H200; on the
/// CPU as much as some layers of the small models that it trains.
Bytes rotated_bytes(const Bench& bench);

class OperandSets {
  public:
    /// Sets of operands of `sizes` bytes each, as many as fit in rotated_bytes() and the zone. One
    /// set without memory if all sizes are 0.
    OperandSets(const Bench& bench, Zone zone, const std::vector<Bytes>& sizes);
    /// Whether the zone holds at least one set.
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

class KernelRows {
  public:
    /// Columns: the shape's, us, us_low, us_high and, if `tells_held_out`, held_out (0 or 1). Calls
    /// are timed as kernel_timing() says.
    KernelRows(Bench& bench, std::string table, const std::vector<std::string>& shape_columns,
               std::string method, bool tells_held_out = true);

    /// Times `enqueue` (see time_on_compute_lane) and adds the row. If the spread is more than 3%,
    /// it is timed again, and the steadier result counts. `refresh` enqueues work before each group
    /// that restores operands which calls change in place, since numbers overflow after some
    /// hundred passes.
    void measure(const KernelShape& shape, const std::function<void(std::int64_t)>& enqueue,
                 std::function<void()> refresh = {});
    /// Notes that the shape's operands do not fit in the arena.
    void leave_out(const KernelShape& shape);
    /// Adds the table to the record, and at most two warnings: about the largest spread, and about
    /// shapes that were left out.
    void finish(CaseRecord& record);

  private:
    std::string describe(const ShapeSize& size) const;

    Bench& bench_;
    Timing timing_;
    CaseTable table_;
    std::size_t shape_columns_;
    bool tells_held_out_;
    Sample worst_;
    ShapeSize worst_shape_, first_left_out_;
    int left_out_ = 0;
};

/// How kernels are timed: 3 ms of warm-up and groups of 4 ms, fewer if the bench is quick. A GPU
/// rests before each group, so that its clock is the highest: at its power limit the clock depends
/// on all work of the last 50 ms, and one product was 11% quicker to 15% slower on machines of one
/// kind. The slowdown at the limit is measured separately (clock_case.cpp).
Timing kernel_timing(Bench& bench);

/// Shapes of products or attention that take at most that long, estimated from one product.
ShapeLimits shape_limits(Bench& bench, Seconds longest);

/// Query and key heads that together are `columns` wide, with 3 or more queries per key if
/// possible, in sequences of at most 8192.
AttentionShape heads_of(std::int64_t rows, std::int64_t columns, std::int64_t head_dim);

}  // namespace sluice
