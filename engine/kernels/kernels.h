// Which kernels compute a layer? One interface, two implementations: cpu_kernels (libtorch, also
// the reference of the other's tests) and cuda_kernels (cuBLAS, cuDNN and our kernels).
//
// Activations (hidden states, their gradients, logits) have one type throughout: bf16, or fp32 on
// the CPU. Weights are bf16. Gradients of weights are written as bf16, or added into fp32 sums
// (`accumulate`). Products take bf16 or FP8 (cast_fp8). All arithmetic inside a kernel is fp32.
// Calls return at once and run in order on the device's compute lane. Precondition of all: matrices
// of more than 0 elements, columns contiguous.
#pragma once

#include <cstdint>

#include "engine/kernels/documents.h"
#include "engine/kernels/eight_bits.h"
#include "engine/kernels/expert_routes.h"
#include "engine/kernels/fp8.h"
#include "engine/kernels/nf4.h"
#include "engine/kernels/token_rows.h"
#include "engine/optimizer/adamw.h"
#include "sim/base/mixed_bits.h"
#include "sim/specs/model/kernel.h"
#include "sim/specs/model/model_spec.h"

namespace sluice {

/// Shape of attention over one micro-batch. Token t is position t % sequence of sequence t /
/// sequence.
struct AttentionShape {
    std::int64_t sequences = 0;
    std::int64_t sequence = 0;
    std::int64_t heads =
        0;  ///< query heads; head h attends to key/value head h / (heads / kv_heads)
    std::int64_t kv_heads = 0;
    std::int64_t head_dim = 0;  ///< of queries, keys and values
    std::int64_t window = 0;    ///< keys a query sees, itself included; 0: all before it and itself
    std::int64_t tokens() const { return sequences * sequence; }
    std::int64_t query_width() const { return heads * head_dim; }
    std::int64_t key_width() const { return kv_heads * head_dim; }
    std::int64_t qkv_width() const { return query_width() + 2 * key_width(); }
    bool operator==(const AttentionShape&) const = default;
};

/// Rotary position embedding (arXiv 2104.09864), rotate-half form of Llama and Qwen: element i <
/// d/2 of a head pairs with i + d/2 at the angle position / theta^(2i/d), scaled as Llama 3 does
/// where `factor` is not 1.
struct RotaryShape {
    double theta = 10000;
    double factor = 1;  ///< rope_scaling "llama3": factor
    double low_frequency_factor = 1;
    double high_frequency_factor = 4;
    double original_positions = 8192;
};

/// The loss and the square of the gradient's norm so far, summed on the device.
struct StepSums {
    double loss = 0;
    double norm_square = 0;
    /// The square of a larger gradient is infinite in fp32, and so is the second moment.
    constexpr bool finite() const { return loss - loss == 0 && norm_square < 1e38; }
};

/// AdamW on a block of parameters in device memory, with its gradient there.
struct BlockUpdate {
    UpdatePass pass = UpdatePass::update;
    AdamWStep step;
    ParameterBlock block;
    std::span<const DecayRange> decay;  ///< in the form that adamw() takes
    GradientRange gradient;             ///< (count); none to rewind
    const StepSums* sums = nullptr;     ///< on the device; if they are not finite, nothing is done
};

/// SwiGLU's backward pass writes these in FP8: the gradient of gate and up as it is and transposed
/// in e5m2, the product transposed in e4m3, and a scale for each of both tensors.
struct SwigluCodes {
    Matrix gradient, gradient_columns, product_columns;
    Fp8Scale *gradient_scale = nullptr, *product_scale = nullptr;
};

/// Leaves out numbers of a matrix in training, and scales the others up; by default none.
struct Dropout {
    std::int64_t percent = 0;
    std::uint64_t seed = 0;      ///< of the whole matrix
    std::int64_t first_row = 0;  ///< of the part that is at hand, in the whole
    bool present() const { return percent > 0; }
    /// By what numbers that stay are multiplied.
    float factor() const { return 100.0F / static_cast<float>(100 - percent); }
    /// 32 random bits are below it where a number is left out.
    std::uint32_t threshold() const {
        return static_cast<std::uint32_t>((std::uint64_t{1} << 32) / 100 *
                                          static_cast<std::uint64_t>(percent));
    }
};
/// The bits of the number at `index` of the whole matrix, in the order of rows.
constexpr std::uint32_t dropout_bits(std::uint64_t seed, std::uint64_t index) {
    return static_cast<std::uint32_t>(mixed_bits(seed ^ mixed_bits(index)) >> 32);
}

enum class Transpose : std::uint8_t { no, yes };

/// Products alone, which some devices compute without any other kernel.
class Products {
  public:
    virtual ~Products() = default;

