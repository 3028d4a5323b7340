// The thread that issues the GPU's work in Python, where it limits or waits: how long it works
// (Operation::eager_operations), and what it waits for meanwhile.
#pragma once

#include <vector>

#include "sim/plan/plan_builder.h"

namespace sluice {

/// For PlanBuilder: launches take no time of the compute lane where a PythonThread works them.
inline constexpr double kOfPythonThread = 0;

class PythonThread {
  public:
    /// `build` must outlive it.
    explicit PythonThread(PlanBuilder& build) : build_(build) {}

    /// It works on, so many eager operations.
    void work(double eager_operations) { not_added_ += eager_operations; }
    /// It goes on when the operation is done; -1: at once. What it did before is of `layer`.
    void wait_for(OperationId operation, int layer);
    /// What waits for all that it has done and waited for; adds that to the lane python.
    std::vector<Dependency> reached(int layer);
    /// Its first operation of the step, -1 if there is none.
    OperationId first() const { return first_; }

  private:
    void add(int layer);

    PlanBuilder& build_;
    double not_added_ = 0;
    OperationId first_ = -1, last_ = -1;
    std::vector<Dependency> waits_;  ///< since its last operation
};

}  // namespace sluice
