#include "sim/simulate/alike_micro_batches.h"

#include <algorithm>
#include <limits>
#include <map>

namespace sluice {
namespace {

bool same_demand(const FlowDemand& a, const FlowDemand& b) {
    return a.bytes == b.bytes && a.rate == b.rate && a.kernels.seconds == b.kernels.seconds &&
           a.kernels.at_limit == b.kernels.at_limit && a.kernels.joules == b.kernels.joules;
}

class Rows {
  public:
    Rows(const StepProgram& program, const std::vector<LaneWork>& work)
        : program_(program), work_(work) {}

    /// In a stretch of a whole pass over the model weights come in between, which belong to no
    /// micro-batch.
    std::vector<AlikeMicroBatches> find(bool of_passes) const {
        const std::vector<std::size_t> starts = stretches(of_passes);
        std::vector<AlikeMicroBatches> rows;
        bool goes_on = false;
        for (std::size_t s = 1; s + 1 < starts.size(); ++s) {
            const std::size_t length = starts[s] - starts[s - 1];
            bool same = starts[s + 1] - starts[s] == length;
            for (std::size_t i = starts[s]; same && i < starts[s + 1]; ++i)
                same = alike(i - length, i);
            if (same && goes_on)
                ++rows.back().count;
            else if (same)
                rows.push_back({starts[s - 1], length, 2,
                                of_passes ? 0 : operation(starts[s - 1]).micro_batch, rows.size()});
            goes_on = same;
        }
        return rows;
    }

    /// Gives rows of which one waits for micro-batches of the other the same group.
    void link(std::vector<AlikeMicroBatches>& rows) const {
        for (AlikeMicroBatches& row : rows)
            for (std::size_t i = row.first; i < row.first + row.length; ++i)
                for (const Dependency& wait : work_[i].waits_for) {
                    const AlikeMicroBatches* const other =
                        row_of(rows, static_cast<std::size_t>(wait.operation));
                    // An operation behind a row waits for its end; equal ones wait for equal ones.
                    if (other == nullptr || other->group == row.group || !moves(row, i, wait))
                        continue;
                    const std::size_t from = row.group, to = other->group;
                    for (AlikeMicroBatches& one : rows)
                        if (one.group == from) one.group = to;
                }
    }

  private:
    const Operation& operation(std::size_t i) const { return program_.operations[i]; }

    /// The first operation of each stretch of one micro-batch, and the end.
    std::vector<std::size_t> stretches(bool of_passes) const {
        std::vector<std::size_t> starts;
        std::int32_t micro_batch = -1;
        for (std::size_t i = 0; i < program_.operations.size(); ++i) {
            if (of_passes && operation(i).kind == OperationKind::copy_weights_in && i > 0) continue;
            if (operation(i).micro_batch != micro_batch || i == 0) starts.push_back(i);
            micro_batch = operation(i).micro_batch;
        }
        starts.push_back(program_.operations.size());
        return starts;
    }

    /// `b` does for its micro-batch what `a` does for the one before.
    bool alike(std::size_t a, std::size_t b) const {
        const LaneWork &one = work_[a], &next = work_[b];
        return one.lane == next.lane && same_demand(one.demand, next.demand) &&
               std::equal(
                   one.waits_for.begin(), one.waits_for.end(), next.waits_for.begin(),
                   next.waits_for.end(), [&](const Dependency& x, const Dependency& y) {
                       return x.previous_step == y.previous_step &&
                              (x.operation == y.operation ||
                               y.operation - x.operation == static_cast<OperationId>(b - a) ||
                               is_next(x.operation, y.operation));
                   });
    }
    /// The same operation for the next micro-batch.
    bool is_next(OperationId x, OperationId y) const {
        const Operation &one = operation(static_cast<std::size_t>(x)),
                        &next = operation(static_cast<std::size_t>(y));
        return one.kind == next.kind && one.layer == next.layer && one.lane == next.lane &&
               next.micro_batch == one.micro_batch + 1;
    }
    /// The next micro-batch of the row waits for another operation.
    bool moves(const AlikeMicroBatches& row, std::size_t i, const Dependency& wait) const {
        const auto& next = work_[i + row.length].waits_for;
        return std::ranges::none_of(next, [&](const Dependency& other) {
            return other.operation == wait.operation && other.previous_step == wait.previous_step;
        });
    }
    static const AlikeMicroBatches* row_of(const std::vector<AlikeMicroBatches>& rows,
                                           std::size_t i) {
        const auto behind = std::ranges::upper_bound(rows, i, {}, &AlikeMicroBatches::first);
        if (behind == rows.begin()) return nullptr;
        const AlikeMicroBatches& before = *std::prev(behind);
        return i < before.end() ? &before : nullptr;
    }

