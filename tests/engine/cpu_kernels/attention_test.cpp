#include <numbers>
#include <thread>
#include <vector>

#include "sim/base/input_error.h"
#include "tests/engine/cpu_kernels/float64_reference.h"

using namespace sluice;

namespace {

// Sequences, sequence, heads, kv_heads, head_dim, window.
const std::vector<AttentionShape> kShapes = {
    {1, 1, 1, 1, 8, 0},      {3, 1, 4, 1, 20, 0},    {2, 5, 4, 4, 20, 0},  {1, 33, 4, 1, 64, 7},
    {2, 130, 7, 1, 8, 0},    {1, 300, 2, 2, 8, 150}, {1, 128, 8, 2, 8, 0}, {1, 300, 14, 2, 20, 1},
    {2, 129, 4, 1, 64, 500}, {1, 400, 24, 8, 32, 0},  // in pieces of heads and tokens
};

/// Heads [first, first + count) of (tokens, width): (sequences, count, sequence, head_dim).
at::Tensor heads_of(const AttentionShape& shape, const at::Tensor& tokens, std::int64_t first,
                    std::int64_t count) {
    return tokens.view({shape.sequences, shape.sequence, -1, shape.head_dim})
        .narrow(2, first, count)
        .transpose(1, 2);
}

/// First tokens of documents, then the end.
struct Begins {
    std::vector<std::int32_t> all;
    Documents view() const { return {all.data(), std::ssize(all) - 1, longest_document(all)}; }
};

/// (sequences, 1, sequence, sequence): true where query (row) sees key (column).
at::Tensor seen(const AttentionShape& shape, const Begins& documents) {
    const at::Tensor all = at::ones({shape.sequence, shape.sequence}, at::kBool);
    const at::Tensor causal = shape.window > 0 ? all.tril().triu(1 - shape.window) : all.tril();
    const at::Tensor begins = at::zeros({shape.tokens()}, at::kInt);
    for (std::int64_t i = 0; i < documents.view().count; ++i)
        begins[documents.all[static_cast<std::size_t>(i)]] = 1;
    const at::Tensor document = begins.cumsum(0).view({shape.sequences, shape.sequence});
    return causal.logical_and(document.unsqueeze(2) == document.unsqueeze(1)).unsqueeze(1);
}

struct AttentionResult {
    at::Tensor out, log_sum_exp;
};

AttentionResult reference_attention(const AttentionShape& shape, const at::Tensor& qkv,
                                    const Begins& documents) {
    const std::int64_t group = shape.heads / shape.kv_heads;
    const at::Tensor q = heads_of(shape, qkv, 0, shape.heads);
    const at::Tensor k =
        heads_of(shape, qkv, shape.heads, shape.kv_heads).repeat_interleave(group, 1);
    const at::Tensor v = heads_of(shape, qkv, shape.heads + shape.kv_heads, shape.kv_heads)
                             .repeat_interleave(group, 1);
    const at::Tensor scores = at::matmul(q, k.transpose(2, 3)) / std::sqrt(shape.head_dim);
    const at::Tensor mask = seen(shape, documents);
    const at::Tensor out = at::scaled_dot_product_attention(q, k, v, mask);
    return {out.transpose(1, 2).reshape({shape.tokens(), shape.query_width()}),
            at::logsumexp(scores.masked_fill(mask.logical_not(), -INFINITY), -1)};
}

void check_attention(const AttentionShape& shape, DType type, Comparison& comparison,
                     const Begins& begins = {}) {
    const Documents documents = begins.all.empty() ? Documents() : begins.view();
    CAPTURE(documents.count, shape.sequence, shape.heads, shape.head_dim, shape.window);
    const std::int64_t gap = shape.sequence % 2;
    const TestMatrix qkv = TestMatrix::random(type, shape.tokens(), shape.qkv_width(), gap);
    const TestMatrix out(type, shape.tokens(), shape.query_width(), gap);
    const TestMatrix statistics(DType::fp32, 1, shape.heads * shape.tokens());
    const TestMatrix dout = TestMatrix::random(type, shape.tokens(), shape.query_width(), gap);
    const TestMatrix dqkv(type, shape.tokens(), shape.qkv_width(), gap);
    const at::Tensor leaf = with_gradient(qkv.values());
    const AttentionResult expected = reference_attention(shape, leaf, begins);
    expected.out.backward(dout.values());

    auto* const log_sum_exp = static_cast<float*>(statistics.vector().data);
    kernels().attention(shape, qkv.matrix(), out.matrix(), log_sum_exp, documents);
    comparison.check("out", type, out, expected.out);
    comparison.check("log-sum-exp", type, statistics, expected.log_sum_exp);
    CHECK(kernels().attention_workspace_bytes(shape) == 0);
    kernels().attention_backward(shape, qkv.matrix(), out.matrix(), log_sum_exp, dout.matrix(),
                                 dqkv.matrix(), nullptr, documents);
    comparison.check("dqkv", type, dqkv, leaf.grad());
    // It may overwrite q, k and v.
    kernels().attention_backward(shape, qkv.matrix(), out.matrix(), log_sum_exp, dout.matrix(),
                                 qkv.matrix(), nullptr, documents);
    CHECK(qkv.values().equal(dqkv.values()));
}

/// (positions, head_dim / 2): angle of a position for each pair of elements: position x frequency,
/// rounded to fp32 as the models' own code does.
at::Tensor reference_angles(std::int64_t positions, const std::vector<double>& frequencies) {
    const at::Tensor rounded = at::tensor(frequencies, at::kDouble).to(at::kFloat);
    return (at::arange(positions, at::kFloat).unsqueeze(1) * rounded).to(at::kDouble);
}

/// As arXiv 2104.09864 gives it: pairs as complex numbers, turned by e^(i angle). Frequencies as
/// Llama 3.1 scales them.
std::vector<double> reference_frequencies(const RotaryShape& r, std::int64_t head_dim) {
    std::vector<double> result;
    for (std::int64_t i = 0; i < head_dim / 2; ++i) {
        const double frequency =
            1 / std::pow(r.theta, 2.0 * static_cast<double>(i) / static_cast<double>(head_dim));
        const double wavelength = 2 * std::numbers::pi / frequency;
        const double smooth = (r.original_positions / wavelength - r.low_frequency_factor) /
                              (r.high_frequency_factor - r.low_frequency_factor);
        if (wavelength > r.original_positions / r.low_frequency_factor) {
            result.push_back(frequency / r.factor);
        } else if (wavelength < r.original_positions / r.high_frequency_factor) {
            result.push_back(frequency);
        } else {
            result.push_back((1 - smooth) * frequency / r.factor + smooth * frequency);
        }
    }
    return result;
}

void check_rotary(const AttentionShape& shape, const RotaryShape& rotary, DType type, bool backward,
                  Comparison& comparison) {
    CAPTURE(shape.sequence, shape.head_dim, rotary.factor);
    const TestMatrix qkv = TestMatrix::random(type, shape.tokens(), shape.qkv_width(), 3);
    const at::Tensor expected = qkv.values();
    const at::Tensor angles =
        reference_angles(shape.sequence, reference_frequencies(rotary, shape.head_dim));
    const at::Tensor turn = at::polar(at::ones_like(angles), backward ? -angles : angles);
    const at::Tensor heads = heads_of(shape, expected, 0, shape.heads + shape.kv_heads);
    const auto halves = heads.chunk(2, -1);
    const at::Tensor turned = at::complex(halves[0], halves[1]) * turn;
    heads.copy_(at::cat({at::real(turned), at::imag(turned)}, -1));
    kernels().rotary(shape, rotary, qkv.matrix(), backward);
    comparison.check(backward ? "backward" : "forward", type, qkv, expected);
}

void check_head_norm(const AttentionShape& shape, DType type, DType sums, Comparison& comparison) {
    CAPTURE(shape.sequence, shape.heads, shape.head_dim);
    const std::int64_t d = shape.head_dim, normed = shape.query_width() + shape.key_width();
    const TestMatrix qkv = TestMatrix::random(type, shape.tokens(), shape.qkv_width(), 1);
    const TestMatrix unnormed(type, shape.tokens(), normed, 2);
    const TestMatrix q_weight = TestMatrix::random(DType::bf16, 1, d),
                     k_weight = TestMatrix::random(DType::bf16, 1, d);
    const TestMatrix dqkv = TestMatrix::random(type, shape.tokens(), shape.qkv_width());
    const TestMatrix dq_weight = TestMatrix::random(sums, 1, d),
                     dk_weight = TestMatrix::random(sums, 1, d);
    const bool accumulate = sums == DType::fp32;
    const at::Tensor x = qkv.values(), dy = dqkv.values(), leaf = with_gradient(x);
    const at::Tensor wq = with_gradient(q_weight.row()), wk = with_gradient(k_weight.row());
    const auto parts = leaf.view({shape.tokens(), -1, d})
                           .split_with_sizes({shape.heads, shape.kv_heads, shape.kv_heads}, 1);
    const at::Tensor expected = at::cat({at::rms_norm(parts[0], {d}, wq, kEpsilon),
                                         at::rms_norm(parts[1], {d}, wk, kEpsilon), parts[2]},
                                        1)
                                    .flatten(1);
    expected.backward(dy);
    const at::Tensor dq_sum = accumulate ? wq.grad() + dq_weight.row() : wq.grad();
    const at::Tensor dk_sum = accumulate ? wk.grad() + dk_weight.row() : wk.grad();

    kernels().head_norm(shape, qkv.matrix(), q_weight.vector(), k_weight.vector(), kEpsilon,
                        unnormed.matrix());
    comparison.check("forward", type, qkv, expected);
    CHECK(at::equal(unnormed.values(), x.narrow(1, 0, normed)));
    kernels().head_norm_backward(shape, dqkv.matrix(), unnormed.matrix(), q_weight.vector(),
                                 k_weight.vector(), kEpsilon, dq_weight.vector(),
                                 dk_weight.vector(), accumulate);
    comparison.check("dqkv", type, dqkv, leaf.grad());
    comparison.check(accumulate ? "dweights, fp32 sums" : "dweights, bf16", type, dq_weight,
                     dq_sum);
    comparison.check(accumulate ? "dweights, fp32 sums" : "dweights, bf16", type, dk_weight,
                     dk_sum);
}

/// Results of a layer's main kernels, at memory `offset` elements past libtorch's own alignment.
std::vector<TestMatrix> some_results(DType type, std::int64_t offset) {
    at::manual_seed(20);
    const AttentionShape shape{2, 150, 6, 2, 20, 0};
    const TestMatrix x = TestMatrix::of(type, at::randn({shape.tokens(), 96}), 0, offset);
    const TestMatrix weight =
        TestMatrix::of(DType::bf16, at::randn({shape.qkv_width(), 96}), 0, offset);
    const TestMatrix norm = TestMatrix::of(DType::bf16, at::randn({96}), 0, offset);
    const TestMatrix qkv(type, shape.tokens(), shape.qkv_width(), 0, offset), dqkv = qkv.copy();
    const TestMatrix out(type, shape.tokens(), shape.query_width(), 0, offset);
    const TestMatrix statistics(DType::fp32, 1, shape.heads * shape.tokens());
    const TestMatrix dweight(DType::fp32, shape.qkv_width(), 96, 0, offset);
    const TestMatrix dx(type, shape.tokens(), 96, 0, offset), dnorm(DType::fp32, 1, 96, 0, offset);
    auto* const log_sum_exp = static_cast<float*>(statistics.vector().data);
    kernels().gemm(
        {.d = qkv.matrix(), .a = x.matrix(), .b = weight.matrix(), .transpose_b = Transpose::yes});
    kernels().attention(shape, qkv.matrix(), out.matrix(), log_sum_exp);
    kernels().attention_backward(shape, qkv.matrix(), out.matrix(), log_sum_exp, out.matrix(),
                                 dqkv.matrix(), nullptr);
    kernels().gemm({.d = dweight.matrix(),
                    .a = dqkv.matrix(),
                    .b = x.matrix(),
                    .transpose_a = Transpose::yes});
    kernels().gemm({.d = dx.matrix(), .a = dqkv.matrix(), .b = weight.matrix()});
    kernels().rms_norm_backward(dx.matrix(), false, dx.matrix(), x.matrix(), norm.vector(),
                                kEpsilon, dnorm.vector(), false);
    return {qkv, out, statistics, dqkv, dweight, dx, dnorm};
}

}  // namespace

