// Attention and its gradients against softmax(q k^T / sqrt(d)) v in fp64, query by query.
#pragma once

#include <cmath>
#include <optional>

#include "tests/engine/cuda_kernels/heads_case.h"
#include "tests/engine/cuda_kernels/op_case.h"

namespace sluice {

/// The limit for the errors of bf16 within cuDNN: probabilities and dS are rounded to bf16
/// before the products with v, q and k, so single elements near 0 have no small relative error.
/// Share of the tighter of two limits: rms(actual - expected) <= 0.01 rms(expected) + 1e-4 and
/// |actual - expected| <= 0.03 max|expected| + 1e-3. Infinite where an element is NaN.
double attention_share(const std::vector<double>& actual, const std::vector<double>& expected);

/// Attention of one query head, as views of host copies of the matrices.
struct HostAttention {
    AttentionShape shape;
    std::vector<double> qkv;
    std::vector<std::int32_t> documents;  ///< their first tokens; empty: each sequence is one

    const double* query(std::int64_t token, std::int64_t head) const {
        return &qkv[index(token, head * shape.head_dim)];
    }
    const double* key(std::int64_t token, std::int64_t head) const {
        return &qkv[key_index(token, head)];
    }
    const double* value(std::int64_t token, std::int64_t head) const {
        return &qkv[value_index(token, head)];
    }
    std::size_t index(std::int64_t token, std::int64_t column) const {
        return static_cast<std::size_t>(token * shape.qkv_width() + column);
    }
    /// The key that query head `head` attends to.
    std::size_t key_index(std::int64_t token, std::int64_t head) const {
        const std::int64_t kv_head = head / (shape.heads / shape.kv_heads);
        return index(token, shape.query_width() + kv_head * shape.head_dim);
    }
    std::size_t value_index(std::int64_t token, std::int64_t head) const {
        return key_index(token, head) + static_cast<std::size_t>(shape.key_width());
    }
    std::int64_t first_key(std::int64_t token) const;
    /// Probabilities of keys first_key(token) ... token; `log_sum` is set to the log-sum-exp of the
    /// scores.
    std::vector<double> probabilities(std::int64_t token, std::int64_t head, double& log_sum) const;
    /// (tokens, query_width); statistics (sequences, heads, sequence), of documents (tokens,
    /// heads).
    std::vector<double> forward(std::vector<double>& statistics) const;
    /// (tokens, qkv_width).
    std::vector<double> backward(const std::vector<double>& dout) const;
};

/// Two products over the scores that the mask leaves.
double attention_flops(const AttentionShape& shape);

/// First tokens of documents on the device.
class DeviceDocuments {
  public:
    DeviceDocuments(std::vector<std::int32_t> begins, std::int64_t tokens)
        : DeviceDocuments(with_end(std::move(begins), tokens)) {}
    Documents view() const { return {begins_.data(), count_, longest_}; }

  private:
    static std::vector<std::int32_t> with_end(std::vector<std::int32_t> begins,
                                              std::int64_t tokens) {
        begins.push_back(static_cast<std::int32_t>(tokens));
        return begins;
    }
    explicit DeviceDocuments(const std::vector<std::int32_t>& all)
        : count_(std::ssize(all) - 1), longest_(longest_document(all)), begins_(all) {}

    std::int64_t count_, longest_;
    DeviceArray<std::int32_t> begins_;
};

struct AttentionCase {
    static constexpr const char* kName = "attention";

    struct Shape {
        AttentionShape attention;
        Layout layout = {};
        std::vector<std::int32_t> documents = {};  ///< their first tokens
        std::string text() const {
            return fmt::format("{}, padding {}, {} documents", text_of(attention), layout.padding,
                               documents.size());
        }
    };

