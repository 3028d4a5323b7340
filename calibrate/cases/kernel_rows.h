// How does a table of kernel times come about? A row a shape, each timed on operands that no cache
// holds, and timed again where the groups lie far apart.
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
/// Kernels only read here: random numbers throughout a case.
Zone input_zone(const Bench& bench);
/// Kernels write here: never an input, since numbers would grow from call to call.
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

class KernelRows {
  public:
    /// Columns: those of the shape, us, us_low, us_high and, where `tells_held_out`, held_out (0 or
    /// 1). Calls are timed as kernel_timing() says.
    KernelRows(Bench& bench, std::string table, const std::vector<std::string>& shape_columns,
               std::string method, bool tells_held_out = true);

    /// Times `enqueue` (see time_on_compute_lane) and adds the row; twice, of which the steadier
    /// counts, where the spread is more than 3%. `refresh` enqueues what restores
    /// operands that calls change in place, before each group; numbers that pass a kernel some
    /// hundred times overflow.
    void measure(const KernelShape& shape, const std::function<void(std::int64_t)>& enqueue,
                 std::function<void()> refresh = {});
    /// The shape's operands do not fit in the arena.
    void leave_out(const KernelShape& shape);
    /// Gives the table to the record, and at most two warnings: of the largest spread, and of what
    /// was left out.
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

/// How kernels are timed: 3 ms of warm-up and groups of 4 ms, fewer where the bench is quick. A GPU
/// rests before each group, so that its clock is the highest: at its power limit the clock depends
/// on all that ran in the last 50 ms, and one product was 11% quicker to 15% slower on machines of
/// one kind. How much slower kernels are at the limit is measured apart (clock_case.cpp).
Timing kernel_timing(Bench& bench);

/// Products or attention that take at most so long, probed with one product.
ShapeLimits shape_limits(Bench& bench, Seconds longest);

/// Query and key heads that together are `columns` wide, 3 or more queries to a key where that is
/// possible, in sequences of at most 8192.
AttentionShape heads_of(std::int64_t rows, std::int64_t columns, std::int64_t head_dim);

}  // namespace sluice
