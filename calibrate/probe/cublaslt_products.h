// Which library computes products in the probe? cuBLASLt, where the system has it.
#pragma once

#include <memory>

#include "calibrate/probe/cuda_driver.h"
#include "engine/kernels/kernels.h"

namespace sluice {

struct ProductWorkspace {
    char* data = nullptr;  ///< device memory
    std::size_t bytes = 0;
};

/// Whether the system finds the library.
bool has_cublaslt();

/// Products in bf16 on the stream, with its first heuristic as in sluice-train; null if no library
/// is found. The calling thread has the GPU's context.
std::unique_ptr<Products> make_cublaslt_products(CudaStream stream, ProductWorkspace workspace);

}  // namespace sluice
