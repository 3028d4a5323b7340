#include <vector>

#include "sim/base/input_error.h"
#include "tests/engine/cpu_kernels/float64_reference.h"

using namespace sluice;

namespace {

/// d (m, n) = op(a) op(b) with inner size k; rows of all matrices `gap` apart.
struct GemmCase {
    std::int64_t m, k, n, gap = 0;
    bool transpose_a = false, transpose_b = false;
    bool addend = false, bias = false;

    void run(DType type, Comparison& comparison) const {
        const TestMatrix a =
            transpose_a ? TestMatrix::random(type, k, m, gap) : TestMatrix::random(type, m, k, gap);
        const TestMatrix b = transpose_b ? TestMatrix::random(DType::bf16, n, k, gap)
                                         : TestMatrix::random(DType::bf16, k, n, gap);
        const TestMatrix c = TestMatrix::random(type, m, n, gap),
                         bias_row = TestMatrix::random(DType::bf16, 1, n);
        const TestMatrix d(type, m, n, gap);
        Kernels::Product product{.d = d.matrix(), .a = a.matrix(), .b = b.matrix()};
        if (transpose_a) product.transpose_a = Transpose::yes;
        if (transpose_b) product.transpose_b = Transpose::yes;
        at::Tensor expected = at::matmul(transpose_a ? a.values().t() : a.values(),
                                         transpose_b ? b.values().t() : b.values());
        if (addend) {
            product.addend = c.matrix();
            expected = expected + c.values();
        }
        if (bias) {
            product.bias = bias_row.vector();
            expected = expected + bias_row.row();
        }
        kernels().gemm(product);
        comparison.check("d", type, d, expected);
    }
};
const std::vector<GemmCase> kGemmCases = {
    {1, 1, 1},
    {1, 24, 40, 3, false, true, false, true},
    {33, 65, 257, 0, false, true, true},
    {128, 256, 512, 8, false, true, true, true},
    {31, 47, 129, 5, false, false},
    {64, 200, 33, 1, true, false},
    {17, 9, 21, 2, true, true, true},
    // More than one tile in each direction.
    {20, 1030, 1100, 3, false, true, true, true},
    {1030, 40, 1100, 0, true, false, true},
};

struct NormCase {
    std::int64_t rows, columns, gap = 0;

    void forward(DType type, Comparison& comparison) const {
        const TestMatrix x = TestMatrix::random(type, rows, columns, gap);
        const TestMatrix weight = TestMatrix::random(DType::bf16, 1, columns),
                         y(type, rows, columns, gap);
        kernels().rms_norm(y.matrix(), x.matrix(), weight.vector(), kEpsilon);
        comparison.check("y", type, y, at::rms_norm(x.values(), {columns}, weight.row(), kEpsilon));
    }

    enum class Alias { none, x, dy };

    void backward(DType type, Alias alias, bool add, DType sum_type, Comparison& comparison) const {
        const TestMatrix x = TestMatrix::random(type, rows, columns, gap),
                         dy = TestMatrix::random(type, rows, columns);
        const TestMatrix weight = TestMatrix::random(DType::bf16, 1, columns);
        const TestMatrix dweight = TestMatrix::random(sum_type, 1, columns);
        const TestMatrix before =
            add ? TestMatrix::random(type, rows, columns, gap) : TestMatrix(type, rows, columns);
        const at::Tensor leaf = with_gradient(x.values()), weights = with_gradient(weight.row());
        at::rms_norm(leaf, {columns}, weights, kEpsilon).backward(dy.values());
        at::Tensor dx_expected = leaf.grad(), dweight_expected = weights.grad();
        const bool accumulate = sum_type == DType::fp32;
        if (accumulate) dweight_expected = dweight_expected + dweight.row();
        const TestMatrix& dx = alias == Alias::x ? x : alias == Alias::dy ? dy : before;
        if (add) dx_expected = dx_expected + dx.values();
        kernels().rms_norm_backward(dx.matrix(), add, dy.matrix(), x.matrix(), weight.vector(),
                                    kEpsilon, dweight.vector(), accumulate);
        comparison.check("dx", type, dx, dx_expected);
        comparison.check(accumulate ? "dweight, fp32 sums" : "dweight, bf16", type, dweight,
                         dweight_expected);
    }
};
// Not one column: there dx is epsilon's part alone, what cancellation leaves.
const std::vector<NormCase> kNormCases = {{1, 8},        {1, 24},    {7, 40, 3},
                                          {129, 257, 1}, {300, 256}, {600, 450}};

struct SwigluCase {
    std::int64_t tokens, width, gap = 0;

