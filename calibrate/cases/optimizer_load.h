// What does the optimizer work on while it is measured, and on which threads?
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "calibrate/cases/bench.h"
#include "engine/memory/host_region.h"
#include "engine/optimizer/adamw.h"

namespace sluice {

/// Random parameters with finite random gradients in bf16, as they come from the device, in blocks
/// that together are far larger than the caches: each call updates the next block, so that all of
/// it comes from memory, as in training.
class OptimizerLoad {
  public:
    explicit OptimizerLoad(const Bench& bench) : bench_(bench) {}

    /// Readies `threads` threads on `cpus` (not pinned where empty) and parameters with
    /// `state_bytes` of master and moments each. Parameters stay as they are where neither
    /// state_bytes nor the threads' NUMA nodes change.
    void set(int state_bytes, int threads, const std::vector<int>& cpus);
    /// On the CPUs that sluice-train would choose.
    void set(int state_bytes, int threads);
    /// Makes the parameters again in blocks of `times` as many, and as many blocks as memory and
    /// patience allow. Precondition: set() was called. False, and nothing changes, where there is
    /// no memory for two of them.
    bool enlarge_blocks(int times);

    /// Updates one block, by the calling thread and the load's.
    void update();
    std::int64_t parameters_per_update() const;
    /// Updates that pass over all parameters.
    int updates_per_pass() const { return static_cast<int>(blocks_.size()); }
    ThreadPool& pool() { return *pool_; }

    /// Throws InternalError unless the first parameters have changed since set() made them and are
    /// finite. Precondition: one pass.
    void check_result() const;

  private:
    void clear(char* memory, Bytes bytes);
    void make_parameters();
    std::int64_t usual_block() const;

    const Bench& bench_;
    std::unique_ptr<ThreadPool> pool_;
    HostRegion memory_;
    std::vector<ParameterBlock> blocks_;
    std::vector<const std::uint16_t*> gradients_;  ///< of each block
    std::vector<float> first_masters_;             ///< the first of block 0, as they were made
    std::vector<int> nodes_;
    int state_bytes_ = 0;
    int enlarged_ = 1;          ///< blocks have so many times as many parameters as usual
    std::int64_t updates_ = 0;  ///< since parameters were made
};

}  // namespace sluice
