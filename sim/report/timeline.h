// The lanes of a steady step as rows of blocks: a prediction's, or those of a prediction and of
// what was measured, lane beside lane.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "sim/plan/step.h"
#include "sim/report/lane_blocks.h"

namespace sluice {

/// A stretch in which compute waits, and for whom.
struct WaitBlock {
    Seconds start = 0, end = 0;
    OperationId cause = -1;    ///< what is waited for
    OperationId waiting = -1;  ///< the compute operation that cannot start
};

struct TimelineRow {
    std::shared_ptr<const TimedPlan> report;
    Lane lane = Lane::compute;
    bool measured_below = false;  ///< the row of the measured report, beneath the predicted one's
    std::vector<Block> blocks;    ///< one an operation (two where it is cut), in order of time
    /// In the lane compute its pauses, in others the times when compute waits for them (exposed).
    std::vector<WaitBlock> waits;

    const Operation& operation(OperationId id) const {
        return report->plan.program.operations[static_cast<std::size_t>(id)];
    }
    const OperationInterval& interval(OperationId id) const {
        return report->step.intervals[static_cast<std::size_t>(id)];
    }
    const LaneTime& time() const { return report->step.lanes[static_cast<std::size_t>(lane)]; }
};

/// A block of a row.
struct TimelinePlace {
    std::size_t row = 0, block = 0;
    bool operator==(const TimelinePlace&) const = default;
};

class Timeline {
  public:
    Timeline() = default;
    /// Rows of the lanes that have operations, in the order of Lane; of two reports in pairs. Both
    /// begin with the first compute operation of the step. A report without operations gives no
    /// rows.
    explicit Timeline(std::shared_ptr<const TimedPlan> predicted,
                      std::shared_ptr<const TimedPlan> measured = nullptr);

    const std::vector<TimelineRow>& rows() const { return rows_; }
    bool empty() const { return rows_.empty(); }
    /// The time of the longer step.
    Seconds length() const { return length_; }
    bool has_measured() const { return has_measured_; }

    const Block& block(TimelinePlace place) const { return rows_[place.row].blocks[place.block]; }
    OperationId operation(TimelinePlace place) const { return block(place).first; }

    /// What a row shows of [begin, end]; blocks shorter than `shortest` are drawn together.
    std::vector<Block> visible(std::size_t row, Seconds begin, Seconds end, Seconds shortest) const;
    /// The row's waits within [begin, end]; pauses between them of less than `shortest` are drawn
    /// over.
    std::vector<WaitBlock> visible_waits(std::size_t row, Seconds begin, Seconds end,
                                         Seconds shortest) const;

    /// The operation that runs at `time`, or else the nearest that does within `tolerance` of it.
    std::optional<TimelinePlace> hit(std::size_t row, Seconds time, Seconds tolerance) const;
    /// The pause or exposed stretch there.
    std::optional<WaitBlock> wait_at(std::size_t row, Seconds time) const;

    /// `by` operations later in its row (earlier, if negative); stops at its ends.
    TimelinePlace beside(TimelinePlace place, int by) const;
    /// What runs in the row `by` below at the middle of the block, or nearest to it.
    TimelinePlace below(TimelinePlace place, int by) const;

  private:
    void add_row(const std::shared_ptr<const TimedPlan>& report, Lane lane, bool measured_below,
                 const std::vector<ExposedWait>& exposed);

    std::vector<TimelineRow> rows_;
    Seconds length_ = 0;
    bool has_measured_ = false;
};

/// "The measured step has 412 operations, the predicted one 282: ..." where the two are not of one
/// plan; else empty.
std::string plan_difference(const TimedPlan& predicted, const TimedPlan& measured);

}  // namespace sluice
