#include "sim/simulate/lanes_record.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/base/input_error.h"
#include "sim/simulate/simulation_service.h"

namespace sluice {
namespace {

std::size_t devices_of(const std::vector<LaneOperation>& work) {
    int most = 0;
    for (const LaneOperation& one : work) most = std::max<int>(most, one.lane.device);
    return static_cast<std::size_t>(most) + 1;
}

}  // namespace

LanesRecord::LanesRecord(const std::vector<LaneOperation>& work, const MachineSpec& machine,
                         Seconds worth)
    : worth_(worth),
      work_(work),
      power_(devices_of(work), PowerOfDevice(machine.gpu.clock)),
      headroom_j_(machine.gpu.clock.headroom_j),
      lanes_(devices()),
      completed_(work.size(), 0) {
    for (std::size_t i = 0; i < work.size(); ++i) {
        lanes_[work[i].lane].operations.push_back(static_cast<OperationId>(i));
        if (work[i].lane == kFirstCompute) last_compute_ = static_cast<OperationId>(i);
        if (work[i].lane.device > 0 && (is_host_work(work[i].lane) || uses_storage(work[i].lane)))
            throw InternalError("all devices share the first one's lanes of host and disk");
    }
    if (lanes_[kFirstCompute].operations.empty())
        throw InternalError("the first device computes nothing, so the plan has no step");
}

OperationId LanesRecord::missing(OperationId id, int step) const {
    for (const Dependency& dependency : work_[static_cast<std::size_t>(id)].waits_for) {
        const int needed = dependency.previous_step ? step : step + 1;
        if (completed_[static_cast<std::size_t>(dependency.operation)] < needed)
            return dependency.operation;
    }
    return -1;
}

FlowDemand LanesRecord::begin(OperationId id, Seconds now) {
    const LaneOperation& work = work_[static_cast<std::size_t>(id)];
    FlowDemand demand = work.demand;
    if (work.lane.work != Work::compute) return demand;
    const Seconds seconds = power_of(work.lane).begin(now, demand.kernels);
    if (seconds > 0) demand.rate = demand.bytes / seconds;
    return demand;
}

void LanesRecord::end(OperationId id, int step, OperationInterval when) {
    const auto at = static_cast<std::size_t>(id);
    const auto of_step = static_cast<std::size_t>(step);
    const Lane lane = work_[at].lane;
    if (lane.work == Work::compute) power_of(lane).end(when.end);
    if (of_step >= run_.intervals.size()) {
        run_.intervals.resize(of_step + 1, std::vector<OperationInterval>(work_.size()));
        run_.left_j.resize(of_step + 1, std::vector<double>(work_.size()));
    }
    run_.intervals[of_step][at] = when;
    run_.left_j[of_step][at] = power_of(lane).left_j();
    ++completed_[at];
    lanes_[lane].last = {id, when.end};
    if (id == last_compute_) end_of_compute(when.end);
}

RunSteps LanesRecord::take() {
    if (run_.compute_ends.size() < 2 && run_.slower_than_worth == 0)
        throw InternalError(
            "simulate_step: the lanes wait for each other; the plan is not executable");
    return std::move(run_);
}

void LanesRecord::end_of_compute(Seconds now) {
    still_working();
    run_.compute_ends.push_back(now);
    const bool alike = steady();
    const bool uses_up = std::ranges::any_of(
        power_, [this](const PowerOfDevice& one) { return one.uses_up(headroom_j_); });
    // Short steps are equal until a GPU has used up its energy beyond the power limit: all except
    // the last of them are skipped.
    if (alike && uses_up) skip_alike_steps();
    for (PowerOfDevice& one : power_) one.left_j = one.now.left_j();
    for (OfLane& lane : lanes_) lane.at_last_end = lane.last;
    run_.steady = alike && !uses_up;
    if (const Seconds last = last_step(); last > worth_) run_.slower_than_worth = last;
    finished_ = run_.steady || run_.compute_ends.size() == kMostSteps || run_.slower_than_worth > 0;
}

/// As many as all devices have energy for.
void LanesRecord::skip_alike_steps() {
    const auto steps_left = [](const PowerOfDevice& one) {
        return std::floor(one.now.left_j() / one.used_j());
    };
    double steps = std::numeric_limits<double>::infinity();
    for (const PowerOfDevice& one : power_)
        if (one.uses_up(headroom_j_)) steps = std::min(steps, steps_left(one));
    for (PowerOfDevice& one : power_) {
        if (!one.uses_up(headroom_j_)) continue;
        const double left = one.now.left_j(), used = one.used_j();
        one.now.use(steps_left(one) == steps ? left - std::fmod(left, used) : steps * used);
    }
}

/// From the end of compute to the next; in the first step, from its begin.
Seconds LanesRecord::last_step() const {
    const std::size_t n = run_.compute_ends.size();
    const auto first = static_cast<std::size_t>(lanes_[kFirstCompute].operations.front());
    return run_.compute_ends[n - 1] -
           (n > 1 ? run_.compute_ends[n - 2] : run_.intervals[0][first].start);
}

/// The last two steps took equally long, and a lane that is behind compute neither fell further
/// behind nor caught up.
bool LanesRecord::steady() const {
    const std::size_t n = run_.compute_ends.size();
    if (n < 2) return false;
    const Seconds last = run_.compute_ends[n - 1] - run_.compute_ends[n - 2];
    for (const OfLane& lane : lanes_) {
        if (lane.operations.empty() || done(lane.operations.back()) >= n) continue;
        const LaneEnd &now = lane.last, &then = lane.at_last_end;
        if (now.operation != then.operation || std::abs(now.end - then.end - last) > kSteady * last)
            return false;
    }
    if (n == 2) return second_repeats_first();
    const Seconds before = run_.compute_ends[n - 2] - run_.compute_ends[n - 3];
    return std::abs(last - before) <= kSteady * last;
}

/// Up to here the second step ran like the first, operation by operation. The start of the
/// first step has no effect any more, so the next steps repeat too.
bool LanesRecord::second_repeats_first() const {
    const auto front = static_cast<std::size_t>(lanes_[kFirstCompute].operations.front());
    const Seconds shift = run_.intervals[1][front].start - run_.intervals[0][front].start;
    for (std::size_t i = 0; i < run_.intervals[0].size(); ++i) {
        const OperationInterval &first = run_.intervals[0][i], &second = run_.intervals[1][i];
        const Seconds tolerance = kSteady * shift;
        if (completed_[i] < 2) {
            if (first.end + shift < run_.compute_ends[1] - tolerance) return false;
        } else if (std::abs(second.start - first.start - shift) > tolerance ||
                   std::abs(second.end - first.end - shift) > tolerance) {
            return false;
        }
    }
    return true;
}

}  // namespace sluice
