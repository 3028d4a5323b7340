#include "sim/simulate/repeated_micro_batches.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace sluice {
namespace {

// A lane may be some micro-batches ahead of another; only these may run in the window.
constexpr std::size_t kInARow = 6, kMiddle = 3;

/// The operations of a run, lane by lane in the order of time.
class LaneOrder {
  public:
    LaneOrder(const RunSteps& run, const std::vector<LaneWork>& work) : run_(run) {
        for (std::size_t step = 0; step < run.intervals.size(); ++step)
            for (std::size_t i = 0; i < work.size(); ++i)
                if (run.intervals[step][i].end > 0)
                    lanes_[static_cast<std::size_t>(work[i].lane)].push_back({step, i});
    }

    /// Whether only operations [begin, end) of `step` run between the two times.
    bool alone(std::size_t step, std::size_t begin, std::size_t end, Seconds from,
               Seconds until) const {
        return std::ranges::all_of(lanes_, [&](const std::vector<Ran>& lane) {
            auto at = std::ranges::partition_point(
                lane, [&](const Ran& ran) { return interval(ran).end <= from; });
            for (; at != lane.end() && interval(*at).start < until; ++at)
                if (at->step != step || at->operation < begin || at->operation >= end) return false;
            return true;
        });
    }

  private:
    struct Ran {
        std::size_t step, operation;
    };
    const OperationInterval& interval(const Ran& ran) const {
        return run_.intervals[ran.step][ran.operation];
    }
    const RunSteps& run_;
    std::array<std::vector<Ran>, kLaneCount> lanes_;
};

/// Where the micro-batches that were left out of a row are inserted.
struct Insertion {
    const ShortRow* row = nullptr;
    std::size_t first = 0;   ///< the row's first operation, of the simulated ones
    std::size_t middle = 0;  ///< that of the micro-batch which is repeated
    Seconds distance = 0, at = 0;

    std::size_t behind() const { return middle + row->alike.length; }
    std::size_t end() const { return first + row->kept() * row->alike.length; }
    Seconds longer() const { return static_cast<double>(row->removed) * distance; }
};

class Repeat {
  public:
    Repeat(const RunSteps& run, std::size_t step, const std::vector<LaneWork>& work,
           const LaneOrder& order)
        : run_(run), step_(step), intervals_(run.intervals[step]), work_(work), order_(order) {}

    std::optional<Insertion> find(const ShortRow& row, std::size_t first) const {
        const std::size_t length = row.alike.length;
        const Seconds waited = waited_for(first, first + row.kept() * length);
        for (std::size_t from = 0; from + kInARow <= row.kept(); ++from) {
            const std::size_t begin = first + from * length, last = begin + (kInARow - 1) * length;
            const Seconds distance = (intervals_[last].start - intervals_[begin].start) /
                                     static_cast<double>(kInARow - 1);
            if (distance <= 0 || !all_follow(begin, last, length, distance)) continue;
            const std::size_t middle = begin + kMiddle * length;
            // From the first start in the middle micro-batch, for as long as each follows another.
            Seconds start = intervals_[middle].start;
            for (std::size_t i = middle; i < middle + length; ++i)
                start = std::min(start, intervals_[i].start);
            if (waited <= start && order_.alone(step_, begin, last, start, start + distance))
                return Insertion{&row, first, middle, distance, start + distance};
        }
        return std::nullopt;
    }

  private:
    bool all_follow(std::size_t begin, std::size_t last, std::size_t length,
                    Seconds distance) const {
        for (std::size_t i = begin; i < last; ++i)
            if (!follows(i, length, distance)) return false;
        return true;
    }
    /// Whether the next micro-batch ran the operation `distance` later, with the same power budget.
    bool follows(std::size_t i, std::size_t length, Seconds distance) const {
        const OperationInterval &one = intervals_[i], &next = intervals_[i + length];
        const Seconds tolerance = kSteady * distance;
        const double left = run_.left_j[step_][i], left_next = run_.left_j[step_][i + length];
        return std::abs(next.start - one.start - distance) <= tolerance &&
               std::abs(next.end - one.end - distance) <= tolerance &&
               std::abs(left_next - left) <= kSteady * std::max(1.0, std::abs(left));
    }
    /// When the last operation ended that those of the row wait for and is not one of them.
    Seconds waited_for(std::size_t begin, std::size_t end) const {
        Seconds last = 0;
        for (std::size_t i = begin; i < end; ++i)
            for (const Dependency& wait : work_[i].waits_for) {
                const auto on = static_cast<std::size_t>(wait.operation);
                if (wait.previous_step && step_ == 0) continue;
                if (!wait.previous_step && on >= begin && on < end) continue;
                last =
                    std::max(last, run_.intervals[wait.previous_step ? step_ - 1 : step_][on].end);
            }
        return last;
    }

    const RunSteps& run_;
    const std::size_t step_;
    const std::vector<OperationInterval>& intervals_;
    const std::vector<LaneWork>& work_;
    const LaneOrder& order_;
};

/// The simulated operations, and those that were left out, at their times in the whole step.
class Whole {
  public:
    Whole(const std::vector<OperationInterval>& few, const std::vector<Insertion>& in_order)
        : few_(few), insertions_(in_order), by_time_(in_order) {
        std::ranges::sort(by_time_, {}, &Insertion::at);
        for (const Insertion& one : by_time_) before_.push_back(before_.back() + one.longer());
    }

    WholeStep step() {
        out_.longer = before_.back();
        std::size_t next = 0;
        for (const Insertion& one : insertions_) {
            for (; next < one.first; ++next) add(next, others_before(next, nullptr));
            for (; next < one.behind(); ++next) add(next, others_before(next, &one));
            for (std::size_t n = 1; n <= one.row->removed; ++n)
                for (std::size_t i = one.middle; i < one.behind(); ++i)
                    add(i, others_before(i, &one) + static_cast<double>(n) * one.distance);
            for (; next < one.end(); ++next) add(next, others_before(next, &one) + one.longer());
        }
        for (; next < few_.size(); ++next) add(next, others_before(next, nullptr));
        return std::move(out_);
    }

  private:
    void add(std::size_t i, Seconds later) {
        out_.intervals.push_back({few_[i].start + later, few_[i].end + later});
    }
    /// By how much the insertions of other rows delay the operation.
    Seconds others_before(std::size_t i, const Insertion* own) const {
        const auto after = std::ranges::upper_bound(by_time_, few_[i].start, {}, &Insertion::at);
        Seconds sum = before_[static_cast<std::size_t>(after - by_time_.begin())];
        if (own != nullptr && own->at <= few_[i].start) sum -= own->longer();
        return sum;
    }

    const std::vector<OperationInterval>& few_;
    const std::vector<Insertion>& insertions_;
    std::vector<Insertion> by_time_;
    std::vector<Seconds> before_ = {0};  ///< sums of by_time_
    WholeStep out_;
};

}  // namespace

WholeStep with_all(const RunSteps& run, std::size_t step, const std::vector<LaneWork>& fewer,
                   const std::vector<ShortRow>& rows) {
    const LaneOrder order(run, fewer);
    const Repeat repeat(run, step, fewer, order);
    std::vector<Insertion> insertions;
    WholeStep none;
    std::size_t removed = 0;
    for (const ShortRow& row : rows) {
        if (const auto found = repeat.find(row, row.alike.first - removed))
            insertions.push_back(*found);
        else
            none.not_repeating.push_back(row.alike.group);
        removed += row.removed * row.alike.length;
    }
    if (!none.not_repeating.empty()) return none;
    return Whole(run.intervals[step], insertions).step();
}

}  // namespace sluice
