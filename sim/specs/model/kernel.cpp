#include "sim/specs/model/kernel.h"

namespace sluice {
namespace {

double area(std::int64_t rows, std::int64_t columns) {
    return static_cast<double>(rows) * static_cast<double>(columns);
}

/// Pairs of query and key that causal attention scores in one sequence; half the square without a
/// window.
double scored_pairs(std::int64_t sequence, std::int64_t window) {
    const double s = static_cast<double>(sequence);
    if (window <= 0 || window >= sequence) return s * s / 2;
    const double w = static_cast<double>(window);
    return w * s - w * w / 2;
}

}  // namespace

Flops total_flops(const KernelList& kernels) {
    Flops total = 0;
    for (const Kernel& kernel : kernels) total += kernel.flops;
    return total;
}

double total_bytes(const KernelList& kernels) {
    double total = 0;
    for (const Kernel& kernel : kernels) total += kernel.bytes;
    return total;
}

std::int64_t total_launches(const KernelList& kernels) {
    std::int64_t total = 0;
    for (const Kernel& kernel : kernels) total += kernel.launches;
    return total;
}

Kernel gemm(const char* name, GemmRole role, std::int64_t m, std::int64_t n, std::int64_t k,
            std::int64_t count) {
    Kernel kernel;
    kernel.kind = KernelKind::gemm;
    kernel.name = name;
    kernel.role = role;
    kernel.m = m;
    kernel.n = n;
    kernel.k = k;
    kernel.count = count;
    const double rows = static_cast<double>(m), columns = static_cast<double>(n),
                 depth = static_cast<double>(k);
    const double products = static_cast<double>(count);
    kernel.flops = 2 * products * rows * columns * depth;
    kernel.bytes = products * kBf16 * (rows * depth + depth * columns + rows * columns);
    return kernel;
}

Kernel with_addend(Kernel product) {
    const Bytes an_element =
        product.role == GemmRole::weight_gradient ? 2 * kFp32 - kBf16 : Bytes{kBf16};
    product.added = true;
    product.added_bytes =
        static_cast<double>(an_element * product.count) * area(product.m, product.n);
    product.bytes += product.added_bytes;
    return product;
}

Kernel in_fp8(Kernel product) {
    constexpr Bytes kSaved = kBf16 - 1;
    product.fp8 = true;
    product.bytes -= static_cast<double>(kSaved * product.count) *
                     (area(product.m, product.k) + area(product.k, product.n));
    return product;
}

Kernel writes_codes(const char* name, double bytes, std::int64_t launches) {
    Kernel kernel = memory_bound(name, bytes, launches);
    kernel.fp8 = true;
    return kernel;
}

Kernel cast_to_fp8(double elements, int orders, bool sought) {
    // Bytes an element that take the time measured on an H200 at the rate of a device copy
    // (docs/fp8.md): 3 and 4 bytes are moved, and 2 in the search.
    constexpr double kOneOrder = 3.1, kBothOrders = 4.9, kSearch = 2.1;
    const double bytes = (orders == 1 ? kOneOrder : kBothOrders) + (sought ? kSearch : 0);
    return writes_codes("cast to FP8", bytes * elements, sought ? 3 : 1);
}

Kernel transpose_codes(double elements) {
    // Two bytes are moved, at the rate of casts to the other order.
    constexpr double kBytes = 2 * 3.1 / 3;
    return writes_codes("transpose of codes", kBytes * elements, 1);
}

Kernel attention_forward(const AttentionSize& size) {
    Kernel kernel;
    kernel.kind = KernelKind::attention_forward;
    kernel.name = "attention";
    kernel.sequences = size.sequences;
    kernel.sequence = size.sequence;
    kernel.heads = size.heads;
    kernel.kv_heads = size.kv_heads;
    kernel.head_dim = size.head_dim;
    kernel.flops = 2 * scored_pairs(size.sequence, size.window) *
                   area(size.head_dim + size.value_dim, size.heads) *
                   static_cast<double>(size.sequences);
    const std::int64_t width =
        size.heads * (size.head_dim + size.value_dim) + 2 * size.kv_heads * size.head_dim;
    kernel.bytes = kBf16 * area(size.sequences * size.sequence, width);
    return kernel;
}

Kernel attention_backward(const AttentionSize& size) {
    constexpr double kOfForward = 2.5;  // five products of the pairs instead of two
    Kernel kernel = attention_forward(size);
    kernel.kind = KernelKind::attention_backward;
    kernel.name = "attention backward";
    kernel.flops *= kOfForward;
    kernel.bytes *= kOfForward;
    return kernel;
}

Kernel elementwise(const char* name, MemoryBoundWork work, std::int64_t rows, std::int64_t columns,
                   double bytes_per_element) {
    Kernel kernel = memory_bound(name, bytes_per_element * area(rows, columns));
    kernel.work = work;
    kernel.rows = rows;
    kernel.columns = columns;
    return kernel;
}

Kernel memory_bound(const char* name, double bytes, std::int64_t launches) {
    Kernel kernel;
    kernel.name = name;
    kernel.bytes = bytes;
    kernel.launches = launches;
    return kernel;
}

}  // namespace sluice
