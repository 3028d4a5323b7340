#include "engine/kernels/cpu_kernels.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "engine/kernels/cpu_experts.h"
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

/// Elements that each thread computes at once. Kernels process their rows in pieces, so that
/// libtorch's intermediate results stay small and in the caches.
constexpr std::int64_t kPieceElements = std::int64_t{1} << 16;

/// Settings of libtorch for every call of a kernel: no autograd, and our number of threads, which
/// libtorch keeps for each calling thread.
class Call {
  public:
    explicit Call(int threads) {
        if (at::get_num_threads() != threads) at::set_num_threads(threads);
    }

  private:
    c10::InferenceMode no_autograd_;
};

/// Meanwhile Device::copy_sums() may read the sum; no other kernel adds to it.
void add(double& sum, double value) { std::atomic_ref(sum).store(sum + value); }

/// Angle of one position for each pair of elements (head_dim / 2), fp32.
Tensor frequencies_of_pairs(const RotaryShape& rotary, std::int64_t head_dim) {
    const Tensor frequencies = at::empty({head_dim / 2}, at::kFloat);
    auto* const values = frequencies.data_ptr<float>();
    for (std::int64_t pair = 0; pair < head_dim / 2; ++pair)
        values[pair] = rotary_frequency(rotary, head_dim, pair);
    return frequencies;
}