    void run(DType type, Comparison& comparison) const {
        const TestMatrix gate_up = TestMatrix::random(type, tokens, 2 * width, gap);
        const TestMatrix product(type, tokens, width, gap),
            dy = TestMatrix::random(type, tokens, width, gap);
        const at::Tensor leaf = with_gradient(gate_up.values());
        const auto halves = leaf.chunk(2, 1);
        const at::Tensor expected = at::silu(halves[0]) * halves[1];
        expected.backward(dy.values());
        kernels().swiglu(product.matrix(), gate_up.matrix());
        comparison.check("product", type, product, expected);
        kernels().swiglu_backward(gate_up.matrix(), dy.matrix());
        comparison.check("dgate_up", type, gate_up, leaf.grad());
        comparison.check("product again", type, dy, expected);
    }
};
const std::vector<SwigluCase> kSwigluCases = {
    {1, 1}, {1, 24}, {5, 41, 3}, {129, 257}, {600, 450, 1}};

/// Every third row from `ignored` on counts nothing; none where it is negative.
struct CrossEntropyCase {
    std::int64_t rows, vocabulary, ignored = -1, gap = 0;

    void run(DType type, Comparison& comparison) const {
        const TestMatrix logits = TestMatrix::random(type, rows, vocabulary, gap);
        const at::Tensor targets = at::randint(vocabulary, {rows}, at::kInt);
        if (ignored >= 0) targets.slice(0, ignored, rows, 3).fill_(-100);
        const at::Tensor leaf = with_gradient(logits.values());
        const double scale = 0.25;
        const at::Tensor expected =
            at::cross_entropy_loss(leaf, targets.to(at::kLong), {}, at::Reduction::Sum) * scale;
        expected.backward();
        double loss = 1.5;
        kernels().cross_entropy(logits.matrix(), targets.data_ptr<std::int32_t>(), 0.25F, &loss);
        CHECK(loss == Approx(1.5 + expected.item<double>()).epsilon(kFp32Error));
        comparison.check("dlogits", type, logits, leaf.grad());
    }
};
const std::vector<CrossEntropyCase> kCrossEntropyCases = {
    {1, 1}, {1, 257}, {1, 257, 0}, {7, 257, 1, 3}, {33, 1000, 0}, {3, 600000, 1}};

std::vector<std::int32_t> zeros(std::int64_t count) {
    return std::vector<std::int32_t>(static_cast<std::size_t>(count), 0);
}

}  // namespace

TEST_CASE("cpu kernels: products with addend, bias and either transpose", "[cpu_kernels]") {
    at::manual_seed(1);
    Comparison comparison("gemm");
    for (const DType type : kActivationTypes)
        for (const GemmCase& c : kGemmCases) c.run(type, comparison);
}

TEST_CASE("cpu kernels: gradients of weights add up in fp32 and round once in bf16",
          "[cpu_kernels]") {
    at::manual_seed(2);
    Comparison comparison("gemm dweight");
    for (const DType type : kActivationTypes) {
        const TestMatrix dy = TestMatrix::random(type, 200, 33, 2),
                         x = TestMatrix::random(type, 200, 41);
        const at::Tensor product = at::matmul(dy.values().t(), x.values());
        const TestMatrix sum = TestMatrix::random(DType::fp32, 33, 41),
                         rounded(DType::bf16, 33, 41);
        const at::Tensor expected = sum.values() + product;
        kernels().gemm({.d = sum.matrix(),
                        .a = dy.matrix(),
                        .b = x.matrix(),
                        .transpose_a = Transpose::yes,
                        .accumulate = true});
        comparison.check("fp32 sums", type, sum, expected);
        kernels().gemm({.d = rounded.matrix(),
                        .a = dy.matrix(),
                        .b = x.matrix(),
                        .transpose_a = Transpose::yes});
        comparison.check("bf16", type, rounded, product);
    }
}

TEST_CASE("cpu kernels: RMSNorm and its gradients, in place of any input", "[cpu_kernels]") {
    at::manual_seed(3);
    Comparison forward("rms_norm"), backward("rms_norm_backward");
    using Alias = NormCase::Alias;
    for (const DType type : kActivationTypes) {
        for (const NormCase& c : kNormCases) {
            c.forward(type, forward);
            for (const DType sums : {DType::fp32, DType::bf16}) {
                for (const Alias alias : {Alias::none, Alias::x, Alias::dy})
                    c.backward(type, alias, false, sums, backward);
                c.backward(type, Alias::none, true, sums, backward);
            }
        }
    }
}

