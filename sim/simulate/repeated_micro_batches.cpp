#include "sim/simulate/repeated_micro_batches.h"

#include <algorithm>
#include <cmath>

namespace sluice {
namespace {

// A lane may be some micro-batches ahead of another; only these may run in the window.
constexpr std::size_t kInARow = 6, kMiddle = 3;

bool same_demand(const FlowDemand& a, const FlowDemand& b) {
    return a.bytes == b.bytes && a.rate == b.rate && a.kernels.seconds == b.kernels.seconds &&
           a.kernels.at_limit == b.kernels.at_limit && a.kernels.joules == b.kernels.joules;
}

/// `b` is `length` operations after `a`. Each dependency has the same distance from both, or is the
/// same operation.
bool alike(const LaneOperation& a, const LaneOperation& b, std::size_t length) {
    return a.lane == b.lane && same_demand(a.demand, b.demand) &&
           std::equal(a.waits_for.begin(), a.waits_for.end(), b.waits_for.begin(),
                      b.waits_for.end(), [&](const Dependency& x, const Dependency& y) {
                          const auto apart = y.operation - x.operation;
                          return x.previous_step == y.previous_step &&
                                 (apart == 0 || apart == static_cast<OperationId>(length));
                      });
}

/// The first operation of each stretch of one micro-batch, and the end. In a stretch of a whole
/// pass over the model weights come in between, which belong to no micro-batch.
std::vector<std::size_t> stretches(const StepProgram& program, bool of_passes) {
    std::vector<std::size_t> starts;
    std::int32_t micro_batch = -1;
    for (std::size_t i = 0; i < program.operations.size(); ++i) {
        const Operation& operation = program.operations[i];
        if (of_passes && operation.kind == OperationKind::copy_weights_in && i > 0) continue;
        if (operation.micro_batch != micro_batch || i == 0) starts.push_back(i);
        micro_batch = operation.micro_batch;
    }
    starts.push_back(program.operations.size());
    return starts;
}

AlikeMicroBatches longest_row(const std::vector<std::size_t>& starts,
                              const std::vector<LaneOperation>& work) {
    AlikeMicroBatches longest, row;
    for (std::size_t s = 1; s + 1 < starts.size(); ++s) {
        const std::size_t length = starts[s] - starts[s - 1];
        bool same = starts[s + 1] - starts[s] == length;
        for (std::size_t i = starts[s]; same && i < starts[s + 1]; ++i)
            same = alike(work[i - length], work[i], length);
        if (!same)
            row = {};
        else if (row.count == 0)
            row = {starts[s - 1], length, 2};
        else
            ++row.count;
        if (row.count > longest.count) longest = row;
    }
    return longest;
}

class Repeat {
  public:
    /// `from`: the index of the first one.
    Repeat(const RunSteps& run, std::size_t step, const AlikeMicroBatches& alike, std::size_t from)
        : run_(run),
          step_(step),
          intervals_(run.intervals[step]),
          length_(alike.length),
          begin_(alike.first + from * length_) {}

    bool repeats() {
        const std::size_t last = begin_ + (kInARow - 1) * length_;
        distance_ =
            (intervals_[last].start - intervals_[begin_].start) / static_cast<double>(kInARow - 1);
        for (std::size_t i = begin_; i < last; ++i)
            if (!follows(i)) return false;
        find_window();
        return distance_ > 0 && alone();
    }
    Seconds distance() const { return distance_; }
    /// When the micro-batches that were left out would run.
    Seconds insertion() const { return until_; }

  private:
    /// Whether the next micro-batch ran the operation `distance_` later, with the same power
    /// budget.
    bool follows(std::size_t i) const {
        const OperationInterval &one = intervals_[i], &next = intervals_[i + length_];
        const Seconds tolerance = kSteady * distance_;
        const double left = run_.left_j[step_][i], left_next = run_.left_j[step_][i + length_];
        return std::abs(next.start - one.start - distance_) <= tolerance &&
               std::abs(next.end - one.end - distance_) <= tolerance &&
               std::abs(left_next - left) <= kSteady * std::max(1.0, std::abs(left));
    }