    explicit AttentionCase(Shape shape_)
        : shape(shape_),
          qkv(shape.attention.tokens(), shape.attention.qkv_width(), DType::bf16, shape.layout),
          out(shape.attention.tokens(), shape.attention.query_width(), DType::bf16, shape.layout),
          statistics(1, shape.attention.heads * shape.attention.tokens(), DType::fp32),
          documents(shape.documents, shape.attention.tokens()) {
        qkv.fill_random(1, {-2, 2});
    }
    void run(CudaKernels& kernels) {
        kernels.attention(shape.attention, qkv.view(), out.view(),
                          static_cast<float*>(statistics.view().data), documents.view());
    }
    double check(CudaKernels& kernels) {
        std::vector<double> expected_statistics;
        const auto expected = HostAttention{shape.attention, qkv.read(), shape.documents}.forward(
            expected_statistics);
        run(kernels);
        return std::max({attention_share(out.read(), expected),
                         share_of({1e-3, 1e-4}, statistics.read(), expected_statistics),
                         share_of_surroundings({&qkv, &out, &statistics})});
    }
    double bytes() const {
        return 2.0 *
               static_cast<double>(shape.attention.tokens() *
                                   (shape.attention.qkv_width() + shape.attention.query_width()));
    }
    double flops() const { return attention_flops(shape.attention); }

  private:
    Shape shape;
    DeviceMatrix qkv, out, statistics;
    DeviceDocuments documents;
};

struct AttentionBackwardCase {
    static constexpr const char* kName = "attention_backward";
    using Shape = AttentionCase::Shape;

    explicit AttentionBackwardCase(Shape shape_)
        : shape(shape_),
          qkv(shape.attention.tokens(), shape.attention.qkv_width(), DType::bf16, shape.layout),
          out(shape.attention.tokens(), shape.attention.query_width(), DType::bf16, shape.layout),
          dout(shape.attention.tokens(), shape.attention.query_width(), DType::bf16, shape.layout),
          dqkv(shape.attention.tokens(), shape.attention.qkv_width(), DType::bf16, shape.layout),
          statistics(1, shape.attention.heads * shape.attention.tokens(), DType::fp32),
          documents(shape.documents, shape.attention.tokens()) {
        qkv.fill_random(1, {-2, 2});
        dout.fill_random(2);
    }
    /// The forward pass makes `out` and the statistics.
    void prepare(CudaKernels& kernels) {
        kernels.attention(shape.attention, qkv.view(), out.view(),
                          static_cast<float*>(statistics.view().data), documents.view());
        const std::int64_t bytes =
            kernels.attention_workspace_bytes(shape.attention, documents.view());
        workspace.emplace(1, std::max<std::int64_t>(bytes / 4 + 1, 1), DType::fp32);
    }
    void run(CudaKernels& kernels) {
        if (!workspace) prepare(kernels);
        kernels.attention_backward(shape.attention, qkv.view(), out.view(),
                                   static_cast<float*>(statistics.view().data), dout.view(),
                                   dqkv.view(), workspace->view().data, documents.view());
    }
    double check(CudaKernels& kernels) {
        const HostAttention host{shape.attention, qkv.read(), shape.documents};
        run(kernels);
        return std::max(share_of_parts(dqkv.read(), host.backward(dout.read())),
                        share_of_surroundings({&dqkv, &*workspace}));
    }
    double bytes() const {
        return 4.0 *
               static_cast<double>(shape.attention.tokens() *
                                   (shape.attention.qkv_width() + shape.attention.query_width()));
    }
    /// Five products, two of which repeat those of the forward pass.
    double flops() const { return 2.5 * attention_flops(shape.attention); }
    std::vector<double> read_dqkv() const { return dqkv.read(); }

  private:
    /// The largest share of dq, dk and dv, whose sizes differ.
    double share_of_parts(const std::vector<double>& actual,
                          const std::vector<double>& expected) const;

    Shape shape;
    DeviceMatrix qkv, out, dout, dqkv, statistics;
    DeviceDocuments documents;
    std::optional<DeviceMatrix> workspace;
};

}  // namespace sluice
