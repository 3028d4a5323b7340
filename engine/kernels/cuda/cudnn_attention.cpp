#include "engine/kernels/cuda/cudnn_attention.h"

#include <cudnn_frontend.h>
#include <fmt/format.h>

#include <cmath>
#include <functional>

#include "engine/kernels/cuda/cuda_check.h"
#include "engine/kernels/cuda/require.h"
#include "sim/base/input_error.h"
#include "sim/specs/model/attention_workspace.h"

namespace sluice {

namespace fe = cudnn_frontend;
using Tensor = std::shared_ptr<fe::graph::Tensor_attributes>;

struct CudnnAttention::Plan {
    fe::graph::Graph graph;
    std::int64_t workspace_bytes = 0;
};

struct CudnnAttention::Handle {
    cudnnHandle_t cudnn = nullptr;
    ~Handle() {
        if (cudnn != nullptr) cudnnDestroy(cudnn);
    }
};

namespace {

enum TensorId : std::int64_t { kQ = 1, kK, kV, kOut, kStatistics, kDout, kDq, kDk, kDv };

void check_cudnn(cudnnStatus_t status, const char* expression, int line) {
    if (status == CUDNN_STATUS_SUCCESS) return;
    throw_cuda_error(__FILE__, line, expression, cudnnGetErrorString(status), "");
}
#define SLUICE_CHECK_CUDNN(expression) check_cudnn((expression), #expression, __LINE__)

void check_graph(fe::error_t error, const char* step, const AttentionShape& shape) {
    if (error.is_good()) return;
    const std::string text = fmt::format(
        "attention of {} sequences of {} tokens, {} heads and {} key/value heads of {} elements, "
        "window {}: cuDNN cannot {}: {}",
        shape.sequences, shape.sequence, shape.heads, shape.kv_heads, shape.head_dim, shape.window,
        step, error.get_message());
    if (error.get_code() == fe::error_code_t::GRAPH_NOT_SUPPORTED)
        throw InputError(text + "; choose another model, sequence length or GPU");
    throw CudaError(text);
}

/// The documented limits of cuDNN, in the terms of the model's config.
void require_supported(const AttentionShape& shape) {
    if (shape.head_dim % 8 != 0 || shape.head_dim > 256) {
        throw InputError(fmt::format(
            "model: head_dim is {}, expected a multiple of 8 up to 256 for attention on the GPU; "
            "choose another model",
            shape.head_dim));
    }
    if (shape.sequence < 2) {
        throw InputError(
            "training: sequence is 1, expected 2 or more for attention on the GPU; use longer "
            "sequences");
    }
}

/// The place of the heads of q, k or v within a matrix of tokens x `stride`.
struct HeadsView {
    std::int64_t heads, stride;
};

Tensor add_view(fe::graph::Graph& graph, TensorId id, const AttentionShape& shape, HeadsView view) {
    return graph.tensor(
        fe::graph::Tensor_attributes()
            .set_uid(id)
            .set_dim({shape.sequences, view.heads, shape.sequence, shape.head_dim})
            .set_stride({shape.sequence * view.stride, shape.head_dim, view.stride, 1}));
}

void set_output(const Tensor& tensor, TensorId id, const AttentionShape& shape, HeadsView view) {
    tensor->set_uid(id)
        .set_output(true)
        .set_dim({shape.sequences, view.heads, shape.sequence, shape.head_dim})
        .set_stride({shape.sequence * view.stride, shape.head_dim, view.stride, 1});
}

void set_statistics(fe::graph::Tensor_attributes& tensor, const AttentionShape& shape,
                    std::int64_t stride) {
    tensor.set_uid(kStatistics)
        .set_dim({shape.sequences, shape.heads, shape.sequence, 1})
        .set_stride({stride, shape.sequence, 1, 1})
        .set_data_type(fe::DataType_t::FLOAT);
}

/// Scale and mask, which forward and backward share.
template <typename Attributes>
void set_mask(Attributes& attributes, const AttentionShape& shape) {
    attributes.set_attn_scale(1.0F / std::sqrt(static_cast<float>(shape.head_dim)))
        .set_diagonal_alignment(fe::DiagonalAlignment_t::TOP_LEFT)
        .set_diagonal_band_right_bound(0);
    // cuDNN keeps key j of query i if j + bound > i: the window includes the query itself.
    if (shape.window > 0 && shape.window < shape.sequence)
        attributes.set_diagonal_band_left_bound(static_cast<int>(shape.window));
}

void set_types(fe::graph::Graph& graph) {
    graph.set_io_data_type(fe::DataType_t::BFLOAT16)
        .set_intermediate_data_type(fe::DataType_t::FLOAT)
        .set_compute_data_type(fe::DataType_t::FLOAT);
}

/// Chooses an engine and compiles it; returns the workspace it needs in bytes.
std::int64_t build(fe::graph::Graph& graph, cudnnHandle_t handle, const AttentionShape& shape) {
    check_graph(graph.validate(), "describe it", shape);
    check_graph(graph.build_operation_graph(handle), "describe it", shape);
    check_graph(graph.create_execution_plans({fe::HeurMode_t::A}), "plan it", shape);
    check_graph(graph.check_support(), "compute it", shape);
    check_graph(graph.build_plans(), "compile it", shape);
    std::int64_t bytes = 0;
    check_graph(graph.get_workspace_size(bytes), "size its workspace", shape);
    return bytes;
}

char* part_of(const Matrix& matrix, std::int64_t first_column) {
    return static_cast<char*>(matrix.data) + first_column * bytes_of(matrix.type);
}

/// Of a sequence: they are (sequences, heads, sequence).
std::int64_t statistics_of(const AttentionShape& shape) { return shape.heads * shape.sequence; }

/// Some key/value heads with their queries.
AttentionShape heads_at_once(const AttentionShape& all) {
    AttentionShape part = all;
    part.kv_heads = key_heads_at_once(all.tokens(), all.heads, all.kv_heads, all.head_dim);
    part.heads = all.heads / all.kv_heads * part.kv_heads;
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

std::int64_t aligned(std::int64_t bytes) { return (bytes + 255) / 256 * 256; }

void copy_columns(cudaStream_t stream, const Matrix& to, std::int64_t first, const Matrix& from,
                  std::int64_t first_from, std::int64_t count) {
    const auto bytes = [](std::int64_t n) { return static_cast<std::size_t>(n * kBf16); };
    SLUICE_CHECK_CUDA(cudaMemcpy2DAsync(
        part_of(to, first), bytes(to.stride), part_of(from, first_from), bytes(from.stride),
        bytes(count), static_cast<std::size_t>(to.rows), cudaMemcpyDeviceToDevice, stream));
}

}  // namespace

CudnnAttention::CudnnAttention(cudaStream_t stream, Scratch scratch, bool deterministic)
    : stream_(stream),
      scratch_(scratch),
      deterministic_(deterministic),
      handle_(std::make_unique<Handle>()) {
    SLUICE_CHECK_CUDNN(cudnnCreate(&handle_->cudnn));
    SLUICE_CHECK_CUDNN(cudnnSetStream(handle_->cudnn, stream));
}

CudnnAttention::~CudnnAttention() = default;

std::size_t CudnnAttention::KeyHash::operator()(const Key& key) const {
    const AttentionShape& shape = key.shape;
    std::size_t hash = 0;
    for (const std::int64_t part : {shape.sequences, shape.sequence, shape.heads, shape.kv_heads,
                                    shape.head_dim, shape.window, key.strides.qkv, key.strides.out,
                                    key.strides.dout, key.strides.dqkv, key.strides.statistics})
        hash = hash * 31 + std::hash<std::int64_t>{}(part);
    return hash;
}

const CudnnAttention::Plan& CudnnAttention::forward_plan(const Key& key) {
    std::unique_ptr<Plan>& plan = forward_plans_[key];
    if (plan) return *plan;
    const AttentionShape& shape = key.shape;
    require_supported(shape);
    auto made = std::make_unique<Plan>();
    set_types(made->graph);
    const Tensor q = add_view(made->graph, kQ, shape, {shape.heads, key.strides.qkv});
    const Tensor k = add_view(made->graph, kK, shape, {shape.kv_heads, key.strides.qkv});
    const Tensor v = add_view(made->graph, kV, shape, {shape.kv_heads, key.strides.qkv});
    auto attributes = fe::graph::SDPA_attributes().set_name("attention").set_generate_stats(true);
    set_mask(attributes, shape);
    const auto [out, statistics] = made->graph.sdpa(q, k, v, attributes);
    set_output(out, kOut, shape, {shape.heads, key.strides.out});
    set_statistics(*statistics, shape, key.strides.statistics);
    statistics->set_output(true);
    made->workspace_bytes = build(made->graph, handle_->cudnn, shape);
    plan = std::move(made);
    return *plan;
}

const CudnnAttention::Plan& CudnnAttention::backward_plan(const Key& key) {
    std::unique_ptr<Plan>& plan = backward_plans_[key];
    if (plan) return *plan;
    const AttentionShape& shape = key.shape;
    const Strides& strides = key.strides;
    require_supported(shape);
    auto made = std::make_unique<Plan>();
    set_types(made->graph);
    const Tensor q = add_view(made->graph, kQ, shape, {shape.heads, strides.qkv});
    const Tensor k = add_view(made->graph, kK, shape, {shape.kv_heads, strides.qkv});
    const Tensor v = add_view(made->graph, kV, shape, {shape.kv_heads, strides.qkv});
    const Tensor out = add_view(made->graph, kOut, shape, {shape.heads, strides.out});
    const Tensor dout = add_view(made->graph, kDout, shape, {shape.heads, strides.dout});
    fe::graph::Tensor_attributes statistics;
    set_statistics(statistics, shape, strides.statistics);
    auto attributes = fe::graph::SDPA_backward_attributes()
                          .set_name("attention_backward")
                          .set_deterministic_algorithm(deterministic_);
    set_mask(attributes, shape);
    const auto [dq, dk, dv] =
        made->graph.sdpa_backward(q, k, v, out, dout, made->graph.tensor(statistics), attributes);
    set_output(dq, kDq, shape, {shape.heads, strides.dqkv});
    set_output(dk, kDk, shape, {shape.kv_heads, strides.dqkv});
    set_output(dv, kDv, shape, {shape.kv_heads, strides.dqkv});
    made->workspace_bytes = build(made->graph, handle_->cudnn, shape);
    plan = std::move(made);
    return *plan;
}

void CudnnAttention::forward(const AttentionShape& shape, Matrix qkv, Matrix out,
                             float* statistics) {
    require_bf16("attention", "qkv", qkv, shape.tokens(), shape.qkv_width());
    require_bf16("attention", "out", out, shape.tokens(), shape.query_width());
    const Plan& plan = forward_plan(
        {shape, {.qkv = qkv.stride, .out = out.stride, .statistics = statistics_of(shape)}});
    require(plan.workspace_bytes <= scratch_.bytes, "attention",
            "scratch that holds cuDNN's workspace");
    std::unordered_map<std::int64_t, void*> data{
        {kQ, qkv.data},
        {kK, part_of(qkv, shape.query_width())},
        {kV, part_of(qkv, shape.query_width() + shape.key_width())},
        {kOut, out.data},
        {kStatistics, statistics}};
    check_graph(plan.graph.execute(handle_->cudnn, data, scratch_.data), "run it", shape);
}

void CudnnAttention::backward(const Backward& call, void* workspace) {
    const AttentionShape& shape = call.shape;
    const char* const operation = "attention_backward";
    require_bf16(operation, "qkv", call.qkv, shape.tokens(), shape.qkv_width());
    require_bf16(operation, "out", call.out, shape.tokens(), shape.query_width());
    require_bf16(operation, "dout", call.dout, shape.tokens(), shape.query_width());
    require_bf16(operation, "dqkv", call.dqkv, shape.tokens(), shape.qkv_width());
    const AttentionShape part = heads_at_once(shape);
    // Parts of gradients come to the end of the workspace, since they may overwrite q, k and v.
    const bool in_parts = part.heads < shape.heads;
    const std::int64_t stride = in_parts ? part.qkv_width() : call.dqkv.stride;
    const Plan& plan = backward_plan(
        {part, {call.qkv.stride, call.out.stride, call.dout.stride, stride, statistics_of(shape)}});
    const Matrix gradients(static_cast<char*>(workspace) + aligned(plan.workspace_bytes),
                           DType::bf16, part.tokens(), part.qkv_width());
    require(plan.workspace_bytes <= workspace_bytes(shape), operation,
            "a workspace that does not depend on the strides");
    // cuDNN takes all as void*, the statistics that it only reads, too.
    auto* const statistics = const_cast<float*>(call.statistics);
    for (std::int64_t head = 0; head < shape.heads; head += part.heads) {
        const Columns from = columns_of(shape, head), to = columns_of(part, 0);
        const Matrix& out = in_parts ? gradients : call.dqkv;
        std::unordered_map<std::int64_t, void*> data{
            {kQ, part_of(call.qkv, from.q)},
            {kK, part_of(call.qkv, from.k)},
            {kV, part_of(call.qkv, from.v)},
            {kOut, part_of(call.out, from.q)},
            {kStatistics, statistics + head * shape.sequence},
            {kDout, part_of(call.dout, from.q)},
            {kDq, part_of(out, to.q)},
            {kDk, part_of(out, to.k)},
            {kDv, part_of(out, to.v)}};
        check_graph(plan.graph.execute(handle_->cudnn, data, workspace), "run it", part);
        if (!in_parts) continue;
        copy_columns(stream_, call.dqkv, from.q, gradients, to.q, part.query_width());
        copy_columns(stream_, call.dqkv, from.k, gradients, to.k, part.key_width());
        copy_columns(stream_, call.dqkv, from.v, gradients, to.v, part.key_width());
    }
}

std::int64_t CudnnAttention::workspace_bytes(const AttentionShape& shape) {
    const std::int64_t qkv = shape.qkv_width(), out = shape.query_width();
    const AttentionShape part = heads_at_once(shape);
    const bool in_parts = part.heads < shape.heads;
    const std::int64_t dqkv = in_parts ? part.qkv_width() : qkv;
    const std::int64_t bytes =
        backward_plan({part, {qkv, out, out, dqkv, statistics_of(shape)}}).workspace_bytes;
    return in_parts ? aligned(bytes) + kBf16 * part.tokens() * part.qkv_width() : bytes;
}

}  // namespace sluice
