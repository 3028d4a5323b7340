#include "engine/kernels/cpu_kernels.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "engine/kernels/cpu_attention.h"
#include "engine/kernels/cpu_tensors.h"
#include "engine/kernels/rotary_frequencies.h"

namespace sluice {
namespace {

using at::Tensor;
using cpu::fp32;
using cpu::require;
using cpu::store;
using cpu::store_or_add;
using cpu::view;
using cpu::view_heads;

/// Elements converted at once where a kernel goes through its input in pieces.
constexpr std::int64_t kPieceElements = std::int64_t{1} << 20;

/// What every call of a kernel needs of libtorch: no autograd, and our number of threads, which
/// libtorch keeps for each calling thread.
class Call {
  public:
    explicit Call(int threads) {
        if (at::get_num_threads() != threads) at::set_num_threads(threads);
    }

  private:
    c10::InferenceMode no_autograd_;
};

/// 1 / sqrt(mean(x^2) + epsilon) over the last dimension, which stays as 1.
Tensor inverse_rms(const Tensor& x, float epsilon) {
    return x.square().mean(-1, true).add_(epsilon).rsqrt_();
}

Tensor norm(const Tensor& x, const Tensor& weight, float epsilon) {
    return (x * inverse_rms(x, epsilon)).mul_(weight);
}

struct NormGradients {
    Tensor dx, dweight;
};

/// With n = x / rms and g = dy weight: dx = (g - n mean(g n)) / rms, dweight = sum of dy n.
NormGradients norm_backward(const Tensor& dy, const Tensor& x, const Tensor& weight,
                            float epsilon) {
    const Tensor inverse = inverse_rms(x, epsilon);
    const Tensor normed = x * inverse;
    const Tensor dweight = (dy * normed).reshape({-1, x.size(-1)}).sum(0);
    const Tensor g = dy * weight;
    const Tensor mean = (g * normed).mean(-1, true);
    return {(g - normed.mul(mean)).mul_(inverse), dweight};
}

/// Angle of one position for each pair of elements (head_dim / 2), fp32.
Tensor rotary_frequencies(const RotaryShape& rotary, std::int64_t head_dim) {
    const Tensor frequencies = at::empty({head_dim / 2}, at::kFloat);
    auto* const values = frequencies.data_ptr<float>();
    for (std::int64_t pair = 0; pair < head_dim / 2; ++pair)
        values[pair] = rotary_frequency(rotary, head_dim, pair);
    return frequencies;
}

void require_heads(const char* kernel, const AttentionShape& shape, const Matrix& qkv) {
    require(qkv.rows == shape.tokens() && qkv.columns == shape.qkv_width(), kernel,
            "qkv of (tokens, qkv_width)");
}

class CpuKernels : public Kernels {
  public:
    explicit CpuKernels(int threads) : threads_(threads) {}

    void gemm(const Product& product) override {
        const Call call(threads_);
        Tensor a = fp32(view(product.a)), b = fp32(view(product.b));
        if (product.transpose_a == Transpose::yes) a = a.t();
        if (product.transpose_b == Transpose::yes) b = b.t();
        const Matrix& d = product.d;
        if (a.size(0) != d.rows || a.size(1) != b.size(0) || b.size(1) != d.columns) {
            throw InternalError(fmt::format("gemm: ({}, {}) x ({}, {}) does not give ({}, {})",
                                            a.size(0), a.size(1), b.size(0), b.size(1), d.rows,
                                            d.columns));
        }
        require(!product.accumulate || d.type == DType::fp32, "gemm", "fp32 sums to accumulate in");
        Tensor result = at::mm(a, b);
        if (product.addend.present()) result.add_(view(product.addend));
        if (product.bias.present()) result.add_(view(product.bias));
        store_or_add(view(d), result, product.accumulate);
    }

    void rms_norm(Matrix y, Matrix x, Vector weight, float epsilon) override {
        const Call call(threads_);
        store(view(y), norm(fp32(view(x)), fp32(view(weight)), epsilon));
    }