    /// From the first start in the middle micro-batch, for as long as each follows the other.
    void find_window() {
        const auto middle =
            intervals_.begin() + static_cast<std::ptrdiff_t>(begin_ + kMiddle * length_);
        from_ = std::min_element(middle, middle + static_cast<std::ptrdiff_t>(length_),
                                 [](const OperationInterval& a, const OperationInterval& b) {
                                     return a.start < b.start;
                                 })
                    ->start;
        until_ = from_ + distance_;
    }

    /// All operations in the window, of any step, belong to the row but not to its last
    /// micro-batch.
    bool alone() const {
        for (std::size_t s = 0; s < run_.intervals.size(); ++s)
            for (std::size_t i = 0; i < run_.intervals[s].size(); ++i) {
                const OperationInterval& other = run_.intervals[s][i];
                const bool own = s == step_ && i >= begin_ && i < begin_ + (kInARow - 1) * length_;
                if (!own && other.start < until_ && other.end > from_) return false;
            }
        return true;
    }

    const RunSteps& run_;
    const std::size_t step_;
    const std::vector<OperationInterval>& intervals_;
    const std::size_t length_, begin_;
    Seconds distance_ = 0, from_ = 0, until_ = 0;
};

}  // namespace

AlikeMicroBatches alike_micro_batches(const StepProgram& program,
                                      const std::vector<LaneOperation>& work) {
    const AlikeMicroBatches of_layers = longest_row(stretches(program, false), work),
                            of_passes = longest_row(stretches(program, true), work);
    return of_passes.count * of_passes.length > 2 * of_layers.count * of_layers.length ? of_passes
                                                                                       : of_layers;
}

std::optional<std::vector<LaneOperation>> with_fewer(const std::vector<LaneOperation>& work,
                                                     const AlikeMicroBatches& alike,
                                                     std::size_t keep) {
    const std::size_t removed = (alike.count - keep) * alike.length;
    const std::size_t from = alike.end() - removed, end = alike.end();
    std::vector<LaneOperation> out;
    out.reserve(work.size() - removed);
    for (std::size_t i = 0; i < work.size(); ++i) {
        if (i >= from && i < end) continue;
        out.push_back(work[i]);
        for (Dependency& dependency : out.back().waits_for) {
            const auto on = static_cast<std::size_t>(dependency.operation);
            if (on < from) continue;
            // Operations after the row wait for its last micro-batch; the last one that was kept
            // takes its place.
            if (on < end && on < end - (keep - 1) * alike.length) return std::nullopt;
            dependency.operation -= static_cast<OperationId>(removed);
        }
    }
    return out;
}

std::optional<WholeStep> with_all(const RunSteps& run, std::size_t step,
                                  const AlikeMicroBatches& alike, std::size_t keep) {
    const std::vector<OperationInterval>& few = run.intervals[step];
    for (std::size_t from = 0; from + kInARow <= keep; ++from) {
        Repeat repeat(run, step, alike, from);
        if (!repeat.repeats()) continue;
        WholeStep out;
        const std::size_t added = alike.count - keep;
        out.longer = static_cast<double>(added) * repeat.distance();
        out.intervals.reserve(few.size() + added * alike.length);
        const auto add = [&](std::size_t operation, Seconds later) {
            out.intervals.push_back({few[operation].start + later, few[operation].end + later});
        };
        // Inserted after the middle micro-batch.
        const std::size_t middle = alike.first + (from + kMiddle) * alike.length;
        const std::size_t behind = middle + alike.length, end = alike.first + keep * alike.length;
        const auto add_other = [&](std::size_t i) {
            add(i, few[i].start < repeat.insertion() ? 0 : out.longer);
        };
        for (std::size_t i = 0; i < alike.first; ++i) add_other(i);
        for (std::size_t i = alike.first; i < behind; ++i) add(i, 0);
        for (std::size_t n = 1; n <= added; ++n)
            for (std::size_t i = middle; i < behind; ++i)
                add(i, static_cast<double>(n) * repeat.distance());
        for (std::size_t i = behind; i < end; ++i) add(i, out.longer);
        for (std::size_t i = end; i < few.size(); ++i) add_other(i);
        return out;
    }
    return std::nullopt;
}

}  // namespace sluice
