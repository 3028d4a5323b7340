// How do the products of many experts run as one kernel, whose sizes the GPU alone knows? libtorch
// has that kernel. It is in a library of its own, grouped_products.cpp, which only models with
// experts load: libtorch_cuda.so takes 0.3 s of a start.
#pragma once

#include <cuda_runtime_api.h>

#include "engine/kernels/kernels.h"

namespace sluice {

/// The library is given this: matrices in bf16, all on the GPU.
struct GroupedProducts {
    cudaStream_t stream = nullptr;
    int device = 0;
    GemmRole role = GemmRole::forward;
    Matrix d, a, b;
    std::int32_t* ends = nullptr;
    std::int64_t groups = 0;
};
/// Its only function. Returns null, or why the products did not run; the text stands until the next
/// call.
using GroupedProductsFunction = const char*(const GroupedProducts&);
inline constexpr const char* kGroupedProductsFunction = "sluice_grouped_products";
inline constexpr const char* kGroupedProductsLibrary = "libsluice_grouped_products.so";

/// Runs them. The first call loads the library, which stands beside the program. Throws InputError
/// if it is not there, InternalError for what it refuses.
void run_grouped(const GroupedProducts& products);

}  // namespace sluice
