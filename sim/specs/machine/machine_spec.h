// What can the machine do, in bytes, seconds and FLOPs? A profile's numbers in SI, each gap filled
// by a stated rule.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "sim/base/units.h"
#include "sim/specs/machine/curves.h"
#include "sim/specs/machine/kernel_table.h"
#include "sim/specs/machine/machine_profile.h"

namespace sluice {

/// How far a prediction can be trusted: the weakest origin among the rates it rests on.
enum class Confidence { measured, transferred, datasheet };
const char* confidence_name(Confidence confidence);

/// FLOP/s of one attention implementation by sequence length, causal, head_dim 128.
struct AttentionRates {
    Interpolated forward;
    Interpolated backward;
};

/// Kernel times of a profile are those at the GPU's highest clock. It runs there until it has drawn
/// more than its power limit for some time, which is like a store of energy: it empties by what
/// kernels draw beyond the limit and fills by what they leave of it. Once empty, the clock falls
/// until kernels draw what the limit is.
struct ClockSpec {
    double headroom_j = 0;  ///< of that store; 0: not measured, the clock is always the highest
    double limit_w = 0;
    double idle_w = 0;
    /// Energy at the highest clock, beside what idling takes.
    double joules_per_flop = 0, joules_per_flop_of_attention = 0, joules_per_byte = 0;
    /// Large products, held at the limit: their time at the highest clock as a share of it, and
    /// energy as a multiple of it.
    double time_share = 1, energy_share = 1;
};

struct GpuSpec {
    Bytes memory_capacity = 0;    ///< what the driver reports
    Bytes context = 0;            ///< CUDA context and library handles, outside every plan
    double memory_bandwidth = 0;  ///< bytes/s read plus written that a good kernel reaches
    double gemm_flops_per_s = 0;  ///< bf16, large products, sustained under the power limit
    Seconds gemm_overhead = 0;    ///< of one product, beside its FLOPs
    double multiprocessors = 0;
    double narrow_head_share = 1;    ///< attention rate at head_dim 64 over that at 128
    AttentionRates fused_attention;  ///< cuDNN
    AttentionRates flash_attention;
    Seconds launch = 0;            ///< device time between two dependent kernels
    Seconds eager_launch = 0;      ///< host time of one eager PyTorch operation
    Seconds first_step_extra = 0;  ///< the first attention backward builds its plan
    /// Measured times of the engine's kernels, by KernelTableId; empty where there are none.
    std::array<KernelTable, kKernelTables> tables;
    ClockSpec clock;
};

struct LinkSpec {
    double host_to_device = 0;  ///< bytes/s alone
    double device_to_host = 0;
    double both_ways_total = 0;  ///< bytes/s of both directions together while both run
    double pageable_host_to_device = 0;
    double pageable_device_to_host = 0;  ///< 0: not known
    /// To pageable memory that the system maps while it is written.
    double pageable_device_to_fresh_host = 0;
    /// Fraction of the full rate that a copy of so many bytes reaches.
    Interpolated share_to_device_by_bytes, share_to_host_by_bytes;
};

/// DRAM traffic of AdamW on one parameter: bf16 gradient read; masters and moments of so many bytes
/// read and written.
inline double adam_traffic(std::int64_t state_bytes) {
    return static_cast<double>(kBf16 + 2 * state_bytes);
}

/// Rates of host work by all optimizer threads, alone. DRAM traffic is counted as read plus written
/// bytes.
struct HostSpec {
    Bytes memory_capacity = 0;
    Bytes memory_capacity_most = 0;  ///< that such a machine can have; 0: not known
    Bytes process_base = 0;          ///< resident bytes of a process with CUDA and libtorch loaded
    Bytes system_reserve = 0;        ///< left to the operating system
    double cores = 0;
    double dram_bandwidth = 0;  ///< bytes/s shared by copies and host work
    double copy_weight = 1;     ///< DRAM traffic that one byte copied over the link counts as
    Contention contention_8_byte, contention_6_byte;  ///< beside an optimizer of smaller states
    Contention contention;          ///< as measured, where it was; else the three above
    Interpolated adam_bytes_per_s;  ///< DRAM traffic of AdamW by threads, 12 bytes of state
    Interpolated adam_8_byte_bytes_per_s, adam_6_byte_bytes_per_s;  ///< the same, smaller states
    Interpolated
        adam_call;  ///< seconds of an update beside its parameters, by threads; empty: none
    int best_adam_threads = 0;

