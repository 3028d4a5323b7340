#include "sim/model/kernel.h"

namespace sluice {

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

Kernel gemm(const char* name, std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t count) {
    Kernel kernel;
    kernel.kind = KernelKind::gemm;
    kernel.name = name;
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

Kernel memory_bound(const char* name, double bytes, std::int64_t launches) {
    Kernel kernel;
    kernel.name = name;
    kernel.bytes = bytes;
    kernel.launches = launches;
    return kernel;
}

}  // namespace sluice
