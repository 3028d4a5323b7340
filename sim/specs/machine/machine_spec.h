// How fast and how large is the machine, in bytes, seconds and FLOPs? The profile's numbers in SI
// units; a stated rule fills each gap.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "sim/base/units.h"
#include "sim/specs/machine/curves.h"
#include "sim/specs/machine/kernel_table.h"
#include "sim/specs/machine/machine_profile.h"

namespace sluice {

/// How far a prediction can be trusted: the weakest origin among the rates that it uses.
enum class Confidence { measured, transferred, datasheet };
const char* confidence_name(Confidence confidence);

/// FLOP/s of one attention implementation by sequence length, causal, head_dim 128.
struct AttentionRates {
    Interpolated forward;
    Interpolated backward;
};

/// Kernel times of a profile are those at the GPU's highest clock. The GPU keeps that clock until
/// it has drawn more than its power limit for some time. This is modelled as a store of energy,
/// which kernels above the limit empty and kernels below it fill. When it is empty, the clock falls
/// until kernels draw the power limit.
struct ClockSpec {
    double headroom_j =
        0;  ///< size of that store; 0: not measured, the clock is always the highest
    double limit_w = 0;
    double idle_w = 0;
    /// Energy at the highest clock, in addition to idle power.
    double joules_per_flop = 0, joules_per_flop_of_attention = 0, joules_per_byte = 0;
    /// Large products: their time at the highest clock over the time at the power limit, and their
    /// energy over the energy at the limit.
    double time_share = 1, energy_share = 1;
};

struct GpuSpec {
    Bytes memory_capacity = 0;        ///< as the driver reports
    Bytes context = 0;                ///< CUDA context and library handles, outside every plan
    double memory_bandwidth = 0;      ///< bytes/s read plus written that a good kernel reaches
    double gemm_flops_per_s = 0;      ///< bf16, large products, sustained under the power limit
    double fp8_gemm_flops_per_s = 0;  ///< the same in FP8; 0: the GPU has none, or it is not known
    double fp8_cast_rate = 0;         ///< bytes/s of kernels that write codes, as they count bytes
    Seconds gemm_overhead = 0;        ///< fixed time of one product, in addition to its FLOPs
    double multiprocessors = 0;
    double narrow_head_share = 1;    ///< attention rate at head_dim 64 over the rate at 128
    AttentionRates fused_attention;  ///< cuDNN
    AttentionRates flash_attention;
    Seconds launch = 0;            ///< device time between two dependent kernels
    Seconds eager_launch = 0;      ///< host time of one eager PyTorch operation
    Seconds first_step_extra = 0;  ///< the first attention backward builds its plan
    /// Measured times of the trainer's kernels, by KernelTableId; empty if there are none.
    std::array<KernelTable, kKernelTables> tables;
    ClockSpec clock;
};

struct LinkSpec {
    double host_to_device = 0;  ///< bytes/s alone
    double device_to_host = 0;
    double both_ways_total = 0;  ///< bytes/s of both directions together while both run
    double pageable_host_to_device = 0;
    double pageable_device_to_host = 0;  ///< 0: not known
    /// Copies to pageable memory that the system maps during the copy.
    double pageable_device_to_fresh_host = 0;
    /// Share of the full rate that a copy of this many bytes reaches.
    Interpolated share_to_device_by_bytes, share_to_host_by_bytes;
};

/// Host memory traffic of AdamW for one parameter: the bf16 gradient is read; master and moments of
/// this many bytes are read and written.
inline double adam_traffic(std::int64_t state_bytes) {
    return static_cast<double>(kBf16 + 2 * state_bytes);
}

/// STREAM of host memory over its peak (channels times rate). The best published figures on the
/// profiles' hosts are 348 of 384 GB/s (GH200), 390 of 460.8 (EPYC 9004), 175 of 204.8 (EPYC 7003)
/// and 231.8 of 273 (GB10): 0.91, 0.85, 0.85 and 0.85. These are the best and not median figures,
/// since a trainer can bind its threads, too.
inline constexpr double kStreamOfPeak = 0.85;

/// CPUs that sluice-train leaves to the threads of its lanes and the main one, which mostly sleep:
/// 12 of 16 optimizer threads trained fastest on the H200 machine, although 16 are faster when
/// nothing else runs.
inline constexpr int kCpusForLanes = 4;

/// Rates of host work by all optimizer threads, alone. Memory traffic counts read plus written
/// bytes.
struct HostSpec {
    Bytes memory_capacity = 0;
    Bytes memory_capacity_most = 0;  ///< the most that such a machine can have; 0: not known
    Bytes process_base = 0;    ///< resident bytes of a process that has loaded CUDA and libtorch
    Bytes system_reserve = 0;  ///< left to the operating system
    double cores = 0;
    double gpus = 0;            ///< that share the host: those of the node; 0: not known
    double sockets = 1;         ///< each with memory of that bandwidth
    Bytes node_memory = 0;      ///< as the node is sold; more only if the user gives it more
    double dram_bandwidth = 0;  ///< bytes/s of a socket, shared by copies and host work
    double copy_weight = 1;     ///< memory traffic of one byte copied over the link
    /// With an optimizer of smaller states; with 5 and 4 bytes as with 6.
    Contention contention_8_byte, contention_6_byte;
    Contention contention;          ///< as measured; replaces the three above if it is not empty
    Interpolated adam_bytes_per_s;  ///< memory traffic of AdamW by threads, with 12 bytes of state
    /// The same with smaller states.
    Interpolated adam_8_byte_bytes_per_s, adam_6_byte_bytes_per_s, adam_5_byte_bytes_per_s,
        adam_4_byte_bytes_per_s;
    Interpolated adam_call;     ///< fixed seconds of one update, by threads; empty: none
    int best_adam_threads = 0;  ///< the fastest number that leaves kCpusForLanes
    /// The fastest number, for updates that all wait for the norm, when few copies run. 7B, batch
    /// 32, in 24 GB of an H200 with 16 CPUs: 11,083 tokens/s with 16, 10,661 with 14.
    int adam_threads_after_norm = 0;

