// Which plans are known that differ between machines in nothing but their times? A choice of a
// machine plans the same trainings of a model again for each.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "sim/plan/step_plan.h"
#include "sim/simulate/step_work.h"

namespace sluice {

/// A plan in little memory.
struct KnownPlan {
    /// At its peaks: a buffer for each kind in each memory, and no operations.
    MemoryPlan peaks;
    std::optional<StepOutline> outline;
};

/// Plans of one model. Several threads may use it.
class KnownPlans {
  public:
    using Key = std::vector<double>;

    /// Null if it is not known.
    std::shared_ptr<const KnownPlan> find(const Key& key) const;
    void add(const Key& key, KnownPlan plan);

    /// Those of this thread's Scope; new ones without one.
    static std::shared_ptr<KnownPlans> of_thread();
    /// During its lifetime, searches of this thread share these plans. All must be for one model.
    class Scope {
      public:
        explicit Scope(std::shared_ptr<KnownPlans> plans = of_thread());
        ~Scope();
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;

      private:
        const std::shared_ptr<KnownPlans> outer_;
    };

  private:
    mutable std::mutex adding_;
    std::map<Key, std::shared_ptr<const KnownPlan>> plans_;
};

/// The peaks of a plan on one device.
MemoryPlan peaks_of(const StepPlan& plan);

}  // namespace sluice
