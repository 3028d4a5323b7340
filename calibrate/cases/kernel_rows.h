// How does a table of kernel times come about? A row a shape, each timed, and timed again where the
// groups lie far apart.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "calibrate/cases/bench.h"
#include "calibrate/cases/kernel_shapes.h"

namespace sluice {

class KernelRows {
  public:
    /// Columns: those of the shape, us, us_low, us_high.
    KernelRows(Bench& bench, const Timing& timing, std::string table,
               const std::vector<std::string>& shape_columns, std::string method);
    /// And held_out, 0 or 1.
    void tell_held_out();

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
    Table table_;
    std::size_t shape_columns_;
    bool tells_held_out_ = false;
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

}  // namespace sluice
