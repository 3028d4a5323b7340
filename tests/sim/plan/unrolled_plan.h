// Which operations of a plan come before which, in any execution that lanes and waits allow?
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "sim/plan/step_plan.h"
#include "tests/catch.h"

namespace sluice {

inline constexpr int kSteps = 3;  // the first and the last step are not between two others

using Clock =
    std::array<int, 2 * kWorkCount>;  ///< how many operations of each lane are done before

/// A plan repeated: operation `i` of step `s` is number s * count + i.
class Unrolled {
  public:
    explicit Unrolled(const StepPlan& plan)
        : operations_(plan.program.operations), count_(static_cast<int>(operations_.size())) {
        Clock position{};
        Clock last{};
        last.fill(-1);
        for (int id = 0; id < kSteps * count_; ++id) {
            Clock& before = before_.emplace_back();
            if (last[lane(id)] >= 0) follow(before, last[lane(id)]);
            for (const Dependency& wait : operation(id).waits_for) {
                const int step = id / count_ - (wait.previous_step ? 1 : 0);
                const int on = step * count_ + wait.operation;
                REQUIRE(on < id);
                if (step >= 0) follow(before, on);
            }
            position_.push_back(position[lane(id)]++);
            last[lane(id)] = id;
        }
    }
    int count() const { return count_; }
    const Operation& operation(int id) const {
        return operations_[static_cast<std::size_t>(id % count_)];
    }
    std::size_t lane(int id) const { return operation(id).lane.index(); }
    bool ordered(int first, int second) const {
        return before_[static_cast<std::size_t>(second)][lane(first)] > position(first);
    }

  private:
    int position(int id) const { return position_[static_cast<std::size_t>(id)]; }
    void follow(Clock& before, int id) const {
        const Clock& other = before_[static_cast<std::size_t>(id)];
        for (std::size_t i = 0; i < before.size(); ++i) before[i] = std::max(before[i], other[i]);
        before[lane(id)] = std::max(before[lane(id)], position(id) + 1);
    }

    const std::vector<Operation>& operations_;
    int count_;
    std::vector<Clock> before_;
    std::vector<int> position_;
};

}  // namespace sluice
