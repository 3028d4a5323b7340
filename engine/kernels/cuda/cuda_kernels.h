// Which kernels compute a layer on an NVIDIA GPU? cuBLASLt for products, cuDNN for attention, our
// kernels for the rest.
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "engine/kernels/kernels.h"

namespace sluice {

class CublasGemm;
class CudnnAttention;

/// Device memory that every call may use and none keeps: cuBLASLt's workspace, partial sums. One is
/// enough, since calls run one after another. Aligned to 256 bytes.
struct Scratch {
    void* data = nullptr;
    std::int64_t bytes = 0;
};

/// The workspace that cuBLASLt's documentation advises on Hopper; no sum needs more.
inline constexpr std::int64_t kCudaScratchBytes = std::int64_t{32} << 20;

/// Activations are bf16. Rows are read 16 bytes at a time if data and stride allow it (multiples of
/// 16 bytes), else element by element. Results are the same from run to run on one kind of GPU,
/// those of attention_backward on Hopper where attention_repeats(). Everything runs on one stream,
/// from one thread at a time. Throws InputError for models that cuDNN cannot compute, InternalError
/// for matrices whose shapes do not match, CudaError.
class CudaKernels final : public Kernels {
  public:
    struct Options {
        /// attention_backward's results, too, with a workspace that no plan counts
        /// (cudnn-frontend 1.18.0, cuDNN 9.19).
        bool attention_repeats = false;
    };
    /// Neither `stream` nor `scratch` is owned.
    CudaKernels(cudaStream_t stream, Scratch scratch, Options options);
    CudaKernels(cudaStream_t stream, Scratch scratch);
    ~CudaKernels() override;

    void gemm(const Product& product) override;
    void rms_norm(Matrix y, Matrix x, Vector weight, float epsilon,
                  Fp8Scale* scale = nullptr) override;
    void rms_norm_backward(Matrix dx, bool add_to_dx, Matrix dy, Matrix x, Vector weight,
                           float epsilon, Vector dweight, bool accumulate) override;
    void head_norm(const AttentionShape& shape, Matrix qkv, Vector query_weight, Vector key_weight,
                   float epsilon, Matrix unnormed) override;
    void head_norm_backward(const AttentionShape& shape, Matrix dqkv, Matrix unnormed,
                            Vector query_weight, Vector key_weight, float epsilon,
                            Vector dquery_weight, Vector dkey_weight, bool accumulate) override;
    void rotary(const AttentionShape& shape, const RotaryShape& rotary, Matrix qkv,
                bool backward) override;
    /// statistics: (sequences, heads, sequence), with documents (tokens, heads). The first call
    /// with a shape, and with twice as many documents or twice as long ones, builds its plan.
    void attention(const AttentionShape& shape, Matrix qkv, Matrix out, float* statistics,
                   Documents documents = {}) override;
    void attention_backward(const AttentionShape& shape, Matrix qkv, Matrix out,
                            const float* statistics, Matrix dout, Matrix dqkv, void* workspace,
                            Documents documents = {}) override;
    std::int64_t attention_workspace_bytes(const AttentionShape& shape,
                                           Documents documents = {}) override;
    void swiglu(Matrix product, Matrix gate_up, Fp8Scale* scale = nullptr,
                EightBits codes = {}) override;
    void swiglu_backward(Matrix gate_up, Matrix dproduct, EightBits codes = {},
                         Fp8Scale* scale = nullptr) override;
    /// Leaves gate_up and dproduct as they are.
    void swiglu_backward_fp8(Matrix gate_up, Matrix dproduct, const SwigluCodes& out,
                             EightBits codes = {}) override;
    /// At most 512 experts, and 32 of a token.
    void route(const ExpertRoutes& out, Matrix logits, RouteWeights weights,
               double* busiest) override;
    void route_backward(Matrix dlogits, Matrix logits, const ExpertRoutes& routes,
                        const float* dweights, RouteWeights weights) override;
    void copy_to_experts(Matrix copies, Matrix in, const ExpertRoutes& routes) override;
    void sum_of_experts(Matrix y, Matrix addend, Matrix copies,
                        const ExpertRoutes& routes) override;
    /// By libtorch, which allocates some MB for sizes and addresses. On Hopper and later.
    void expert_products(const ExpertProducts& products, const ExpertRoutes& routes) override;
    void expert_swiglu(Matrix product, Matrix gate_up, const ExpertRoutes& routes,
                       EightBits codes = {}) override;
    void expert_swiglu_backward(Matrix gate_up, Matrix dproduct, const ExpertRoutes& routes,
                                float* dweights, EightBits codes = {}) override;
    void bias_backward(Vector dbias, Matrix dy, bool accumulate) override;
    /// A target beyond the vocabulary makes the loss and its row NaN.
    void cross_entropy(Matrix logits, const std::int32_t* targets, float scale,
                       double* loss) override;
    void gather_rows(Matrix out, const std::uint16_t* table, const std::int32_t* tokens) override;
    /// The squares of the norm are added in another order than sum_row() adds them.
    void sum_rows(float* sums, Matrix gradients, const TokenRows& rows,
                  const std::uint16_t* head_gradient, double* norm_square) override;
    void sum_squares(Vector values, double* sum) override;
    void round_to_bf16(Vector out, Vector in) override;
    void adamw(const BlockUpdate& update) override;
    void cast_fp8(const Fp8Cast& cast) override;
    void transpose_codes(Matrix out, Matrix in) override;
    void dropout(Matrix out, Matrix in, const Dropout& dropout) override;
    void decode_nf4(Matrix out, const Nf4Tensor& in) override;
    void fill_zero(void* data, std::int64_t bytes) override;

  private:
    cudaStream_t stream_;
    Scratch scratch_;
    int compute_capability_ = 0;  ///< 90 is 9.0
    int multiprocessors_ = 0;
    int shared_bytes_per_block_ = 0;  ///< most a block may ask for
    bool has_nf4_tables_ = false;     ///< on the device
    std::unique_ptr<CublasGemm> gemm_;
    std::unique_ptr<CudnnAttention> attention_;
};

}  // namespace sluice
