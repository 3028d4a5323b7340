// How long does a kernel or a copy take on this machine, alone?
#pragma once

#include <optional>

#include "sim/specs/machine/machine_spec.h"
#include "sim/specs/model/kernel.h"
#include "sim/specs/model/layer_kernels.h"

namespace sluice {

/// The table of measured times that a kernel is looked up in. Nothing where the machine has none:
/// those of attention and of kernels bound by memory are of the engine's, of products anyone's.
std::optional<KernelTableId> measured_table(const GpuSpec& gpu, const Kernel& kernel,
                                            KernelStyle style);

/// Seconds of one kernel: at the highest clock as measured at its shape or near, else from the
/// rates of its kind, which are those at the power limit. `style` picks the attention
/// implementation (fused: cuDNN, eager: flash).
Seconds kernel_time(const GpuSpec& gpu, const Kernel& kernel, KernelStyle style);

/// What kernels cost that run back to back, alone.
struct KernelCost {
    Seconds seconds = 0;   ///< at the highest clock
    Seconds at_limit = 0;  ///< at the clock to which large products fall (see ClockSpec)
    double joules = 0;     ///< at the highest clock

    KernelCost& operator+=(const KernelCost& other);
};

/// The time of a list, however long the host takes to launch it.
KernelCost kernels_cost(const GpuSpec& gpu, const KernelList& kernels, KernelStyle style);

/// Share of the multiprocessors that have an output tile to compute; 1 from one whole wave of 128 x
/// 128 tiles on. Later partial waves cost nothing on the H200 measured: at its power limit, idle
/// multiprocessors let the others run faster.
double busy_share(double multiprocessors, std::int64_t m, std::int64_t n, std::int64_t count);

/// Bytes/s that a copy of `bytes` reaches alone, from the full rate and the curve by size.
double copy_rate(double full_rate, const Interpolated& share_by_bytes, double bytes);

}  // namespace sluice
