// The lanes of a steady step as rows of blocks: of a prediction, or of a prediction and a
// measurement, lane by lane.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "sim/plan/step.h"
#include "sim/report/lane_blocks.h"

namespace sluice {

/// A stretch in which compute waits, and its cause.
struct WaitBlock {
    Seconds start = 0, end = 0;
    OperationId cause = -1;    ///< the operation that compute waits for
    OperationId waiting = -1;  ///< the compute operation that cannot start
};

struct TimelineRow {
    std::shared_ptr<const TimedPlan> report;
    Lane lane = Work::compute;
    bool measured_below = false;  ///< the measured report's row, below the predicted one
    std::vector<Block> blocks;    ///< one per operation (two if it is cut), in order of time
    /// In the lane compute: its pauses. In other lanes: the times when compute waits for them
    /// (exposed).
    std::vector<WaitBlock> waits;

    const Operation& operation(OperationId id) const {
        return report->plan.program.operations[static_cast<std::size_t>(id)];
    }
    const OperationInterval& interval(OperationId id) const {
        return report->step.intervals[static_cast<std::size_t>(id)];
    }
    const LaneTime& time() const { return report->step.lane(lane); }
};

struct TimelinePlace {
    std::size_t row = 0, block = 0;
    bool operator==(const TimelinePlace&) const = default;
};

class Timeline {
  public:
    Timeline() = default;
    /// One row per lane with operations, in the order of Lane; two reports give pairs of rows. Time
    /// starts with the step's first compute operation. A report without operations gives no rows.
    explicit Timeline(std::shared_ptr<const TimedPlan> predicted,
                      std::shared_ptr<const TimedPlan> measured = nullptr);

    const std::vector<TimelineRow>& rows() const { return rows_; }
    bool empty() const { return rows_.empty(); }
    /// The longer step's time.
    Seconds length() const { return length_; }
    bool has_measured() const { return has_measured_; }

    const Block& block(TimelinePlace place) const { return rows_[place.row].blocks[place.block]; }
    OperationId operation(TimelinePlace place) const { return block(place).first; }

    /// The row's blocks in [begin, end]; blocks shorter than `shortest` are drawn as one.
    std::vector<Block> visible(std::size_t row, Seconds begin, Seconds end, Seconds shortest) const;
    /// The row's waits within [begin, end]; waits are joined across pauses shorter than `shortest`.
    std::vector<WaitBlock> visible_waits(std::size_t row, Seconds begin, Seconds end,
                                         Seconds shortest) const;

    /// The operation that runs at `time`, else the nearest one within `tolerance`.
    std::optional<TimelinePlace> hit(std::size_t row, Seconds time, Seconds tolerance) const;
    std::optional<WaitBlock> wait_at(std::size_t row, Seconds time) const;

    /// The operation `by` places later in the row (earlier, if negative); stops at the ends.
    TimelinePlace beside(TimelinePlace place, int by) const;
    /// The operation in the row `by` below that runs at the middle of the block, or the nearest
    /// one.
    TimelinePlace below(TimelinePlace place, int by) const;

  private:
    void add_row(const std::shared_ptr<const TimedPlan>& report, Lane lane, bool measured_below,
                 const std::vector<ExposedWait>& exposed);

    std::vector<TimelineRow> rows_;
    Seconds length_ = 0;
    bool has_measured_ = false;
};

/// "The measured step has 412 operations, the predicted one 282: ..." if the two have different
/// plans; else empty.
std::string plan_difference(const TimedPlan& predicted, const TimedPlan& measured);

}  // namespace sluice
