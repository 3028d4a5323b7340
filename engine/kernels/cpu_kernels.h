// How does a layer compute on the CPU? With libtorch, in fp32. It is also the reference for the
// GPU's kernels.
#pragma once

#include <memory>

#include "engine/kernels/kernels.h"

namespace sluice {

/// Kernels on host memory. A call returns when its result is written; the same inputs give the same
/// bits with the same `threads` (1 or more, of the whole process: libtorch has one setting).
/// Attention's statistics are in the order (sequences, heads, sequence); its backward needs no
/// workspace. Shapes or types that do not fit together throw InternalError.
///
/// Between calls libtorch's threads spin. Where others want their cores too, start the program with
/// OMP_WAIT_POLICY=PASSIVE: a tiny model on 2 cores with 7 threads ready ran at 1200 tokens/s with
/// it, at 140 without.
std::unique_ptr<Kernels> make_cpu_kernels(int threads);

}  // namespace sluice