    const StepProgram& program_;
    const std::vector<LaneWork>& work_;
};

std::size_t operations_in(const std::vector<AlikeMicroBatches>& rows) {
    std::size_t all = 0;
    for (const AlikeMicroBatches& row : rows) all += row.count * row.length;
    return all;
}

}  // namespace

std::vector<AlikeMicroBatches> alike_micro_batches(const StepProgram& program,
                                                   const std::vector<LaneWork>& work) {
    const Rows rows(program, work);
    std::vector<AlikeMicroBatches> of_layers = rows.find(false), of_passes = rows.find(true);
    if (operations_in(of_passes) > 2 * operations_in(of_layers)) return of_passes;
    rows.link(of_layers);
    return of_layers;
}

std::vector<ShortRow> short_rows(const std::vector<AlikeMicroBatches>& rows,
                                 const std::vector<std::size_t>& keep) {
    struct Shared {
        std::int64_t first = 0, end = std::numeric_limits<std::int64_t>::max();
    };
    std::map<std::size_t, Shared> micro_batches;  // that all rows of a group have
    for (const AlikeMicroBatches& row : rows) {
        Shared& shared = micro_batches[row.group];
        shared = {std::max(shared.first, row.micro_batch),
                  std::min(shared.end, row.micro_batch + static_cast<std::int64_t>(row.count))};
    }
    std::vector<ShortRow> out;
    for (const AlikeMicroBatches& row : rows) {
        const Shared& shared = micro_batches.at(row.group);
        const auto kept = static_cast<std::int64_t>(keep[row.group]);
        const std::int64_t removed = shared.end - shared.first - kept;
        if (2 * removed >= kept) out.push_back({row, static_cast<std::size_t>(removed)});
    }
    return out;
}

std::optional<std::vector<LaneWork>> with_fewer(const std::vector<LaneWork>& work,
                                                const std::vector<ShortRow>& rows) {
    constexpr OperationId kRemoved = -1;
    std::vector<OperationId> place(work.size());
    std::vector<const ShortRow*> row_of(work.size(), nullptr);
    OperationId removed = 0;
    std::size_t i = 0;
    for (const ShortRow& row : rows) {
        for (; i < row.alike.first; ++i) place[i] = static_cast<OperationId>(i) - removed;
        for (; i < row.alike.end(); ++i) {
            row_of[i] = &row;
            place[i] = row.keeps(i) ? static_cast<OperationId>(i) - removed : kRemoved;
            if (!row.keeps(i)) ++removed;
        }
    }
    for (; i < work.size(); ++i) place[i] = static_cast<OperationId>(i) - removed;
    std::vector<LaneWork> out;
    out.reserve(work.size() - static_cast<std::size_t>(removed));
    for (i = 0; i < work.size(); ++i) {
        if (place[i] == kRemoved) continue;
        out.push_back(work[i]);
        for (Dependency& wait : out.back().waits_for) {
            auto on = static_cast<std::size_t>(wait.operation);
            if (place[on] == kRemoved) {
                // Operations behind the row wait for its last micro-batches; the last ones that
                // were kept take their places.
                const ShortRow& row = *row_of[on];
                const bool behind =
                    row_of[i] == nullptr || row_of[i]->alike.group != row.alike.group;
                const std::size_t earlier = row.removed * row.alike.length;
                if (!behind || on < row.alike.first + row.alike.length + earlier)
                    return std::nullopt;
                on -= earlier;
            }
            wait.operation = place[on];
        }
    }
    return out;
}

}  // namespace sluice
