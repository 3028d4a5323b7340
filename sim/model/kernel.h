// What work does a GPU kernel do: its shape, its FLOPs, the bytes it moves. Seconds come from the
// machine.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/units.h"

namespace sluice {

enum class KernelKind : std::uint8_t { gemm, attention_forward, attention_backward, memory_bound };

/// One kernel launch. Only the fields of its kind are set.
struct Kernel {
    KernelKind kind = KernelKind::memory_bound;
    const char* name = "";
    std::int64_t m = 0, n = 0, k = 0;  ///< gemm: (m, k) x (k, n)
    std::int64_t count = 1;            ///< gemm: independent products of this shape (experts)
    std::int64_t sequence = 0;         ///< attention: tokens of one sequence
    std::int64_t heads = 0;            ///< attention: query heads times sequences
    std::int64_t head_dim = 0;         ///< attention: of queries and keys
    std::int64_t launches = 1;         ///< kernels launched on the device for this work
    Flops flops = 0;
    double bytes = 0;  ///< HBM read and written
};

using KernelList = std::vector<Kernel>;

Flops total_flops(const KernelList& kernels);
double total_bytes(const KernelList& kernels);
std::int64_t total_launches(const KernelList& kernels);

/// C (m, n) += A (m, k) B (k, n) in bf16: 2mnk FLOPs; each operand passes HBM once.
Kernel gemm(const char* name, std::int64_t m, std::int64_t n, std::int64_t k,
            std::int64_t count = 1);

/// A kernel bound by HBM: `bytes` read and written.
Kernel memory_bound(const char* name, double bytes, std::int64_t launches = 1);

}  // namespace sluice
