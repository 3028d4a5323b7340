#include "engine/kernels/cuda/cudnn_attention.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "engine/kernels/attention_batch.h"
#include "engine/kernels/cuda/cuda_check.h"
#include "engine/kernels/cuda/document_places.h"
#include "engine/kernels/cuda/require.h"

namespace sluice {

struct CudnnAttention::Handle {
    cudnnHandle_t cudnn = nullptr;
    ~Handle() {
        if (cudnn != nullptr) cudnnDestroy(cudnn);
    }
};

namespace {

void check_cudnn(cudnnStatus_t status, const char* expression, int line) {
    if (status == CUDNN_STATUS_SUCCESS) return;
    throw_cuda_error(__FILE__, line, expression, cudnnGetErrorString(status), "");
}
#define SLUICE_CHECK_CUDNN(expression) check_cudnn((expression), #expression, __LINE__)

char* part_of(const Matrix& matrix, std::int64_t first_column) {
    return static_cast<char*>(matrix.data) + first_column * bytes_of(matrix.type);
}

/// From sequence to sequence: they are (sequences, heads, sequence), with documents (tokens,
/// heads).
std::int64_t statistics_stride(const AttentionShape& shape, const Documents& documents) {
    return documents.present() ? shape.heads : shape.heads * shape.sequence;
}

/// Between the statistics of two heads.
std::int64_t head_stride(const AttentionShape& shape, const Documents& documents) {
    return documents.present() ? 1 : shape.sequence;
}

/// Those that cuDNN takes at a time; one group of none where there are none.
std::vector<Documents> groups_of(const Documents& all) {
    std::vector<Documents> groups;
    for (std::int64_t first = 0; first < all.count; first += kDocumentsAtOnce)
        groups.push_back(
            {all.begins + first, std::min(kDocumentsAtOnce, all.count - first), all.longest});
    if (groups.empty()) groups.emplace_back();
    return groups;
}

std::int64_t places_of(const AttentionShape& shape, const Documents& group) {
    return group.present() ? document_places(group.count, shape.tokens()) : 0;
}
AttentionGraphKey key_with(const Documents& group, AttentionGraphKey key) {
    if (!group.present()) return key;
    key.documents = places_of(key.shape, group);
    key.longest = longest_places(group.longest, key.shape.sequence);
    return key;
}
std::int64_t places_bytes(std::int64_t places) {
    return places > 0 ? document_places_bytes(places) : 0;
}

/// Some sequences, and of these some key/value heads with their queries.
AttentionShape part_at_once(const AttentionShape& all, const Documents& documents) {
    const AttentionBatch size = attention_at_once(batch_of(all, documents));
    AttentionShape part = all;
    part.sequences = size.sequences;
    part.kv_heads = size.kv_heads;
    part.heads = size.heads;
    return part;
}

/// First columns of a query head, and of its key and value head.
struct Columns {
    std::int64_t q, k, v;
};
Columns columns_of(const AttentionShape& shape, std::int64_t head) {
    const std::int64_t kv_head = head * shape.kv_heads / shape.heads;
    const std::int64_t k = shape.query_width() + kv_head * shape.head_dim;
    return {head * shape.head_dim, k, k + shape.key_width()};
}

std::int64_t aligned(std::int64_t bytes) { return divide_up(bytes, 256) * 256; }

void copy_columns(cudaStream_t stream, const Matrix& to, const Matrix& from) {
    const auto bytes = [](std::int64_t n) { return static_cast<std::size_t>(n * kBf16); };
    SLUICE_CHECK_CUDA(cudaMemcpy2DAsync(to.data, bytes(to.stride), from.data, bytes(from.stride),
                                        bytes(from.columns), static_cast<std::size_t>(from.rows),
                                        cudaMemcpyDeviceToDevice, stream));
}

Matrix columns(const Matrix& of, std::int64_t first, std::int64_t count) {
    Matrix part = of;
    part.data = part_of(of, first);
    part.columns = count;
    return part;
}

/// Queries, keys and values of some heads, or their gradients.
struct Parts {
    Matrix q, k, v;
};
/// As they lie in a matrix of all heads, from query head `head` on.
Parts parts_of(const Matrix& qkv, const AttentionShape& all, const AttentionShape& part,
               std::int64_t head) {
    const Columns first = columns_of(all, head);
    return {columns(qkv, first.q, part.query_width()), columns(qkv, first.k, part.key_width()),
            columns(qkv, first.v, part.key_width())};
}
/// One after another in memory of parts_bytes(), each without gaps.
Parts parts_in(char* memory, const AttentionShape& part) {
    const std::int64_t q = part.query_width(), k = part.key_width();
    const auto after = [&](std::int64_t width, std::int64_t count) {
        return Matrix(memory + kBf16 * part.tokens() * width, DType::bf16, part.tokens(), count);
    };
    return {after(0, q), after(q, k), after(q + k, k)};
}
std::int64_t parts_bytes(const AttentionShape& part) {
    return aligned(kBf16 * part.tokens() * part.qkv_width());
}
void copy_parts(cudaStream_t stream, const Parts& to, const Parts& from) {
    copy_columns(stream, to.q, from.q);
    copy_columns(stream, to.k, from.k);
    copy_columns(stream, to.v, from.v);
}

/// Where the backward pass has what, in bytes from the start of its workspace. The first group of
/// documents has most.
struct BackwardMemory {
    BackwardMemory(const AttentionShape& all, const AttentionShape& part,
                   const Documents& documents)
        : gradients_apart(documents.present() || part.heads < all.heads),
          operands_apart(documents.present()),
          gradients(places_bytes(places_of(all, groups_of(documents).front()))),
          operands(gradients + (gradients_apart ? parts_bytes(part) : 0)),
          cudnn(operands + (operands_apart ? parts_bytes(part) : 0)) {}