void require_like(const char* kernel, const Matrix& one, const Matrix& other) {
    require(one.rows == other.rows && one.columns == other.columns, kernel,
            "matrices of the same rows and columns");
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
        cpu::gemm(product);
    }

    void rms_norm(Matrix y, Matrix x, Vector weight, float epsilon, Fp8Scale* scale) override {
        const Call call(threads_);
        require_like("rms_norm", y, x);
        const Tensor weights = fp32(view(weight));
        for_each_piece(x.rows, x.columns, [&](std::int64_t begin, std::int64_t count) {
            store(view(y.row_range(begin, count)),
                  cpu::norm(fp32(view(x.row_range(begin, count))), weights, epsilon));
        });
        if (scale != nullptr) cpu::measure_fp8(y, scale);
    }

    void rms_norm_backward(Matrix dx, bool add_to_dx, Matrix dy, Matrix x, Vector weight,
                           float epsilon, Vector dweight, bool accumulate) override {
        const Call call(threads_);
        require_like("rms_norm_backward", dx, x);
        require_like("rms_norm_backward", dy, x);
        const Tensor weights = fp32(view(weight)), sum = at::zeros(weights.sizes(), at::kFloat);
        for_each_piece(x.rows, x.columns, [&](std::int64_t begin, std::int64_t count) {
            const Tensor place = view(dx.row_range(begin, count));
            const cpu::NormGradients gradients =
                cpu::norm_backward(fp32(view(dy.row_range(begin, count))),
                                   fp32(view(x.row_range(begin, count))), weights, epsilon);
            if (add_to_dx) gradients.dx.add_(place);
            store(place, gradients.dx);
            sum.add_(gradients.dweight);
        });
        if (dweight.present()) store_or_add(view(dweight), sum, accumulate);
    }

    void head_norm(const AttentionShape& shape, Matrix qkv, Vector query_weight, Vector key_weight,
                   float epsilon, Matrix unnormed) override {
        const Call call(threads_);
        require_heads("head_norm", shape, qkv);
        if (unnormed.present())
            store(view(unnormed), view(qkv).narrow(1, 0, shape.query_width() + shape.key_width()));
        for (const auto& [first, heads, weight] : norm_parts(shape, query_weight, key_weight)) {
            const Tensor all = view_heads(qkv, first, heads, shape.head_dim);
            const Tensor weights = fp32(view(weight));
            for_each_piece(qkv.rows, heads * shape.head_dim, [&](auto begin, auto count) {
                const Tensor part = all.narrow(0, begin, count);
                store(part, cpu::norm(fp32(part), weights, epsilon));
            });
        }
    }

    void head_norm_backward(const AttentionShape& shape, Matrix dqkv, Matrix unnormed,
                            Vector query_weight, Vector key_weight, float epsilon,
                            Vector dquery_weight, Vector dkey_weight, bool accumulate) override {
        const Call call(threads_);
        require_heads("head_norm_backward", shape, dqkv);
        require(unnormed.rows == dqkv.rows, "head_norm_backward", "unnormed of as many rows");
        for (const auto& [first, heads, weight] : norm_parts(shape, query_weight, key_weight)) {
            const Tensor gradient = view_heads(dqkv, first, heads, shape.head_dim);
            const Tensor x = view_heads(unnormed, first, heads, shape.head_dim);
            const Tensor weights = fp32(view(weight)), sum = at::zeros(weights.sizes(), at::kFloat);
            for_each_piece(dqkv.rows, heads * shape.head_dim, [&](auto begin, auto count) {
                const Tensor part = gradient.narrow(0, begin, count);
                const cpu::NormGradients gradients = cpu::norm_backward(
                    fp32(part), fp32(x.narrow(0, begin, count)), weights, epsilon);
                store(part, gradients.dx);
                sum.add_(gradients.dweight);
            });
            const Vector& dweight = first == 0 ? dquery_weight : dkey_weight;
            if (dweight.present()) store_or_add(view(dweight), sum, accumulate);
        }
    }

    void rotary(const AttentionShape& shape, const RotaryShape& rotary, Matrix qkv,
                bool backward) override {
        const Call call(threads_);
        require_heads("rotary", shape, qkv);
        require(shape.head_dim % 2 == 0, "rotary", "an even head_dim");
        const Tensor frequencies = frequencies_of_pairs(rotary, shape.head_dim);
        // In fp32, as in other training programs such as transformers.
        const Tensor angles =
            at::arange(shape.sequence, at::kFloat).unsqueeze(1) * frequencies.unsqueeze(0);
        const Tensor cosine = angles.cos().unsqueeze(1);
        const Tensor sine = (backward ? -angles.sin() : angles.sin()).unsqueeze(1);
        const std::int64_t count = shape.heads + shape.kv_heads;
        const Tensor heads = view_heads(qkv, 0, count, shape.head_dim)
                                 .unflatten(0, {shape.sequences, shape.sequence});
        for_each_piece(shape.sequence, shape.sequences * count * shape.head_dim,
                       [&](std::int64_t begin, std::int64_t positions) {
                           cpu::rotate(heads.narrow(1, begin, positions),
                                       cosine.narrow(0, begin, positions),
                                       sine.narrow(0, begin, positions));
                       });
    }

    void attention(const AttentionShape& shape, Matrix qkv, Matrix out, float* statistics,
                   Documents documents) override {
        const Call call(threads_);
        cpu::attention(shape, qkv, out, statistics, documents);
    }

    void attention_backward(const AttentionShape& shape, Matrix qkv, Matrix,
                            const float* statistics, Matrix dout, Matrix dqkv, void*,
                            Documents documents) override {
        const Call call(threads_);
        cpu::attention_backward(shape, qkv, statistics, dout, dqkv, documents);
    }

    std::int64_t attention_workspace_bytes(const AttentionShape&, Documents) override { return 0; }

    void swiglu(Matrix product, Matrix gate_up, Fp8Scale* scale, EightBits codes) override {
        const Call call(threads_);
        require_gate_up(gate_up, product);
        if (codes.present()) cpu::write_eight_bits(codes, gate_up);
        for_each_piece(product.rows, product.columns, [&](std::int64_t begin, std::int64_t count) {
            const auto halves = view(gate_up.row_range(begin, count)).chunk(2, 1);
            store(view(product.row_range(begin, count)), at::silu(fp32(halves[0])).mul_(halves[1]));
        });
        if (scale != nullptr) cpu::measure_fp8(product, scale);
    }

    void swiglu_backward(Matrix gate_up, Matrix dproduct, EightBits codes,
                         Fp8Scale* scale) override {
        const Call call(threads_);
        require_gate_up(gate_up, dproduct);
        for_each_piece(
            dproduct.rows, dproduct.columns, [&](std::int64_t begin, std::int64_t count) {
                const Matrix out = gate_up.row_range(begin, count);
                const Tensor values = codes.present()
                                          ? cpu::read_eight_bits(codes.rows_from(begin), count)
                                          : fp32(view(out));
                cpu::swiglu_backward(values, view(out), view(dproduct.row_range(begin, count)));
            });
        if (scale != nullptr) cpu::measure_fp8(gate_up, scale);
    }

    void swiglu_backward_fp8(Matrix gate_up, Matrix dproduct, const SwigluCodes& out,
                             EightBits codes) override {
        swiglu_backward(gate_up, dproduct, codes, nullptr);
        cast_fp8({gate_up, out.gradient, out.gradient_columns, out.gradient_scale});
        cast_fp8({dproduct, {}, out.product_columns, out.product_scale});
    }

    void route(const ExpertRoutes& out, Matrix logits, RouteWeights weights,
               double* busiest) override {
        const Call call(threads_);
        cpu::route(out, logits, weights);
        if (busiest != nullptr) add(*busiest, busiest_over_mean(out));
    }
    void route_backward(Matrix dlogits, Matrix logits, const ExpertRoutes& routes,
                        const float* dweights, RouteWeights weights) override {
        const Call call(threads_);
        cpu::route_backward(dlogits, logits, routes, dweights, weights);
    }
    void copy_to_experts(Matrix copies, Matrix in, const ExpertRoutes& routes) override {
        cpu::copy_to_experts(copies, in, routes);
    }
    void sum_of_experts(Matrix y, Matrix addend, Matrix copies,
                        const ExpertRoutes& routes) override {
        const Call call(threads_);
        cpu::sum_of_experts(y, addend, copies, routes);
    }
    void expert_products(const ExpertProducts& products, const ExpertRoutes& routes) override {
        const Call call(threads_);
        cpu::expert_products(products, routes);
    }
    void expert_swiglu(Matrix product, Matrix gate_up, const ExpertRoutes& routes,
                       EightBits codes) override {
        const Call call(threads_);
        require_gate_up(gate_up, product);
        if (codes.present()) cpu::write_eight_bits(codes, gate_up);
        cpu::expert_swiglu(product, gate_up, routes);
    }
    void expert_swiglu_backward(Matrix gate_up, Matrix dproduct, const ExpertRoutes& routes,
                                float* dweights, EightBits codes) override {
        const Call call(threads_);
        require_gate_up(gate_up, dproduct);
        cpu::expert_swiglu_backward(gate_up, dproduct, routes, dweights, codes);
    }

    void bias_backward(Vector dbias, Matrix dy, bool accumulate) override {
        const Call call(threads_);
        const Tensor sum = at::zeros({dy.columns}, at::kFloat);
        for_each_piece(dy.rows, dy.columns, [&](std::int64_t begin, std::int64_t count) {
            sum.add_(fp32(view(dy.row_range(begin, count))).sum(0));
        });
        store_or_add(view(dbias), sum, accumulate);
    }

    void cross_entropy(Matrix logits, const std::int32_t* targets, float scale,
                       double* loss) override {
        const Call call(threads_);
        double sum = 0;
        for_each_piece(logits.rows, logits.columns, [&](std::int64_t begin, std::int64_t count) {
            sum += cpu::cross_entropy(logits.row_range(begin, count), targets + begin, scale);
        });
        add(*loss, scale * sum);
    }

    void gather_rows(Matrix out, const std::uint16_t* table, const std::int32_t* tokens) override {
        for (std::int64_t i = 0; i < out.rows; ++i)
            copy_row(out.row_range(i, 1), table + tokens[i] * out.columns);
    }

    void sum_rows(float* sums, Matrix gradients, const TokenRows& rows,
                  const std::uint16_t* head_gradient, double* norm_square) override {
        add(*norm_square, cpu::sum_rows(sums, gradients, rows, head_gradient));
    }

    void sum_squares(Vector values, double* sum) override {
        const Call call(threads_);
        const Tensor all = view(values);
        for_each_piece(values.size, 1, [&](std::int64_t begin, std::int64_t count) {
            const Tensor part = all.narrow(0, begin, count).to(at::kDouble);
            add(*sum, part.square_().sum().item<double>());
        });
    }

    void round_to_bf16(Vector out, Vector in) override {
        const Call call(threads_);
        require(out.type == DType::bf16 && in.type == DType::fp32, "round_to_bf16",
                "bf16 out and fp32 in");
        store(view(out), view(in));
    }

    void adamw(const BlockUpdate& update) override {
        if (update.sums != nullptr && !update.sums->finite()) return;
        for (const DecayRange& range : update.decay) {
            GradientRange gradient = update.gradient;
            if (gradient.bf16 != nullptr) gradient.bf16 += range.begin;
            if (gradient.fp32 != nullptr) gradient.fp32 += range.begin;
            adamw_range(update.pass, update.step, update.block, range.begin, range.end, range.decay,
                        gradient);
        }
    }

    void cast_fp8(const Fp8Cast& cast) override {
        const Call call(threads_);
        cpu::cast_fp8(cast);
    }
    void transpose_codes(Matrix out, Matrix in) override { cpu::transpose_codes(out, in); }
    void dropout(Matrix out, Matrix in, const Dropout& dropout) override {
        require(out.rows == in.rows && out.columns == in.columns && out.type == in.type, "dropout",
                "two matrices of one shape");
        at::parallel_for(0, in.rows, 1, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t r = begin; r < end; ++r) {
                at::Tensor row = fp32(view(in.row_range(r, 1))).clone();
                auto* const values = row.data_ptr<float>();
                const auto first = static_cast<std::uint64_t>((dropout.first_row + r) * in.columns);
                for (std::int64_t c = 0; c < in.columns; ++c)
                    values[c] = dropout_bits(dropout.seed, first + static_cast<std::uint64_t>(c)) <
                                        dropout.threshold()
                                    ? 0
                                    : values[c] * dropout.factor();
                view(out.row_range(r, 1)).copy_(row);
            }
        });
    }
    void decode_nf4(Matrix out, const Nf4Tensor& in) override {
        require(
            out.type == DType::bf16 && out.stride == out.columns && out.elements() == in.elements,
            "decode_nf4", "a matrix of the tensor's size");
        at::parallel_for(0, in.parts.groups, 1, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t group = begin; group < end; ++group)
                sluice::decode_nf4(static_cast<std::uint16_t*>(out.data), in, group);
        });
    }
    void fill_zero(void* data, std::int64_t bytes) override {
        std::fill_n(static_cast<char*>(data), bytes, '\0');
    }

  private:
    /// Calls function(begin, count) for rows [begin, begin + count) until all are done.
    template <typename Function>
    void for_each_piece(std::int64_t rows, std::int64_t columns, Function function) const {
        const std::int64_t most = std::max<std::int64_t>(1, threads_ * kPieceElements / columns);
        for (std::int64_t begin = 0; begin < rows; begin += most)
            function(begin, std::min(most, rows - begin));
    }

    struct NormPart {
        std::int64_t first, heads;
        Vector weight;
    };
    static std::array<NormPart, 2> norm_parts(const AttentionShape& shape, Vector query_weight,
                                              Vector key_weight) {
        return {{{0, shape.heads, query_weight}, {shape.heads, shape.kv_heads, key_weight}}};
    }

    static void require_gate_up(const Matrix& gate_up, const Matrix& product) {
        require(gate_up.rows == product.rows && gate_up.columns == 2 * product.columns, "swiglu",
                "gate_up of (tokens, 2 x width)");
    }

    int threads_;
};

}  // namespace

std::unique_ptr<Kernels> make_cpu_kernels(int threads) {
    require(threads > 0, "make_cpu_kernels", "1 thread or more");
    return std::make_unique<CpuKernels>(threads);
}

}  // namespace sluice
