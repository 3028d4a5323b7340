// By how much is one machine faster than another, as their datasheets say, and how far does such a
// ratio miss?
#pragma once

#include <string>

#include "sim/specs/machine/machine_spec.h"

namespace sluice {

/// New over measured.
struct Scales {
    double compute = 1;  ///< of products at the same efficiency and the same waves
    double multiprocessors = 1;
    double memory = 1, link = 1, host = 1;
    double power = 0;       ///< of TDP; 0: not known of both
    double efficiency = 1;  ///< of products, by the power limit; part of `compute`
    double new_multiprocessors = 0, old_multiprocessors = 0;
    double new_cores = 0;
    double link_raw_gb_per_s = 0;   ///< of the new machine: no copy is faster
    double host_peak_gb_per_s = 0;  ///< of the new machine: host memory gives no more
    RateRange compute_range, attention_range, memory_range, link_range, both_ways_range, host_range,
        adam_range;
};

/// Throws InputError where one of both lacks a number that is scaled by: gpu.bf16_dense_tflops,
/// gpu.multiprocessors, gpu.memory_bandwidth_gb_per_s, link.raw_per_direction_gb_per_s,
/// host.memory_bandwidth_gb_per_s. A virtual machine hides the last: of the measured one it is
/// estimated from the fastest use of host memory measured there.
Scales scales_between(const MachineProfile& measured, const MachineProfile& datasheet);

/// For the profile's notes: every ratio, and the ranges.
std::string scales_text(const Scales& scales);

}  // namespace sluice