TEST_CASE("cpu kernels: attention and its gradient, grouped heads and windows", "[cpu_kernels]") {
    at::manual_seed(11);
    Comparison comparison("attention");
    for (const DType type : kActivationTypes)
        for (const AttentionShape& shape : kShapes) check_attention(shape, type, comparison);
}

TEST_CASE("cpu kernels: attention within documents, and its gradient", "[cpu_kernels]") {
    Comparison comparison("attention within documents");
    for (const DType type : kActivationTypes) {
        check_attention({2, 5, 4, 4, 20, 0}, type, comparison, {{0, 1, 2, 5, 9, 10}});
        check_attention({1, 300, 2, 2, 8, 0}, type, comparison, {{0, 65, 66, 130, 299, 300}});
        check_attention({2, 130, 7, 1, 8, 70}, type, comparison, {{0, 3, 80, 130, 260}});
        check_attention({1, 400, 24, 8, 32, 0}, type, comparison, {{0, 170, 400}});
    }
}

TEST_CASE("cpu kernels: a document has the same bits whatever is beside it", "[cpu_kernels]") {
    constexpr std::int64_t kBegin = 70, kEnd = 170, kTokens = kEnd - kBegin;
    const AttentionShape shape{1, 300, 6, 2, 20, 0};
    const auto results = [&](DType type, std::uint64_t seed_of_others, const Begins& begins) {
        at::manual_seed(15);
        const at::Tensor document = at::randn({kTokens, shape.qkv_width()});
        const at::Tensor gradient = at::randn({kTokens, shape.query_width()});
        at::manual_seed(seed_of_others);
        const at::Tensor x = at::randn({shape.tokens(), shape.qkv_width()});
        const at::Tensor dy = at::randn({shape.tokens(), shape.query_width()});
        x.narrow(0, kBegin, kTokens).copy_(document);
        dy.narrow(0, kBegin, kTokens).copy_(gradient);
        const TestMatrix qkv = TestMatrix::of(type, x), dout = TestMatrix::of(type, dy);
        const TestMatrix out(type, shape.tokens(), shape.query_width());
        const TestMatrix statistics(DType::fp32, 1, shape.heads * shape.tokens());
        auto* const log_sum_exp = static_cast<float*>(statistics.vector().data);
        kernels().attention(shape, qkv.matrix(), out.matrix(), log_sum_exp, begins.view());
        const TestMatrix dqkv = qkv.copy();
        kernels().attention_backward(shape, qkv.matrix(), out.matrix(), log_sum_exp, dout.matrix(),
                                     dqkv.matrix(), nullptr, begins.view());
        return at::cat({out.values(), dqkv.values()}, 1).narrow(0, kBegin, kTokens);
    };
    for (const DType type : kActivationTypes) {
        const at::Tensor alone = results(type, 1, {{0, kBegin, kEnd, 300}});
        CHECK(alone.equal(results(type, 2, {{0, kBegin, kEnd, 300}})));
        CHECK(alone.equal(results(type, 3, {{0, 9, kBegin, kEnd, 200, 201, 300}})));
        CHECK(!alone.equal(results(type, 2, {{0, kEnd, 300}})));
    }
}

