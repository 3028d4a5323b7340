// How does attention reach cuDNN? As graphs over strided views of the fused q, k, v matrix, built
// once for a shape.
#pragma once

#include <memory>
#include <unordered_map>

#include "engine/kernels/cuda/cuda_kernels.h"

namespace sluice {

class CudnnAttention {
  public:
    /// Arguments of Kernels::attention_backward.
    struct Backward {
        AttentionShape shape;
        Matrix qkv, out;
        const float* statistics = nullptr;
        Matrix dout, dqkv;
    };

    CudnnAttention(cudaStream_t stream, Scratch scratch, bool deterministic);
    ~CudnnAttention();
    CudnnAttention(const CudnnAttention&) = delete;
    CudnnAttention& operator=(const CudnnAttention&) = delete;

    /// As in Kernels. They throw InputError for shapes that cuDNN cannot compute: a head_dim that
    /// is no multiple of 8 or above 256 (128 on GPUs other than Hopper), sequences of one token.
    void forward(const AttentionShape& shape, Matrix qkv, Matrix out, float* statistics);
    void backward(const Backward& call, void* workspace);
    /// Of the heads that backward() takes at a time (key_heads_at_once()). Builds the plan for rows
    /// without padding, which also fits rows with padding.
    std::int64_t workspace_bytes(const AttentionShape& shape);

  private:
    /// Elements from row to row, and of statistics from sequence to sequence.
    struct Strides {
        std::int64_t qkv = 0, out = 0, dout = 0, dqkv = 0, statistics = 0;
        bool operator==(const Strides&) const = default;
    };
    struct Key {
        AttentionShape shape;
        Strides strides;
        bool operator==(const Key&) const = default;
    };
    struct KeyHash {
        std::size_t operator()(const Key& key) const;
    };
    struct Plan;
    struct Handle;

    const Plan& forward_plan(const Key& key);
    const Plan& backward_plan(const Key& key);

    cudaStream_t stream_;
    Scratch scratch_;
    bool deterministic_;
    std::unique_ptr<Handle> handle_;
    std::unordered_map<Key, std::unique_ptr<Plan>, KeyHash> forward_plans_, backward_plans_;
};

}  // namespace sluice
