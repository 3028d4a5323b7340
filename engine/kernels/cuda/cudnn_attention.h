// How does attention reach cuDNN? As graphs over strided views of the fused q, k, v matrix, built
// once for a shape.
#pragma once

#include <memory>
#include <unordered_map>

#include "engine/kernels/cuda/attention_graph.h"
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
        Documents documents;
    };

    /// Does backward give the same bits each time? `where_planned`: where attention_repeats().
    enum class Repeats : std::uint8_t { never, where_planned, always };
    CudnnAttention(cudaStream_t stream, Scratch scratch, Repeats repeats);
    ~CudnnAttention();
    CudnnAttention(const CudnnAttention&) = delete;
    CudnnAttention& operator=(const CudnnAttention&) = delete;

    /// As in Kernels. They throw InputError for shapes that cuDNN cannot compute: a head_dim that
    /// is no multiple of 8 or above 256 (128 on GPUs other than Hopper), sequences of one token;
    /// with documents a head_dim that is no multiple of 16.
    void forward(const AttentionShape& shape, Matrix qkv, Matrix out, float* statistics,
                 Documents documents);
    void backward(const Backward& call, void* workspace);
    /// The workspace for what backward() takes at a time (attention_at_once()). Builds the graph
    /// for rows without padding, which also fits rows with padding.
    std::int64_t workspace_bytes(const AttentionShape& shape, Documents documents);

  private:
    using Data = std::unordered_map<std::int64_t, void*>;
    struct KeyHash {
        std::size_t operator()(const AttentionGraphKey& key) const;
    };
    using Graphs = std::unordered_map<AttentionGraphKey, std::unique_ptr<AttentionGraph>, KeyHash>;
    struct Handle;

    /// backward() of sequences that are taken at a time; `needed`: workspace_bytes() of all.
    void backward_of_some(const Backward& call, void* workspace, std::int64_t needed);
    const AttentionGraph& forward_graph(const AttentionGraphKey& key);
    const AttentionGraph& backward_graph(const AttentionGraphKey& key);
    /// Finds the places of a group of documents in `memory` and names them in `data`.
    void add_documents(Data& data, const AttentionGraphKey& key, const Documents& group,
                       void* memory) const;

    cudaStream_t stream_;
    Scratch scratch_;
    Repeats repeats_;
    std::unique_ptr<Handle> handle_;
    Graphs forward_graphs_, backward_graphs_;
};

}  // namespace sluice
