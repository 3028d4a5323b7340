// Which work does a GPU kernel do: its shape, FLOPs and bytes? The machine gives its seconds.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/base/units.h"

namespace sluice {

enum class KernelKind : std::uint8_t { gemm, attention_forward, attention_backward, memory_bound };

/// The purpose of a product, which decides the layouts: y = x W^T; dx = dy W; dW = dy^T x.
enum class GemmRole : std::uint8_t { forward, input_gradient, weight_gradient };

/// The trainer's own memory-bound kernels (engine/kernels/kernels.h), with their names in profiles.
#define SLUICE_MEMORY_BOUND_WORK(row)                                                       \
    row(rms_norm) row(rms_norm_backward) row(head_norm) row(head_norm_backward) row(rotary) \
        row(swiglu) row(swiglu_and_gradient) row(bias_backward) row(cross_entropy)          \
            row(sum_squares) row(round_to_bf16)
#define SLUICE_ENUMERATOR(name) name,

/// An implementation of attention; own: that of the kernels' style.
enum class AttentionKernel : std::uint8_t { own, flash2, flash3, flash4, cudnn };

/// other: none of these, known only by its bytes.
enum class MemoryBoundWork : std::uint8_t { other, SLUICE_MEMORY_BOUND_WORK(SLUICE_ENUMERATOR) };

/// One kernel launch. Only the fields of its kind are set.
struct Kernel {
    KernelKind kind = KernelKind::memory_bound;
    const char* name = "";
    std::int64_t m = 0, n = 0, k = 0;  ///< gemm: (m, k) x (k, n)
    GemmRole role = GemmRole::forward;
    bool added = false;          ///< gemm: forward adds another matrix, a weight gradient
                                 /// adds to its sum in fp32
    bool fp8 = false;            ///< gemm: operands in FP8, result as without;
                                 /// memory-bound: writes codes of FP8
    std::int64_t count = 1;      ///< gemm: independent products of this shape (experts)
    std::int64_t sequence = 0;   ///< attention: tokens of one sequence
    std::int64_t sequences = 0;  ///< attention
    std::int64_t heads = 0;      ///< attention: of queries, in one sequence
    std::int64_t kv_heads = 0;   ///< attention: of keys and values, in one sequence
    std::int64_t head_dim = 0;   ///< attention: of queries and keys
    AttentionKernel attention = AttentionKernel::own;
    MemoryBoundWork work = MemoryBoundWork::other;
    std::int64_t rows = 0, columns = 0;  ///< memory-bound work that is not `other`
    std::int64_t launches = 1;           ///< kernels launched on the device for this work
    Flops flops = 0;
    double bytes = 0;        ///< device memory read and written
    double work_bytes = 0;   ///< not attention: what it takes longer than else, as bytes that a
                             ///< copy on the H200 moves in that time
    double added_bytes = 0;  ///< gemm: the part of them for the added matrix
    bool operator==(const Kernel&) const = default;
};

using KernelList = std::vector<Kernel>;

Flops total_flops(const KernelList& kernels);
double total_bytes(const KernelList& kernels);
std::int64_t total_launches(const KernelList& kernels);

/// C (m, n) += A (m, k) B (k, n) in bf16: 2mnk FLOPs; each operand is read or written once.
Kernel gemm(const char* name, GemmRole role, std::int64_t m, std::int64_t n, std::int64_t k,
            std::int64_t count = 1);
/// The same with an added matrix: forward also reads it in bf16; a weight gradient reads and writes
/// fp32 in place of writing bf16.
Kernel with_addend(Kernel product);

/// The same with operands of a byte an element.
Kernel in_fp8(Kernel product);
/// Memory-bound work that writes codes of FP8.
Kernel writes_codes(const char* name, double bytes, std::int64_t launches);
/// Reads a matrix and writes codes in one or two orders. If its largest number is `sought`, clears
/// the scale and reads the matrix for it before.
Kernel cast_to_fp8(double elements, int orders, bool sought);
/// Reads codes of a matrix and writes them in the other order.
Kernel transpose_codes(double elements);

/// Causal attention of `sequences` sequences; value_dim is the width of a head's values.
struct AttentionSize {
    std::int64_t sequences = 0, sequence = 0, heads = 0, kv_heads = 0, head_dim = 0, value_dim = 0;
    std::int64_t window = 0;  ///< number of keys that a query sees; 0: all before it
};
/// Forward: q k^T and p v over the scored pairs (half the square without a window), 2 FLOPs each;
/// backward: 2.5 times that. Forward reads or writes every operand once, backward 2.5 times.
Kernel attention_forward(const AttentionSize& size);
Kernel attention_backward(const AttentionSize& size);

/// One of the trainer's kernels on a matrix, which moves `bytes_per_element`.
Kernel elementwise(const char* name, MemoryBoundWork work, std::int64_t rows, std::int64_t columns,
                   double bytes_per_element);

Kernel memory_bound(const char* name, double bytes, std::int64_t launches = 1);

}  // namespace sluice
