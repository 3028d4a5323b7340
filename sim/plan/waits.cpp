#include "sim/plan/waits.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "sim/base/input_error.h"

namespace sluice {
namespace {

/// The lanes that a step uses, numbered in the order of their first operations.
struct LaneNumbers {
    explicit LaneNumbers(const StepProgram& program) {
        ByLane<int> number(program.devices(), -1);
        for (const Operation& op : program.operations) {
            int& of = number[op.lane];
            if (of < 0) of = static_cast<int>(count++);
            of_operation.push_back(static_cast<std::uint8_t>(of));
        }
    }
    std::vector<std::uint8_t> of_operation;
    std::size_t count = 0;
};

/// The latest operation of each lane, as an index into two steps that follow each other; -1: none.
/// With room for whole vector registers.
template <std::size_t kLanes>
using LatestOf = std::array<OperationId, kLanes>;
template <typename Latest>
constexpr Latest none() {
    Latest out{};
    out.fill(-1);
    return out;
}
/// The latest that is needed and not known to have ended; -1: there is none.
template <typename Latest>
OperationId latest_unknown(const Latest& needed, const Latest& known) {
    OperationId out = -1;
    for (std::size_t lane = 0; lane < needed.size(); ++lane)
        out = std::max(out, needed[lane] > known[lane] ? needed[lane] : -1);
    return out;
}
template <typename Latest>
void join(Latest& into, const Latest& other) {
    for (std::size_t lane = 0; lane < into.size(); ++lane)
        into[lane] = std::max(into[lane], other[lane]);
}

bool in_arena(const Buffer& buffer) {
    return buffer.memory.tier == Tier::device && buffer.comes_and_goes();
}

/// Which operations must have ended before a buffer takes the memory of others?
template <typename Latest>
class ArenaOrder {
  public:
    ArenaOrder(const StepPlan& plan, const LaneNumbers& lanes)
        : count_(static_cast<OperationId>(plan.program.operations.size())),
          of_buffer_(plan.memory.buffers.size()) {
        if (!plan.memory.in_one_arena) return;
        for (std::size_t id = 0; id < of_buffer_.size(); ++id)
            if (in_arena(plan.memory.buffers[id])) ids_.push_back(id);
        for (OperationId i = 0; i < count_; ++i) note_uses(plan, lanes, i);
        for (int device = 0; device < plan.program.devices(); ++device) {
            std::vector<std::size_t> ids;
            for (const std::size_t id : ids_)
                if (plan.memory.buffers[id].memory.index == device) ids.push_back(id);
            find_ended(plan.memory.buffers, ids);
        }
    }

    /// Called for the uses of all operations of a step in their order; `step` is 0 or 1.
    void before_use(BufferId buffer, std::size_t lane, OperationId operation, int step,
                    Latest& needed) const {
        const OfBuffer& of = of_buffer_[static_cast<std::size_t>(buffer)];
        if (of.first[lane] != operation) return;
        // Only the second step's waits count.
        if (step == 0) return join(needed, of.ended);
        join(needed, of.ended_in_step_before);
        for (std::size_t l = 0; l < needed.size(); ++l)
            needed[l] = std::max(needed[l], of.ended[l] >= 0 ? of.ended[l] + count_ : -1);
    }

  private:
    /// First and last operation of each lane that uses a buffer, and the last ones that used
    /// buffers whose lives ended before it, in the step and in the step before.
    struct OfBuffer {
        Latest first = none<Latest>(), last = first, ended = first, ended_in_step_before = first;
    };

    void note_uses(const StepPlan& plan, const LaneNumbers& lanes, OperationId i) {
        const Operation& op = plan.program.operations[static_cast<std::size_t>(i)];
        const std::size_t lane = lanes.of_operation[static_cast<std::size_t>(i)];
        for (const BufferUse& use : op.uses) {
            if (use.buffer < 0) continue;
            const auto id = static_cast<std::size_t>(use.buffer);
            if (!in_arena(plan.memory.buffers[id])) continue;
            OfBuffer& of = of_buffer_[id];
            if (of.first[lane] < 0) of.first[lane] = i;
            of.last[lane] = i;
        }
    }

    /// `ids`: the buffers of one arena.
    void find_ended(const std::vector<Buffer>& buffers, const std::vector<std::size_t>& ids) {
        const auto first = [&](std::size_t id) { return buffers[id].first; };
        const auto last = [&](std::size_t id) { return buffers[id].last; };
        std::vector<std::size_t> by_first = ids, by_last = ids;
        std::ranges::sort(by_first, {}, first);
        std::ranges::sort(by_last, {}, last);
        Latest ended = none<Latest>();
        auto next = by_last.begin();
        for (const std::size_t id : by_first) {
            for (; next != by_last.end() && last(*next) < first(id); ++next)
                join(ended, of_buffer_[*next].last);
            of_buffer_[id].ended = ended;
        }
        Latest begun_later = none<Latest>();
        auto later = by_first.rbegin();
        for (auto id = by_last.rbegin(); id != by_last.rend(); ++id) {
            for (; later != by_first.rend() && first(*later) > last(*id); ++later)
                join(begun_later, of_buffer_[*later].last);
            of_buffer_[*id].ended_in_step_before = begun_later;
        }
    }