    int adam_threads(bool after_norm) const {
        return after_norm ? adam_threads_after_norm : best_adam_threads;
    }
    const Contention& contention_of(std::int64_t state_bytes) const {
        return state_bytes == 12  ? contention
               : state_bytes == 8 ? contention_8_byte
                                  : contention_6_byte;
    }
    const Interpolated& adam_of(std::int64_t state_bytes) const {
        return state_bytes == 12  ? adam_bytes_per_s
               : state_bytes == 8 ? adam_8_byte_bytes_per_s
               : state_bytes == 6 ? adam_6_byte_bytes_per_s
               : state_bytes == 5 ? adam_5_byte_bytes_per_s
                                  : adam_4_byte_bytes_per_s;
    }
    double memory_copy = 0;     ///< payload bytes/s of a parallel copy (reads and writes that much)
    double first_touch = 0;     ///< payload bytes/s of a copy into fresh pages
    double zero = 0;            ///< bytes/s written
    double release = 0;         ///< bytes/s returned to the system
    double scale = 0;           ///< bytes/s multiplied in place (reads and writes that much)
    double norm_and_scale = 0;  ///< bytes/s of gradient through PyTorch's clip_grad_norm_ (bf16)
    double eager_adam_bytes_per_s =
        0;  ///< memory traffic of a bf16-master AdamW (22 B a parameter)
};
/// Sets both numbers of threads with which the optimizer is fastest, by its rates.
void set_adam_threads(HostSpec& host);
/// "host memory of 1 TB is more than the 128 GB that such a machine can have"; empty if it is not,
/// or the limit is not known.
std::string impossible_memory(const HostSpec& host);

/// Numbers of a profile without which the machine has no storage.
inline constexpr std::array<const char*, 2> kStorageRates = {"storage.read_gb_per_s",
                                                             "storage.write_gb_per_s"};

/// A disk that schedules may read and write; 0: not known.
struct StorageSpec {
    double read = 0;  ///< bytes/s
    double write = 0;
    Seconds latency = 0;  ///< fixed time of one read or write, in addition to its bytes
    Bytes capacity = 0;
    std::vector<std::string> assumptions;  ///< about these numbers, listed if a plan uses them

    bool known() const { return read > 0 && write > 0; }
};

/// Rates are bus bandwidths as in nccl-tests (doc/PERFORMANCE.md): bytes/s that each GPU sends in a
/// ring, for any number of GPUs.
struct InterconnectSpec {
    std::int64_t gpus_per_node = 0;  ///< 0: not known
    Interpolated bus_by_gpus;  ///< by the number of a node's GPUs that take part; empty: not known
    double network_per_gpu = 0;  ///< one GPU's share of the node's network; 0: not known
    /// Assumptions about these numbers, listed if a plan uses them: within a node, and between
    /// nodes.
    std::vector<std::string> assumptions, network_assumptions;

    bool has_network() const { return network_per_gpu > 0; }
};

/// The true rate over the assumed rate: 5 to 95%.
struct RateRange {
    double low = 1, high = 1;
};

/// Groups are independent of each other; within one group, all rates are off by the same factor.
struct RateRanges {
    /// The range of a kernel with this table. If the table is measured here, the errors of two
    /// kernels are independent; if it is another machine's, scaled, they are the same.
    std::array<RateRange, kKernelTables> tables;
    bool tables_measured = false;
    RateRange formulas;                ///< of all kernels without a table
    RateRange clock;                   ///< of all kernels: another GPU of the kind, another day
    RateRange optimizer;               ///< of Adam alone
    bool optimizer_by_memory = false;  ///< its rate was not measured but follows host memory's
    RateRange host_memory;   ///< of rates under contention, copies in both directions included
    RateRange link;          ///< of copies alone
    RateRange host_work;     ///< of all other work of the processor
    RateRange storage;       ///< of reads and writes
    RateRange interconnect;  ///< of collectives of as many GPUs of a node as were measured
    RateRange interconnect_of_others;  ///< of other numbers of GPUs
    RateRange network;                 ///< of collectives between nodes
};

struct MachineSpec {
    std::string id;
    std::string name;
    bool unified_memory = false;         ///< host and device are one pool
    std::string gpu_maker;               ///< "NVIDIA"; empty: not known
    std::string gpu_compute_capability;  ///< of NVIDIA's GPUs: "9.0"; empty: not known
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
    /// The same for schedules of other systems only (PyTorch's kernels); if there are any, the
    /// confidence of these schedules is `transferred` at best.
    std::vector<std::string> others_assumptions;
    std::vector<std::string> inputs;   ///< paths of the numbers that the spec uses
    std::vector<std::string> changes;  ///< what-if values, as flags
};

/// The ranges that the profile states, but at least the known errors of each kind of number.
RateRanges resolve_ranges(const MachineProfile& profile);

/// Fills a MachineSpec from a profile. Ratios measured on the H200 fill gaps (see
/// docs/machine-profiles.md) and are listed in `assumptions`. Throws InputError if a number that
/// nothing can replace is null.
MachineSpec resolve_machine(const MachineProfile& profile);

}  // namespace sluice
