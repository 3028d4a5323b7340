// How does cuDNN compute attention? A graph over strided views of q, k and v, for sequences or
// for documents of any lengths. Only files that call cuDNN include this.
#pragma once

#include <cudnn_frontend.h>

#include "engine/kernels/kernels.h"

namespace sluice {

/// Numbers of the graph's tensors. Those that end in Begins say where each document begins in
/// another tensor, in elements.
enum AttentionTensor : std::int64_t {
    kQ = 1,
    kK,
    kV,
    kOut,
    kStatistics,
    kDout,
    kDq,
    kDk,
    kDv,
    kDocumentLengths,
    kQueryBegins,
    kKeyBegins,
    kOutBegins,
    kStatisticsBegins
};

/// Elements from token to token: of queries, of keys and values, of `out`, of their gradients.
/// Statistics have them from sequence to sequence; with documents from token to token, too, and
/// gradients must have the strides of what they belong to.
struct AttentionStrides {
    std::int64_t q = 0, kv = 0, out = 0, dout = 0, dq = 0, dkv = 0, statistics = 0;
    bool operator==(const AttentionStrides&) const = default;
};

/// All that a graph depends on.
struct AttentionGraphKey {
    AttentionShape shape;
    AttentionStrides strides;
    /// Documents that it takes, the last of which may be empty; 0: each sequence is one.
    std::int64_t documents = 0;
    std::int64_t longest = 0;  ///< tokens that a document has at most, with documents
    bool operator==(const AttentionGraphKey&) const = default;
};

class AttentionGraph {
  public:
    struct Graph;

    /// They choose an engine and compile it. They throw as CudnnAttention does.
    static std::unique_ptr<AttentionGraph> forward(cudnnHandle_t handle,
                                                   const AttentionGraphKey& key);
    static std::unique_ptr<AttentionGraph> backward(cudnnHandle_t handle,
                                                    const AttentionGraphKey& key,
                                                    bool deterministic);
    ~AttentionGraph();
    AttentionGraph(const AttentionGraph&) = delete;
    AttentionGraph& operator=(const AttentionGraph&) = delete;

    std::int64_t workspace_bytes() const { return workspace_bytes_; }
    /// `data` of each AttentionTensor that the graph has.
    void run(cudnnHandle_t handle, std::unordered_map<std::int64_t, void*> data,
             void* workspace) const;

  private:
    AttentionGraph(cudnnHandle_t handle, const AttentionShape& shape, std::unique_ptr<Graph> graph);

    AttentionShape shape_;
    std::unique_ptr<Graph> graph_;
    std::int64_t workspace_bytes_ = 0;
};

}  // namespace sluice