    const Contention& contention_of(std::int64_t state_bytes) const {
        return state_bytes == 12  ? contention
               : state_bytes == 8 ? contention_8_byte
                                  : contention_6_byte;
    }
    const Interpolated& adam_of(std::int64_t state_bytes) const {
        return state_bytes == 12  ? adam_bytes_per_s
               : state_bytes == 8 ? adam_8_byte_bytes_per_s
                                  : adam_6_byte_bytes_per_s;
    }
    double memory_copy = 0;     ///< payload bytes/s of a parallel copy (reads and writes that much)
    double first_touch = 0;     ///< payload bytes/s of a copy into fresh pages
    double zero = 0;            ///< bytes/s written
    double release = 0;         ///< bytes/s given back to the system
    double scale = 0;           ///< bytes/s multiplied in place (reads and writes that much)
    double norm_and_scale = 0;  ///< bytes/s of gradient through PyTorch's clip_grad_norm_ (bf16)
    double eager_adam_bytes_per_s = 0;  ///< DRAM traffic of a bf16-master AdamW (22 B a parameter)
};
/// Threads at which the optimizer is fastest while some cores are left to other work.
int best_adam_threads(const HostSpec& host);
/// "host memory of 1 TB is more than the 128 GB that such a machine can have"; empty where that is
/// not known to be so.
std::string impossible_memory(const HostSpec& host);

/// Numbers of a profile without which a machine has no storage.
inline constexpr std::array<const char*, 2> kStorageRates = {"storage.read_gb_per_s",
                                                             "storage.write_gb_per_s"};

/// A disk that schedules may read and write; 0: not known.
struct StorageSpec {
    double read = 0;  ///< bytes/s
    double write = 0;
    Seconds latency = 0;  ///< of one read or write, beside its bytes
    Bytes capacity = 0;
    std::vector<std::string> assumptions;  ///< of those numbers, said where a plan uses them

    bool known() const { return read > 0 && write > 0; }
};

/// Rates are bus bandwidths as nccl-tests count them (doc/PERFORMANCE.md): bytes/s that each GPU
/// sends in a ring, whatever their number.
struct InterconnectSpec {
    std::int64_t gpus_per_node = 0;  ///< 0: not known
    Interpolated bus_by_gpus;        ///< by the GPUs of a node that take part; empty: not known
    double network_per_gpu = 0;      ///< of the node's network, a GPU's share; 0: not known
    /// Assumptions of its numbers, listed if a plan uses them: within a node, and between nodes.
    std::vector<std::string> assumptions, network_assumptions;

    bool has_network() const { return network_per_gpu > 0; }
};

/// Where the true rate lies, of the rate taken: 5 to 95%.
struct RateRange {
    double low = 1, high = 1;
};

/// Groups are independent of each other; within one, all rates are off by the same factor.
struct RateRanges {
    /// The range of a kernel looked up in that table. Where the table is measured here, the errors
    /// of two kernels are independent; where it is another machine's, scaled, they are one.
    std::array<RateRange, kKernelTables> tables;
    bool tables_measured = false;
    RateRange formulas;                ///< of all kernels that no table has
    RateRange clock;                   ///< of all kernels: another GPU of the kind, another day
    RateRange optimizer;               ///< of Adam alone
    bool optimizer_by_memory = false;  ///< its rate was not measured, but follows host memory's
    RateRange host_memory;  ///< of what lanes get beside each other, copies both ways too
    RateRange link;         ///< of copies alone
    RateRange host_work;    ///< of all else that the processor does
    RateRange storage;      ///< of reads and writes
};

struct MachineSpec {
    std::string id;
    std::string name;
    bool unified_memory = false;  ///< host and device are one pool
    GpuSpec gpu;
    LinkSpec link;
    HostSpec host;
    StorageSpec storage;
    InterconnectSpec interconnect;
    RateRanges ranges;
    Confidence confidence = Confidence::datasheet;
    /// One sentence for every rate that is not measured on this machine, or is measured but
    /// simplified.
    std::vector<std::string> assumptions;
    /// The same, of what only schedules of other systems (PyTorch's kernels) rest on; where there
    /// are any, their confidence is `transferred` at best.
    std::vector<std::string> others_assumptions;
    std::vector<std::string> inputs;   ///< paths of the numbers that the spec rests on
    std::vector<std::string> changes;  ///< what-if values, as flags
};

/// From the ranges that a profile states, at least what its kind of number is known to miss by.
RateRanges resolve_ranges(const MachineProfile& profile);

/// Fills a MachineSpec from a profile. Gaps are filled by ratios measured on the H200 (see
/// docs/machine-profiles.md) and said in `assumptions`. Throws InputError where a number that
/// nothing can replace is null.
MachineSpec resolve_machine(const MachineProfile& profile);

}  // namespace sluice
