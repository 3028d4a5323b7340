// Which parameters does the measured optimizer update, and on which threads?
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "calibrate/cases/bench.h"
#include "engine/memory/host_region.h"
#include "engine/optimizer/adamw.h"

namespace sluice {

/// Random parameters with finite random gradients in bf16, as they come from the device, in blocks
/// that together are far larger than the caches. Each call updates the next block, so that it comes
/// from memory, as in training.
class OptimizerLoad {
  public:
    explicit OptimizerLoad(const Bench& bench) : bench_(bench) {}

    /// Prepares `threads` threads on `cpus` (not pinned if empty) and parameters with `state_bytes`
    /// of master and moments each. Keeps the parameters if neither state_bytes nor the threads'
    /// NUMA nodes change.
    void set(int state_bytes, int threads, const std::vector<int>& cpus);
    /// On the CPUs that sluice-train would choose.
    void set(int state_bytes, int threads);
    /// Makes the parameters again in blocks `times` as large, as many as memory and time allow.
    /// Precondition: set() was called. Returns false, and changes nothing, if there is no memory
    /// for two of them.
    bool enlarge_blocks(int times);

    /// Updates one block, with the calling thread and the load's threads.
    void update();
    std::int64_t parameters_per_update() const;
    /// Number of updates that pass over all parameters.
    int updates_per_pass() const { return static_cast<int>(blocks_.size()); }
    ThreadPool& pool() { return *pool_; }

    /// Throws InternalError unless the first parameters have changed since set() and are finite.
    /// Precondition: one pass.
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
    std::vector<float> first_masters_;  ///< the first parameters of block 0, as they were made
    std::vector<int> nodes_;
    int state_bytes_ = 0;
    int enlarged_ = 1;          ///< factor of the block size over the usual one
    std::int64_t updates_ = 0;  ///< since the parameters were made
};

}  // namespace sluice
