// How does a product of matrices reach cuBLASLt? Row-major through the transposed problem, with
// descriptors and algorithm kept for each kind of product.
#pragma once

#include <cublasLt.h>

#include <array>
#include <cstddef>
#include <unordered_map>

#include "engine/kernels/cuda/cuda_kernels.h"

namespace sluice {

/// bf16 or FP8 inputs, sums in fp32, bf16 or fp32 output. After the first product of a kind a call
/// allocates nothing.
class CublasGemm {
  public:
    CublasGemm(cudaStream_t stream, Scratch scratch, int multiprocessors);
    ~CublasGemm();
    CublasGemm(const CublasGemm&) = delete;
    CublasGemm& operator=(const CublasGemm&) = delete;

    /// Throws InternalError if the matrices' shapes do not match or cuBLASLt has no algorithm.
    void run(const Kernels::Product& product);

  private:
    /// All inputs of the choice of an algorithm; see key_of() for the order.
    using Key = std::array<std::int64_t, 16>;
    struct KeyHash {
        std::size_t operator()(const Key& key) const;
    };
    struct Plan {
        cublasLtMatmulDescOpaque_t operation;
        cublasLtMatrixLayoutOpaque_t a, b, c, d;
        cublasLtMatmulAlgo_t algorithm;
    };

    static Key key_of(const Kernels::Product& product);
    Plan make_plan(const Kernels::Product& product) const;
    cublasLtMatmulAlgo_t choose_algorithm(const Kernels::Product& product, Plan& plan) const;

    cudaStream_t stream_;
    Scratch scratch_;
    int multiprocessors_;
    cublasLtHandle_t handle_ = nullptr;
    std::unordered_map<Key, Plan, KeyHash> plans_;
};

}  // namespace sluice
