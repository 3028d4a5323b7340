// How long does a kernel or a copy take on this machine, alone?
#pragma once

#include <optional>

#include "sim/specs/machine/machine_spec.h"
#include "sim/specs/model/kernel.h"
#include "sim/specs/model/layer_kernels.h"

namespace sluice {

/// The table of measured times for a kernel; empty if the machine has none. Tables of attention and
/// memory-bound kernels are for the trainer's kernels, tables of products for all systems.
std::optional<KernelTableId> measured_table(const GpuSpec& gpu, const Kernel& kernel,
                                            KernelStyle style);

/// Seconds of one kernel: from its table, at the highest clock; else from the rates of its kind,
/// which are at the power limit. `style` picks the attention implementation (fused: cuDNN, eager:
/// flash).
Seconds kernel_time(const GpuSpec& gpu, const Kernel& kernel, KernelStyle style);

/// Energy of one kernel at the highest clock, in addition to idle power.
double work_joules(const GpuSpec& gpu, const Kernel& kernel);

/// Costs of kernels that run back to back, alone.
struct KernelCost {
    Seconds seconds = 0;   ///< at the highest clock
    Seconds at_limit = 0;  ///< at the clock to which large products slow down (see ClockSpec)
    double joules = 0;     ///< at the highest clock

    KernelCost& operator+=(const KernelCost& other);
    KernelCost& operator*=(double runs);
};

/// The time of a list of kernels, without the host's time to launch them.
KernelCost kernels_cost(const GpuSpec& gpu, const KernelList& kernels, KernelStyle style);

/// Share of the multiprocessors that have an output tile to compute; 1 from one whole wave of 128 x
/// 128 tiles on. Later partial waves cost nothing on the measured H200: at its power limit, idle
/// multiprocessors let the others run faster.
double busy_share(double multiprocessors, std::int64_t m, std::int64_t n, std::int64_t count);

/// Bytes/s of a copy of `bytes` alone, from the full rate and the curve by size.
double copy_rate(double full_rate, const Interpolated& share_by_bytes, double bytes);

}  // namespace sluice