    /// Gradients of some heads may not overwrite q, k and v of others. cuDNN gives memory of its
    /// own the strides of documents' tensors, so these have no gaps.
    bool gradients_apart, operands_apart;
    std::int64_t gradients, operands, cudnn;  ///< after the places of documents
};

AttentionStrides backward_strides(const AttentionShape& all, const AttentionShape& part,
                                  const BackwardMemory& at, std::int64_t qkv, std::int64_t dqkv,
                                  std::int64_t out, std::int64_t dout, const Documents& documents) {
    const std::int64_t q = part.query_width(), kv = part.key_width();
    return {.q = at.operands_apart ? q : qkv,
            .kv = at.operands_apart ? kv : qkv,
            .out = out,
            .dout = dout,
            .dq = at.gradients_apart ? q : dqkv,
            .dkv = at.gradients_apart ? kv : dqkv,
            .statistics = statistics_stride(all, documents)};
}

}  // namespace

CudnnAttention::CudnnAttention(cudaStream_t stream, Scratch scratch, Repeats repeats)
    : stream_(stream), scratch_(scratch), repeats_(repeats), handle_(std::make_unique<Handle>()) {
    SLUICE_CHECK_CUDNN(cudnnCreate(&handle_->cudnn));
    SLUICE_CHECK_CUDNN(cudnnSetStream(handle_->cudnn, stream));
}

CudnnAttention::~CudnnAttention() = default;

std::size_t CudnnAttention::KeyHash::operator()(const AttentionGraphKey& key) const {
    const AttentionShape& shape = key.shape;
    const AttentionStrides& strides = key.strides;
    std::size_t hash = 0;
    for (const std::int64_t part :
         {shape.sequences, shape.sequence, shape.heads, shape.kv_heads, shape.head_dim,
          shape.window, strides.q, strides.kv, strides.out, strides.dout, strides.dq, strides.dkv,
          strides.statistics, key.documents, key.longest})
        hash = hash * 31 + std::hash<std::int64_t>{}(part);
    return hash;
}

const AttentionGraph& CudnnAttention::forward_graph(const AttentionGraphKey& key) {
    std::unique_ptr<AttentionGraph>& graph = forward_graphs_[key];
    if (!graph) graph = AttentionGraph::forward(handle_->cudnn, key);
    return *graph;
}

const AttentionGraph& CudnnAttention::backward_graph(const AttentionGraphKey& key) {
    std::unique_ptr<AttentionGraph>& graph = backward_graphs_[key];
    if (!graph) {
        const AttentionShape& s = key.shape;
        const bool planned = attention_repeats(
            {s.sequences, s.sequence, s.heads, s.kv_heads, s.head_dim, key.documents > 0});
        const bool repeats =
            repeats_ == Repeats::always || (repeats_ == Repeats::where_planned && planned);
        graph = AttentionGraph::backward(handle_->cudnn, key, repeats);
    }
    return *graph;
}

void CudnnAttention::add_documents(Data& data, const AttentionGraphKey& key, const Documents& group,
                                   void* memory) const {
    if (!group.present()) return;
    const AttentionStrides& strides = key.strides;
    const DocumentPlaces found =
        find_document_places(stream_, group, key.documents,
                             {strides.q, strides.kv, strides.out, strides.statistics}, memory);
    data[kDocumentLengths] = found.lengths;
    data[kQueryBegins] = found.begins[0];
    data[kKeyBegins] = found.begins[1];
    data[kOutBegins] = found.begins[2];
    data[kStatisticsBegins] = found.begins[3];
}

void CudnnAttention::forward(const AttentionShape& shape, Matrix qkv, Matrix out, float* statistics,
                             Documents documents) {
    require_bf16("attention", "qkv", qkv, shape.tokens(), shape.qkv_width());
    require_bf16("attention", "out", out, shape.tokens(), shape.query_width());
    AttentionGraphKey key{shape,
                          {.q = qkv.stride,
                           .kv = qkv.stride,
                           .out = out.stride,
                           .statistics = statistics_stride(shape, documents)}};
    Data data{{kQ, qkv.data},
              {kK, part_of(qkv, shape.query_width())},
              {kV, part_of(qkv, shape.query_width() + shape.key_width())},
              {kOut, out.data},
              {kStatistics, statistics}};
    for (const Documents& group : groups_of(documents)) {
        key = key_with(group, key);
        const AttentionGraph& graph = forward_graph(key);
        const std::int64_t workspace = aligned(graph.workspace_bytes());
        require(workspace + places_bytes(key.documents) <= scratch_.bytes, "attention",
                "scratch that holds cuDNN's workspace and the places of documents");
        add_documents(data, key, group, static_cast<char*>(scratch_.data) + workspace);
        graph.run(handle_->cudnn, data, scratch_.data);
    }
}

void CudnnAttention::backward(const Backward& call, void* workspace) {
    const AttentionShape& shape = call.shape;
    const char* const operation = "attention_backward";
    require_bf16(operation, "qkv", call.qkv, shape.tokens(), shape.qkv_width());
    require_bf16(operation, "out", call.out, shape.tokens(), shape.query_width());
    require_bf16(operation, "dout", call.dout, shape.tokens(), shape.query_width());
    require_bf16(operation, "dqkv", call.dqkv, shape.tokens(), shape.qkv_width());
    require(!call.documents.present() || call.out.stride == call.dout.stride, operation,
            "out and dout with equal strides");
    const std::int64_t most = part_at_once(shape, call.documents).sequences,
                       needed = workspace_bytes(shape, call.documents);
    for (std::int64_t first = 0; first < shape.sequences; first += most) {
        Backward some = call;
        some.shape.sequences = std::min(most, shape.sequences - first);
        for (Matrix* const rows : {&some.qkv, &some.out, &some.dout, &some.dqkv})
            *rows = rows->row_range(first * shape.sequence, some.shape.tokens());
        some.statistics += first * shape.heads * shape.sequence;
        backward_of_some(some, workspace, needed);
    }
}

void CudnnAttention::backward_of_some(const Backward& call, void* workspace, std::int64_t needed) {
    const AttentionShape& shape = call.shape;
    AttentionShape part = part_at_once(shape, call.documents);
    char* const memory = static_cast<char*>(workspace);
    const BackwardMemory at(shape, part, call.documents);
    const Parts gradients = parts_in(memory + at.gradients, part);
    const Parts operands = parts_in(memory + at.operands, part);
    AttentionGraphKey key{
        part, backward_strides(shape, part, at, call.qkv.stride, call.dqkv.stride, call.out.stride,
                               call.dout.stride, call.documents)};
    Data data;
    // cuDNN takes all as void*, the statistics that it only reads, too.
    auto* const statistics = const_cast<float*>(call.statistics);
    for (std::int64_t head = 0; head < shape.heads; head += part.heads) {
        const Parts in_place = parts_of(call.qkv, shape, part, head);
        const Parts wanted = parts_of(call.dqkv, shape, part, head);
        if (at.operands_apart) copy_parts(stream_, operands, in_place);
        const Parts& from = at.operands_apart ? operands : in_place;
        const Parts& to = at.gradients_apart ? gradients : wanted;
        data[kQ] = from.q.data;
        data[kK] = from.k.data;
        data[kV] = from.v.data;
        data[kOut] = part_of(call.out, head * shape.head_dim);
        data[kStatistics] = statistics + head * head_stride(shape, call.documents);
        data[kDout] = part_of(call.dout, head * shape.head_dim);
        data[kDq] = to.q.data;
        data[kDk] = to.k.data;
        data[kDv] = to.v.data;
        for (const Documents& group : groups_of(call.documents)) {
            key = key_with(group, key);
            const AttentionGraph& graph = backward_graph(key);
            require(at.cudnn + graph.workspace_bytes() <= needed, "attention_backward",
                    "a workspace that does not depend on the strides");
            add_documents(data, key, group, workspace);
            graph.run(handle_->cudnn, data, memory + at.cudnn);
        }
        if (at.gradients_apart) copy_parts(stream_, wanted, gradients);
    }
}

std::int64_t CudnnAttention::workspace_bytes(const AttentionShape& shape, Documents documents) {
    const std::int64_t qkv = shape.qkv_width(), out = shape.query_width();
    const AttentionShape part = part_at_once(shape, documents);
    const BackwardMemory at(shape, part, documents);
    const AttentionStrides strides =
        backward_strides(shape, part, at, qkv, qkv, out, out, documents);
    return at.cudnn + backward_graph(key_with(groups_of(documents).front(), {part, strides}))
                          .workspace_bytes();
}

}  // namespace sluice
