#include "engine/kernels/cuda/attention_graph.h"

#include <cudnn_frontend.h>
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "engine/kernels/cuda/cuda_check.h"
#include "sim/base/input_error.h"

namespace sluice {

namespace fe = cudnn_frontend;
using Tensor = std::shared_ptr<fe::graph::Tensor_attributes>;

struct AttentionGraph::Graph {
    fe::graph::Graph graph;
};

namespace {

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
void require_supported(const AttentionGraphKey& key) {
    const std::int64_t head_dim = key.shape.head_dim;
    if (head_dim % 8 != 0 || head_dim > 256) {
        throw InputError(fmt::format(
            "model: head_dim is {}, expected a multiple of 8 up to 256 for attention on the GPU; "
            "choose another model",
            head_dim));
    }
    // Else cuDNN's workspace grows with documents x the longest.
    if (key.documents > 0 && head_dim % 16 != 0) {
        throw InputError(fmt::format(
            "model: head_dim is {}, expected a multiple of 16 for attention within documents on "
            "the GPU; choose another model or --attend-within sequence",
            head_dim));
    }
    if (key.shape.sequence < 2) {
        throw InputError(
            "training: sequence is 1, expected 2 or more for attention on the GPU; use longer "
            "sequences");
    }
}

/// The tensors of one graph.
class Tensors {
  public:
    explicit Tensors(const AttentionGraphKey& key) : key_(key) {
        graph()
            .set_io_data_type(fe::DataType_t::BFLOAT16)
            .set_intermediate_data_type(fe::DataType_t::FLOAT)
            .set_compute_data_type(fe::DataType_t::FLOAT);
        if (key.documents > 0)
            lengths_ = graph().tensor(
                of_documents(kDocumentLengths, key.documents).set_data_type(fe::DataType_t::INT32));
    }

    fe::graph::Graph& graph() { return made_->graph; }
    std::unique_ptr<AttentionGraph::Graph> take() { return std::move(made_); }

    /// The heads of q, k or v within a matrix of tokens x `stride`.
    Tensor input(AttentionTensor id, std::int64_t heads, std::int64_t stride,
                 AttentionTensor begins) {
        fe::graph::Tensor_attributes attributes;
        describe(attributes, id, heads, stride, begins);
        return graph().tensor(attributes);
    }
    std::array<Tensor, 3> queries_keys_values() {
        const AttentionShape& shape = key_.shape;
        const AttentionStrides& strides = key_.strides;
        return {input(kQ, shape.heads, strides.q, kQueryBegins),
                input(kK, shape.kv_heads, strides.kv, kKeyBegins),
                input(kV, shape.kv_heads, strides.kv, kKeyBegins)};
    }
    void output(const Tensor& tensor, AttentionTensor id, std::int64_t heads, std::int64_t stride,
                AttentionTensor begins) {
        describe(*tensor, id, heads, stride, begins);
        tensor->set_output(true);
    }
    /// (sequences, heads, sequence), or of documents (tokens, heads).
    void statistics(fe::graph::Tensor_attributes& tensor) {
        const AttentionShape& shape = key_.shape;
        const std::int64_t stride = key_.strides.statistics;
        tensor.set_uid(kStatistics)
            .set_dim({batch(), shape.heads, longest(), 1})
            .set_data_type(fe::DataType_t::FLOAT);
        if (key_.documents == 0) {
            tensor.set_stride({stride, shape.sequence, 1, 1});
        } else {
            tensor.set_stride({longest() * stride, 1, stride, 1})
                .set_ragged_offset(begins_of(kStatisticsBegins));
        }
    }

    /// Scale and mask, which forward and backward share.
    template <typename Attributes>
    void mask(Attributes& attributes) {
        const AttentionShape& shape = key_.shape;
        attributes.set_attn_scale(1.0F / std::sqrt(static_cast<float>(shape.head_dim)))
            .set_diagonal_alignment(fe::DiagonalAlignment_t::TOP_LEFT)
            .set_diagonal_band_right_bound(0);
        // cuDNN keeps key j of query i if j + bound > i: the window includes the query itself.
        if (shape.window > 0 && shape.window < longest())
            attributes.set_diagonal_band_left_bound(static_cast<int>(shape.window));
        if (lengths_)
            attributes.set_padding_mask(true).set_seq_len_q(lengths_).set_seq_len_kv(lengths_);
    }

  private:
    std::int64_t batch() const {
        return key_.documents > 0 ? key_.documents : key_.shape.sequences;
    }
    /// cuDNN starts blocks for each document as if it were the longest, even for one of 18 tokens.
    std::int64_t longest() const { return key_.documents > 0 ? key_.longest : key_.shape.sequence; }