    void rms_norm_backward(Matrix dx, bool add_to_dx, Matrix dy, Matrix x, Vector weight,
                           float epsilon, Vector dweight, bool accumulate) override {
        const Call call(threads_);
        NormGradients gradients =
            norm_backward(fp32(view(dy)), fp32(view(x)), fp32(view(weight)), epsilon);
        if (add_to_dx) gradients.dx.add_(view(dx));
        store(view(dx), gradients.dx);
        store_or_add(view(dweight), gradients.dweight, accumulate);
    }

    void head_norm(const AttentionShape& shape, Matrix qkv, Vector query_weight, Vector key_weight,
                   float epsilon, Matrix unnormed) override {
        const Call call(threads_);
        require_heads("head_norm", shape, qkv);
        if (unnormed.present())
            store(view(unnormed), view(qkv).narrow(1, 0, shape.query_width() + shape.key_width()));
        for (const auto& [first, heads, weight] : norm_parts(shape, query_weight, key_weight)) {
            const Tensor part = view_heads(qkv, first, heads, shape.head_dim);
            store(part, norm(fp32(part), fp32(view(weight)), epsilon));
        }
    }

    void head_norm_backward(const AttentionShape& shape, Matrix dqkv, Matrix unnormed,
                            Vector query_weight, Vector key_weight, float epsilon,
                            Vector dquery_weight, Vector dkey_weight, bool accumulate) override {
        const Call call(threads_);
        require_heads("head_norm_backward", shape, dqkv);
        for (const auto& [first, heads, weight] : norm_parts(shape, query_weight, key_weight)) {
            const Tensor gradient = view_heads(dqkv, first, heads, shape.head_dim);
            const Tensor x = view_heads(unnormed, first, heads, shape.head_dim);
            const NormGradients gradients =
                norm_backward(fp32(gradient), fp32(x), fp32(view(weight)), epsilon);
            store(gradient, gradients.dx);
            store_or_add(view(first == 0 ? dquery_weight : dkey_weight), gradients.dweight,
                         accumulate);
        }
    }

    void rotary(const AttentionShape& shape, const RotaryShape& rotary, Matrix qkv,
                bool backward) override {
        const Call call(threads_);
        require_heads("rotary", shape, qkv);
        require(shape.head_dim % 2 == 0, "rotary", "an even head_dim");
        const Tensor frequencies = rotary_frequencies(rotary, shape.head_dim);
        // In fp32, as models are trained elsewhere, e.g. with transformers.
        const Tensor angles =
            at::arange(shape.sequence, at::kFloat).unsqueeze(1) * frequencies.unsqueeze(0);
        const Tensor cosine = angles.cos().unsqueeze(1);
        const Tensor sine = (backward ? -angles.sin() : angles.sin()).unsqueeze(1);
        const Tensor heads = view_heads(qkv, 0, shape.heads + shape.kv_heads, shape.head_dim)
                                 .unflatten(0, {shape.sequences, shape.sequence});
        const Tensor low = heads.narrow(-1, 0, shape.head_dim / 2);
        const Tensor high = heads.narrow(-1, shape.head_dim / 2, shape.head_dim / 2);
        const Tensor x = fp32(low), y = fp32(high);
        const Tensor rotated_low = x * cosine - y * sine;
        store(high, y * cosine + x * sine);
        store(low, rotated_low);
    }

    void attention(const AttentionShape& shape, Matrix qkv, Matrix out,
                   float* statistics) override {
        const Call call(threads_);
        cpu::attention(shape, qkv, out, statistics);
    }

    void attention_backward(const AttentionShape& shape, Matrix qkv, Matrix,
                            const float* statistics, Matrix dout, Matrix dqkv, void*) override {
        const Call call(threads_);
        cpu::attention_backward(shape, qkv, statistics, dout, dqkv);
    }

    std::int64_t attention_workspace_bytes(const AttentionShape&) override { return 0; }

    void swiglu(Matrix product, Matrix gate_up) override {
        const Call call(threads_);
        const auto [gate, up] = halves(gate_up, product);
        store(view(product), at::silu(fp32(gate)).mul_(up));
    }