    /// d = alpha op(a) op(b) [+ addend] [+ bias on every row], or d += op(a) op(b) if `accumulate`
    /// (d fp32). op(a) is (d.rows, k), op(b) is (k, d.columns). addend has d's shape and type and
    /// is another matrix than d, or d; bias has d.columns elements. Used for: y = x W^T + b; dx =
    /// dy W; dW = dy^T x. In FP8 both a and b have their scales, the product is a b^T (no other
    /// form has a kernel on Hopper), and on the GPU sizes are multiples of 16.
    struct Product {
        Matrix d, a, b;
        Transpose transpose_a = Transpose::no, transpose_b = Transpose::no;
        Matrix addend = {};
        Vector bias = {};
        bool accumulate = false;
        float alpha = 1;
        const Fp8Scale *scale_a = nullptr, *scale_b = nullptr;  ///< on the device
    };
    virtual void gemm(const Product& product) = 0;
};

class Kernels : public Products {
  public:
    /// y = x / sqrt(mean(x^2) + epsilon) * weight, row by row (arXiv 1910.07467). `scale`: see
    /// Fp8Cast::measured.
    virtual void rms_norm(Matrix y, Matrix x, Vector weight, float epsilon,
                          Fp8Scale* scale = nullptr) = 0;
    /// Given dy and x: dx = (add_to_dx ? dx : 0) + gradient with respect to x; dweight = sum over
    /// rows of dy x / rms, added if dweight is fp32 and `accumulate`; it may be absent, here and
    /// below. dx may be x or dy.
    virtual void rms_norm_backward(Matrix dx, bool add_to_dx, Matrix dy, Matrix x, Vector weight,
                                   float epsilon, Vector dweight, bool accumulate) = 0;

    /// Norms each head of q and k of `qkv` (tokens, qkv_width) in place; weights have head_dim
    /// elements. If `unnormed` (tokens, query_width + key_width) is present, the former q and k are
    /// stored there first.
    virtual void head_norm(const AttentionShape& shape, Matrix qkv, Vector query_weight,
                           Vector key_weight, float epsilon, Matrix unnormed) = 0;
    /// Overwrites the q and k parts of dqkv by the gradients with respect to `unnormed`; weight
    /// gradients as in rms_norm_backward.
    virtual void head_norm_backward(const AttentionShape& shape, Matrix dqkv, Matrix unnormed,
                                    Vector query_weight, Vector key_weight, float epsilon,
                                    Vector dquery_weight, Vector dkey_weight, bool accumulate) = 0;
    /// Rotates q and k of `qkv` in place; `backward` rotates gradients back.
    virtual void rotary(const AttentionShape& shape, const RotaryShape& rotary, Matrix qkv,
                        bool backward) = 0;

    /// Causal attention softmax(q k^T / sqrt(head_dim)) v. out (tokens, query_width); statistics
    /// (heads x tokens) fp32: log-sum-exp of each query's scores, in the order that the
    /// implementation's backward reads, which gets the same documents.
    virtual void attention(const AttentionShape& shape, Matrix qkv, Matrix out, float* statistics,
                           Documents documents = {}) = 0;
    /// dqkv (tokens, qkv_width), every element written. It may be qkv where attention_in_parts().
    /// `workspace` has attention_workspace_bytes().
    virtual void attention_backward(const AttentionShape& shape, Matrix qkv, Matrix out,
                                    const float* statistics, Matrix dout, Matrix dqkv,
                                    void* workspace, Documents documents = {}) = 0;
    virtual std::int64_t attention_workspace_bytes(const AttentionShape& shape,
                                                   Documents documents = {}) = 0;

    /// product = silu(gate) * up, with gate_up (tokens, 2 x width): gate in the first half of a
    /// row, up in the second. `scale`: see Fp8Cast::measured. `codes`, if present, get gate_up.
    virtual void swiglu(Matrix product, Matrix gate_up, Fp8Scale* scale = nullptr,
                        EightBits codes = {}) = 0;
    /// Overwrites gate_up by its gradient and the gradient of the product, `dproduct`, by the
    /// product: backward needs it after its gradient, and so reads gate and up only once. If
    /// `codes` are present, gate and up are read from these. `scale`, of the gradient of gate and
    /// up: see Fp8Cast::measured.
    virtual void swiglu_backward(Matrix gate_up, Matrix dproduct, EightBits codes = {},
                                 Fp8Scale* scale = nullptr) = 0;
    /// The codes that casts of these results would give, to the bit. The contents of gate_up and
    /// dproduct are not defined afterwards.
    virtual void swiglu_backward_fp8(Matrix gate_up, Matrix dproduct, const SwigluCodes& out,
                                     EightBits codes = {}) = 0;