    OperationId count_;
    std::vector<OfBuffer> of_buffer_;
    std::vector<std::size_t> ids_;
};

template <typename Latest>
class WaitsOfStep {
  public:
    WaitsOfStep(StepPlan& plan, const LaneNumbers& lanes)
        : operations_(plan.program.operations),
          lanes_(lanes),
          arena_(plan, lanes),
          outcome_(plan.memory.buffers.size()),
          lane_done_(lanes.count, none<Latest>()),
          done_(2 * operations_.size()) {
        place_parts();
    }

    void derive() {
        for (const int step : {0, 1})
            for (OperationId i = 0; i < static_cast<OperationId>(operations_.size()); ++i)
                place(i, step);
    }

  private:
    struct Part {
        OperationId written = -1;
        std::uint8_t lane = 0;         ///< of the last write
        Latest read = none<Latest>();  ///< since then
    };

    std::size_t buffer_of(const BufferUse& use) const {
        return use.buffer == kStepOutcome ? outcome_ : static_cast<std::size_t>(use.buffer);
    }

    /// Only buffers that two lanes use need a look.
    void place_parts() {
        std::vector<std::int32_t> parts(outcome_ + 1, 0);
        std::vector<int> lane(outcome_ + 1, -1);
        std::vector<bool> shared(outcome_ + 1, false);
        for (std::size_t i = 0; i < operations_.size(); ++i)
            for (const BufferUse& use : operations_[i].uses) {
                if (use.as == BufferUse::As::holds) continue;
                const std::size_t buffer = buffer_of(use);
                parts[buffer] = std::max(parts[buffer], use.part + use.parts);
                const int now = lanes_.of_operation[i];
                if (lane[buffer] >= 0 && lane[buffer] != now) shared[buffer] = true;
                lane[buffer] = now;
            }
        std::size_t all = 0;
        for (std::size_t buffer = 0; buffer <= outcome_; ++buffer) {
            first_part_.push_back(shared[buffer] ? static_cast<std::int64_t>(all) : -1);
            if (shared[buffer]) all += static_cast<std::size_t>(parts[buffer]);
        }
        parts_.resize(all);
    }

    void use_parts(const BufferUse& use, OperationId id, std::size_t lane, Latest& needed) {
        const std::int64_t first = first_part_[buffer_of(use)];
        if (use.as == BufferUse::As::holds || first < 0) return;
        for (std::int32_t i = 0; i < use.parts; ++i) {
            Part& part = parts_[static_cast<std::size_t>(first + use.part + i)];
            if (part.written >= 0) needed[part.lane] = std::max(needed[part.lane], part.written);
            if (use.as == BufferUse::As::writes) {
                join(needed, part.read);
                part = {id, static_cast<std::uint8_t>(lane), none<Latest>()};
            } else {
                part.read[lane] = id;
            }
        }
    }

    void place(OperationId index, int step) {
        const auto count = static_cast<OperationId>(operations_.size());
        Operation& op = operations_[static_cast<std::size_t>(index)];
        const std::size_t lane = lanes_.of_operation[static_cast<std::size_t>(index)];
        const OperationId id = index + step * count;
        Latest needed = none<Latest>();
        for (const BufferUse& use : op.uses) {
            if (use.buffer != kStepOutcome)
                arena_.before_use(use.buffer, lane, index, step, needed);
            use_parts(use, id, lane, needed);
        }
        Latest known = lane_done_[lane];
        needed[lane] = -1;
        // The latest first: it may imply others.
        for (OperationId on; (on = latest_unknown(needed, known)) >= 0;) {
            join(known, done_[static_cast<std::size_t>(on)]);
            if (step == 1) op.waits_for.push_back({on < count ? on : on - count, on < count});
        }
        known[lane] = id;
        done_[static_cast<std::size_t>(id)] = lane_done_[lane] = known;
    }

    std::vector<Operation>& operations_;
    const LaneNumbers& lanes_;
    const ArenaOrder<Latest> arena_;
    const std::size_t outcome_;             ///< its number beside the buffers'
    std::vector<std::int64_t> first_part_;  ///< of each buffer in parts_; -1: one lane has it
    std::vector<Part> parts_;
    std::vector<Latest> lane_done_;  ///< what each lane knows to have ended
    std::vector<Latest> done_;       ///< and what each operation knew
};

}  // namespace

void derive_waits(StepPlan& plan) {
    if (!std::exchange(plan.program.waits_to_derive, false)) return;
    const LaneNumbers lanes(plan.program);
    if (lanes.count <= 8) return WaitsOfStep<LatestOf<8>>(plan, lanes).derive();
    if (lanes.count <= 24) return WaitsOfStep<LatestOf<24>>(plan, lanes).derive();
    WaitsOfStep<LatestOf<kMostDevices * kWorkCount>>(plan, lanes).derive();
}

}  // namespace sluice