    static fe::graph::Tensor_attributes of_documents(AttentionTensor id, std::int64_t count) {
        return fe::graph::Tensor_attributes()
            .set_uid(id)
            .set_dim({count, 1, 1, 1})
            .set_stride({1, 1, 1, 1});
    }

    Tensor begins_of(AttentionTensor id) {
        Tensor& begins = begins_[id];
        if (!begins)
            begins = graph().tensor(
                of_documents(id, key_.documents + 1).set_data_type(fe::DataType_t::INT64));
        return begins;
    }

    void describe(fe::graph::Tensor_attributes& tensor, AttentionTensor id, std::int64_t heads,
                  std::int64_t stride, AttentionTensor begins) {
        const std::int64_t head_dim = key_.shape.head_dim;
        tensor.set_uid(id)
            .set_dim({batch(), heads, longest(), head_dim})
            .set_stride({longest() * stride, head_dim, stride, 1});
        if (key_.documents > 0) tensor.set_ragged_offset(begins_of(begins));
    }

    const AttentionGraphKey& key_;
    std::unique_ptr<AttentionGraph::Graph> made_ = std::make_unique<AttentionGraph::Graph>();
    Tensor lengths_;
    std::unordered_map<std::int64_t, Tensor> begins_;
};

}  // namespace

AttentionGraph::AttentionGraph(cudnnHandle_t handle, const AttentionShape& shape,
                               std::unique_ptr<Graph> made)
    : shape_(shape), graph_(std::move(made)) {
    fe::graph::Graph& graph = graph_->graph;
    check_graph(graph.validate(), "describe it", shape);
    check_graph(graph.build_operation_graph(handle), "describe it", shape);
    check_graph(graph.create_execution_plans({fe::HeurMode_t::A}), "plan it", shape);
    check_graph(graph.check_support(), "compute it", shape);
    check_graph(graph.build_plans(), "compile it", shape);
    check_graph(graph.get_workspace_size(workspace_bytes_), "size its workspace", shape);
}

AttentionGraph::~AttentionGraph() = default;

void AttentionGraph::run(cudnnHandle_t handle, std::unordered_map<std::int64_t, void*> data,
                         void* workspace) const {
    check_graph(graph_->graph.execute(handle, data, workspace), "run it", shape_);
}

std::unique_ptr<AttentionGraph> AttentionGraph::forward(cudnnHandle_t handle,
                                                        const AttentionGraphKey& key) {
    require_supported(key);
    const AttentionShape& shape = key.shape;
    const AttentionStrides& strides = key.strides;
    Tensors tensors(key);
    const auto [q, k, v] = tensors.queries_keys_values();
    auto attributes = fe::graph::SDPA_attributes().set_name("attention").set_generate_stats(true);
    tensors.mask(attributes);
    const auto [out, statistics] = tensors.graph().sdpa(q, k, v, attributes);
    tensors.output(out, kOut, shape.heads, strides.out, kOutBegins);
    tensors.statistics(*statistics);
    statistics->set_output(true);
    return std::unique_ptr<AttentionGraph>(new AttentionGraph(handle, shape, tensors.take()));
}

std::unique_ptr<AttentionGraph> AttentionGraph::backward(cudnnHandle_t handle,
                                                         const AttentionGraphKey& key,
                                                         bool deterministic) {
    require_supported(key);
    const AttentionShape& shape = key.shape;
    const AttentionStrides& strides = key.strides;
    Tensors tensors(key);
    const auto [q, k, v] = tensors.queries_keys_values();
    const Tensor out = tensors.input(kOut, shape.heads, strides.out, kOutBegins);
    const Tensor dout = tensors.input(kDout, shape.heads, strides.dout, kOutBegins);
    fe::graph::Tensor_attributes statistics;
    tensors.statistics(statistics);
    auto attributes = fe::graph::SDPA_backward_attributes()
                          .set_name("attention_backward")
                          .set_deterministic_algorithm(deterministic);
    tensors.mask(attributes);
    if (key.documents > 0)
        attributes.set_max_total_seq_len_q(shape.tokens()).set_max_total_seq_len_kv(shape.tokens());
    const auto [dq, dk, dv] = tensors.graph().sdpa_backward(
        q, k, v, out, dout, tensors.graph().tensor(statistics), attributes);
    tensors.output(dq, kDq, shape.heads, strides.dq, kQueryBegins);
    tensors.output(dk, kDk, shape.kv_heads, strides.dkv, kKeyBegins);
    tensors.output(dv, kDv, shape.kv_heads, strides.dkv, kKeyBegins);
    return std::unique_ptr<AttentionGraph>(new AttentionGraph(handle, shape, tensors.take()));
}

}  // namespace sluice