TEST_CASE("cpu kernels: rotary positions, plain and scaled as Llama 3 does", "[cpu_kernels]") {
    at::manual_seed(12);
    Comparison comparison("rotary");
    for (const DType type : kActivationTypes) {
        for (const bool backward : {false, true}) {
            for (const AttentionShape& shape : kShapes) {
                check_rotary(shape, {}, type, backward, comparison);
                check_rotary(shape, {500000, 8, 1, 4, 8192}, type, backward, comparison);
                check_rotary(shape, {10000, 32, 1, 4, 64}, type, backward, comparison);
            }
            check_rotary({1, 40000, 1, 1, 8, 0}, {.theta = 1e6}, type, backward, comparison);
        }
    }
}

TEST_CASE("cpu kernels: norms of heads and their gradients", "[cpu_kernels]") {
    at::manual_seed(13);
    Comparison comparison("head_norm");
    for (const DType type : kActivationTypes)
        for (const AttentionShape& shape : kShapes)
            for (const DType sums : {DType::fp32, DType::bf16})
                check_head_norm(shape, type, sums, comparison);
}

TEST_CASE("cpu kernels: the same inputs give the same bits, from any thread and at any address",
          "[cpu_kernels]") {
    for (const DType type : kActivationTypes) {
        const std::vector<TestMatrix> first = some_results(type, 0);
        std::vector<TestMatrix> elsewhere;
        std::thread([&] { elsewhere = some_results(type, 0); }).join();
        const std::vector<TestMatrix> unaligned = some_results(type, 5);
        for (std::size_t i = 0; i < first.size(); ++i) {
            CAPTURE(type, i);
            CHECK(first[i].same_bits(elsewhere[i]));
            CHECK(first[i].same_bits(unaligned[i]));
        }
    }
}

TEST_CASE("cpu kernels: attention refuses shapes that do not fit together", "[cpu_kernels]") {
    const AttentionShape shape{1, 4, 2, 1, 8, 0};
    const TestMatrix qkv(DType::fp32, 4, 32), out(DType::fp32, 4, 8), statistics(DType::fp32, 1, 8);
    auto* const log_sum_exp = static_cast<float*>(statistics.vector().data);
    CHECK_THROWS_AS(kernels().attention(shape, qkv.matrix(), out.matrix(), log_sum_exp),
                    InternalError);
    CHECK_THROWS_AS(kernels().rotary(shape, {}, out.matrix(), false), InternalError);
    const AttentionShape odd{1, 4, 1, 1, 3, 0};
    const TestMatrix odd_qkv(DType::fp32, 4, 9);
    CHECK_THROWS_WITH(kernels().rotary(odd, {}, odd_qkv.matrix(), false),
                      "rotary: expected an even head_dim");
}