TEST_CASE("cpu kernels: SwiGLU and its gradient in place", "[cpu_kernels]") {
    at::manual_seed(4);
    Comparison comparison("swiglu");
    for (const DType type : kActivationTypes)
        for (const SwigluCase& c : kSwigluCases) c.run(type, comparison);
}

TEST_CASE("cpu kernels: cross-entropy, its gradient, and ignored rows", "[cpu_kernels]") {
    at::manual_seed(5);
    Comparison comparison("cross_entropy");
    for (const DType type : kActivationTypes)
        for (const CrossEntropyCase& c : kCrossEntropyCases) c.run(type, comparison);
}

TEST_CASE("cpu kernels: an ignored row becomes 0 whatever it holds", "[cpu_kernels]") {
    const TestMatrix logits(DType::fp32, 2, 5);  // NaN
    const std::vector<std::int32_t> targets = {-1, -1};
    double loss = 3;
    kernels().cross_entropy(logits.matrix(), targets.data(), 1, &loss);
    CHECK(loss == 3);
    CHECK(logits.values().eq(0).all().item<bool>());
}

TEST_CASE("cpu kernels: sums of squares, column sums, rounding and filling", "[cpu_kernels]") {
    at::manual_seed(6);
    Comparison comparison("bias_backward"), rounding("round_to_bf16");
    for (const DType type : kActivationTypes) {
        constexpr std::int64_t kCount = (std::int64_t{1} << 20) + 3;
        const TestMatrix values = TestMatrix::random(type, 1, kCount);
        double sum = 2;
        kernels().sum_squares(values.vector(), &sum);
        // Added in float64.
        CHECK(sum == Approx(2 + values.values().square().sum().item<double>())
                         .epsilon(static_cast<double>(kCount) * 0x1p-53));

        const TestMatrix dy = TestMatrix::random(type, 129, 41, 3),
                         dbias = TestMatrix::random(DType::fp32, 1, 41);
        const at::Tensor expected = dbias.row() + dy.values().sum(0);
        kernels().bias_backward(dbias.vector(), dy.matrix(), true);
        comparison.check("fp32 sums", type, dbias, expected);
        const TestMatrix written(DType::bf16, 1, 41);
        kernels().bias_backward(written.vector(), dy.matrix(), false);
        comparison.check("bf16", type, written, dy.values().sum(0));
    }
    const TestMatrix in = TestMatrix::random(DType::fp32, 1, 1000), out(DType::bf16, 1, 1000);
    kernels().round_to_bf16(out.vector(), in.vector());
    rounding.check("out", DType::bf16, out, in.row(), {kBf16Rounding, 0});
    kernels().fill_zero(out.vector().data, 1998);
    CHECK(out.row().eq(0).sum().item<int>() == 999);
}

TEST_CASE("cpu kernels: what does not fit together is an internal error", "[cpu_kernels]") {
    const TestMatrix a(DType::fp32, 2, 3), b(DType::bf16, 4, 5), d(DType::fp32, 2, 5);
    CHECK_THROWS_WITH(kernels().gemm({.d = d.matrix(), .a = a.matrix(), .b = b.matrix()}),
                      "gemm: (2, 3) x (4, 5) does not give (2, 5)");
    const TestMatrix inner(DType::bf16, 3, 5), bf16_sums(DType::bf16, 2, 5);
    CHECK_THROWS_AS(
        kernels().gemm(
            {.d = bf16_sums.matrix(), .a = a.matrix(), .b = inner.matrix(), .accumulate = true}),
        InternalError);
    const TestMatrix one_row(DType::fp32, 1, 3), weight(DType::bf16, 1, 3);
    CHECK_THROWS_AS(kernels().rms_norm(a.matrix(), one_row.matrix(), weight.vector(), kEpsilon),
                    InternalError);
    CHECK_THROWS_AS(kernels().rms_norm(one_row.matrix(), a.matrix(), weight.vector(), kEpsilon),
                    InternalError);
    CHECK_THROWS_AS(kernels().swiglu(d.matrix(), a.matrix()), InternalError);
    const TestMatrix six(DType::fp32, 2, 6);
    CHECK_THROWS_AS(kernels().swiglu_backward(six.matrix(), one_row.matrix()), InternalError);
    std::vector<std::int32_t> targets = zeros(2);
    targets[1] = 3;
    double loss = 0;
    CHECK_THROWS_WITH(kernels().cross_entropy(a.matrix(), targets.data(), 1, &loss),
                      "cross_entropy: target 3 of 3 logits");
    CHECK_THROWS_AS(make_cpu_kernels(0), InternalError);
}