    void swiglu_backward(Matrix gate_up, Matrix dproduct) override {
        const Call call(threads_);
        const auto [gate, up] = halves(gate_up, dproduct);
        const Tensor g = fp32(gate), dy = fp32(view(dproduct));
        const Tensor sigmoid = g.sigmoid(), silu = g * sigmoid;
        // silu'(g) = sigmoid (1 + g (1 - sigmoid)).
        const Tensor slope = (g - silu).add_(1).mul_(sigmoid);
        const Tensor dgate = slope.mul_(dy).mul_(up);
        store(up, silu * dy);
        store(gate, dgate);
    }

    void bias_backward(Vector dbias, Matrix dy, bool accumulate) override {
        const Call call(threads_);
        store_or_add(view(dbias), fp32(view(dy)).sum(0), accumulate);
    }

    void cross_entropy(Matrix logits, const std::int32_t* targets, float scale,
                       double* loss) override {
        const Call call(threads_);
        const std::int64_t rows = std::max<std::int64_t>(1, kPieceElements / logits.columns);
        double sum = 0;
        for (std::int64_t begin = 0; begin < logits.rows; begin += rows) {
            const Matrix part = logits.row_range(begin, std::min(rows, logits.rows - begin));
            sum += cross_entropy_rows(part, targets + begin, scale);
        }
        *loss += scale * sum;
    }

    void sum_squares(Vector values, double* sum) override {
        const Call call(threads_);
        const Tensor all = view(values);
        for (std::int64_t begin = 0; begin < values.size; begin += kPieceElements) {
            const Tensor part = all.narrow(0, begin, std::min(kPieceElements, values.size - begin));
            *sum += part.to(at::kDouble).square_().sum().item<double>();
        }
    }

    void round_to_bf16(Vector out, Vector in) override {
        const Call call(threads_);
        require(out.type == DType::bf16 && in.type == DType::fp32, "round_to_bf16",
                "bf16 out and fp32 in");
        store(view(out), view(in));
    }

    void fill_zero(void* data, std::int64_t bytes) override {
        std::memset(data, 0, static_cast<std::size_t>(bytes));
    }

  private:
    struct NormPart {
        std::int64_t first, heads;
        Vector weight;
    };
    static std::array<NormPart, 2> norm_parts(const AttentionShape& shape, Vector query_weight,
                                              Vector key_weight) {
        return {{{0, shape.heads, query_weight}, {shape.heads, shape.kv_heads, key_weight}}};
    }

    /// Views of gate and up, each of the product's shape.
    static std::pair<Tensor, Tensor> halves(const Matrix& gate_up, const Matrix& product) {
        require(gate_up.rows == product.rows && gate_up.columns == 2 * product.columns, "swiglu",
                "gate_up of (tokens, 2 x width)");
        const Tensor both = view(gate_up);
        return {both.narrow(1, 0, product.columns),
                both.narrow(1, product.columns, product.columns)};
    }

    /// The rows' sum of losses; overwrites them by their gradients.
    static double cross_entropy_rows(const Matrix& logits, const std::int32_t* targets,
                                     float scale) {
        const auto last = std::max_element(targets, targets + logits.rows);
        if (*last >= logits.columns) {
            throw InternalError(
                fmt::format("cross_entropy: target {} of {} logits", *last, logits.columns));
        }
        const Tensor target =
            at::from_blob(const_cast<std::int32_t*>(targets), {logits.rows, 1}, at::kInt)
                .to(at::kLong);
        const Tensor ignored = target < 0, index = target.clamp_min(0);
        const Tensor x = fp32(view(logits)), largest = x.amax(1, true);
        const Tensor weights = (x - largest).exp_(), sum = weights.sum(1, true);
        const Tensor losses = (sum.log() + largest - x.gather(1, index)).masked_fill_(ignored, 0);
        const Tensor gradient = weights.div_(sum);
        gradient.scatter_add_(1, index, at::full(index.sizes(), -1, at::kFloat));
        store(view(logits), gradient.mul_(scale).masked_fill_(ignored, 0));
        return losses.sum(at::kDouble).item<double>();
    }

    int threads_;
};

}  // namespace

std::unique_ptr<Kernels> make_cpu_kernels(int threads) {
    require(threads > 0, "make_cpu_kernels", "1 thread or more");
    return std::make_unique<CpuKernels>(threads);
}

}  // namespace sluice