    /// Chooses the experts of each row of logits (tokens, experts) fp32: those with the largest, of
    /// equal ones the first. Adds the rows of the busiest expert over the mean to *busiest, on the
    /// device, unless that is null.
    virtual void route(const ExpertRoutes& out, Matrix logits, RouteWeights weights,
                       double* busiest) = 0;
    /// Given the gradients of weights (tokens, of_token) fp32: dlogits (tokens, experts), in the
    /// type of activations or fp32.
    virtual void route_backward(Matrix dlogits, Matrix logits, const ExpertRoutes& routes,
                                const float* dweights, RouteWeights weights) = 0;
    /// Row r of `copies` = the row of `in` (tokens, columns) of that copy's token.
    virtual void copy_to_experts(Matrix copies, Matrix in, const ExpertRoutes& routes) = 0;
    /// Each token's row of y = [addend +] the sum of its copies. addend may be absent, or y.
    virtual void sum_of_experts(Matrix y, Matrix addend, Matrix copies,
                                const ExpertRoutes& routes) = 0;
    /// One product an expert, with its rows: y = x W^T, dx = dy W or dW = dy^T x, as `role` says,
    /// for d, a and b in this order. Rows are copies of tokens; W has the rows of one expert after
    /// another. dW is 0 for an expert without rows.
    struct ExpertProducts {
        GemmRole role = GemmRole::forward;
        Matrix d, a, b;
        /// weight_gradient with fp32 d: added to d, or else written.
        bool accumulate = false;
        /// weight_gradient with fp32 d: memory of as many bf16, for what is then added.
        void* rounded = nullptr;
    };
    virtual void expert_products(const ExpertProducts& products, const ExpertRoutes& routes) = 0;
    /// As swiglu() for copies of tokens, times the weight of each.
    virtual void expert_swiglu(Matrix product, Matrix gate_up, const ExpertRoutes& routes,
                               EightBits codes = {}) = 0;
    /// As swiglu_backward() for copies of tokens; `dproduct` is overwritten by the product times
    /// the weight, and `dweights` (tokens, of_token) fp32 by the gradients of weights.
    virtual void expert_swiglu_backward(Matrix gate_up, Matrix dproduct, const ExpertRoutes& routes,
                                        float* dweights, EightBits codes = {}) = 0;

    /// dbias = sum of the rows of dy; added if dbias is fp32 and `accumulate`.
    virtual void bias_backward(Vector dbias, Matrix dy, bool accumulate) = 0;

    /// Cross-entropy of each row against targets (rows) int32 on the device. Adds scale x its sum
    /// to *loss (fp32 or wider, on the device; see new_loss) and overwrites logits by scale x
    /// (softmax - onehot). A negative target is ignored: its row becomes 0.
    virtual void cross_entropy(Matrix logits, const std::int32_t* targets, float scale,
                               double* loss) = 0;

    /// Row tokens[i] of a table (rows, out.columns) bf16 as row i of `out`.
    virtual void gather_rows(Matrix out, const std::uint16_t* table,
                             const std::int32_t* tokens) = 0;
    /// Overwrites the rows in use of `sums` (table's rows, gradients.columns) fp32 by the sums of
    /// their tokens' gradients, as sum_row() does, to the bit, and adds what it returns to
    /// *norm_square. `head_gradient` as `sums`, in bf16, or null. Pointers of `rows` are the
    /// device's.
    virtual void sum_rows(float* sums, Matrix gradients, const TokenRows& rows,
                          const std::uint16_t* head_gradient, double* norm_square) = 0;

    /// Adds the sum of squares of `values` to *sum (on the device). Deterministic.
    virtual void sum_squares(Vector values, double* sum) = 0;
    /// bf16 out = fp32 in, rounded to nearest.
    virtual void round_to_bf16(Vector out, Vector in) = 0;
    /// The same as adamw(), to the bit. Tensors of the block begin at multiples of 8 elements.
    virtual void adamw(const BlockUpdate& update) = 0;
    /// Codes of `in` in the type of the outputs, as it is and transposed, either of them absent,
    /// and *scale for the whole tensor. One scale serves both orders, and with it the products that
    /// sum over columns and over rows; a scale a row would serve the first alone.
    struct Fp8Cast {
        Matrix in, out, transposed;
        Fp8Scale* scale = nullptr;  ///< on the device
        /// scale->largest is that of `in` already: the kernel that wrote `in` was given the scale.
        bool measured = false;
    };
    virtual void cast_fp8(const Fp8Cast& cast) = 0;
    /// out (in.columns, in.rows) = in, of codes of one type. Rows are whole; on the GPU sizes are
    /// multiples of 16.
    virtual void transpose_codes(Matrix out, Matrix in) = 0;
    /// The tensor's numbers in bf16, as decode_nf4() of nf4.h has them, to the bit. Rows are whole.
    virtual void decode_nf4(Matrix out, const Nf4Tensor& in) = 0;
    /// out = in, without the numbers that it leaves out; out may be in.
    virtual void dropout(Matrix out, Matrix in, const Dropout& dropout) = 0;
    virtual void fill_zero(void* data, std::int64_t bytes) = 0;
};

}  // namespace sluice
