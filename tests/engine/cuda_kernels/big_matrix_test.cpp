// Do kernels reach all of a matrix of more than 2^31 numbers? Each gives for its first, middle
// and last rows what it gives for these rows alone.
#include "tests/engine/cuda_kernels/big_matrix.h"

#include "tests/engine/cuda_kernels/check_cases.h"

namespace sluice {
namespace {

constexpr std::int64_t kNumbers = (std::int64_t{1} << 31) + (std::int64_t{1} << 24);
constexpr std::int64_t kSomeRows = 48;
constexpr std::int64_t kHidden = 3584, kIntermediate = 18'944, kQkv = 4608;  // Qwen2.5-7B's

/// Rows enough for more than 2^31 numbers.
std::int64_t many_rows(std::int64_t columns) { return kNumbers / columns / 16 * 16; }

/// First rows of some to compare: the first, those around the 2^31st number, the last.
std::vector<std::int64_t> places(const Matrix& of) {
    return {0, (std::int64_t{1} << 31) / of.columns - kSomeRows / 2, of.rows - kSomeRows};
}
/// Rows of `whole` after its kernel, and those that `of_rows(first)` makes alone.
template <typename OfRows>
void check_rows(const char* what, Matrix whole, const std::vector<std::int64_t>& at,
                OfRows of_rows) {
    for (const std::int64_t first : at) {
        CAPTURE(what, first);
        CHECK(CopyOfRows(whole, first, kSomeRows).read() == of_rows(first));
    }
}

bool has_room(std::int64_t big_matrices) {
    return has_gpu() && has_device_memory(big_matrices * 2 * kNumbers);
}

TEST_CASE("big matrices: norms, their gradients, rows of a table", "[cuda_kernels][long]") {
    if (!has_room(3)) return;
    CudaKernels& kernels = gpu().kernels();
    const std::int64_t rows = many_rows(kHidden);
    DeviceMatrix x(rows, kHidden), y(rows, kHidden), weight(1, kHidden);
    x.fill_random(1), weight.fill_random(2);
    kernels.rms_norm(y.view(), x.view(), weight.vector(), 1e-6F);
    check_rows("rms_norm", y.view(), places(y.view()), [&](std::int64_t first) {
        const CopyOfRows some(x.view(), first, kSomeRows);
        kernels.rms_norm(some.view(), some.view(), weight.vector(), 1e-6F);
        return some.read();
    });

    DeviceMatrix dx(rows, kHidden);
    DeviceMatrix dweight(1, kHidden, DType::fp32), of_parts(1, kHidden, DType::fp32);
    kernels.rms_norm_backward(dx.view(), false, y.view(), x.view(), weight.vector(), 1e-6F,
                              dweight.vector(), false);
    check_rows("rms_norm_backward", dx.view(), places(dx.view()), [&](std::int64_t first) {
        const CopyOfRows dy(y.view(), first, kSomeRows), of(x.view(), first, kSomeRows);
        DeviceMatrix unused(1, kHidden, DType::fp32);
        kernels.rms_norm_backward(dy.view(), false, dy.view(), of.view(), weight.vector(), 1e-6F,
                                  unused.vector(), false);
        return dy.read();
    });
    constexpr std::int64_t kParts = 8;
    for (std::int64_t part = 0; part < kParts; ++part) {
        const std::int64_t first = rows * part / kParts, end = rows * (part + 1) / kParts;
        const auto of = [&](const DeviceMatrix& m) {
            return m.view().row_range(first, end - first);
        };
        kernels.rms_norm_backward(of(dx), false, of(y), of(x), weight.vector(), 1e-6F,
                                  of_parts.vector(), part > 0);
    }
    CHECK(share_of({0.5, 1e-4}, dweight.read(), of_parts.read()) <= 1);

    std::vector<std::int32_t> tokens(static_cast<std::size_t>(rows));
    for (std::size_t i = 0; i < tokens.size(); ++i)
        tokens[i] = static_cast<std::int32_t>(i % 1000 * static_cast<std::size_t>(rows / 1000));
    const DeviceArray<std::int32_t> on_device(tokens);
    kernels.gather_rows(y.view(), static_cast<const std::uint16_t*>(x.view().data),
                        on_device.data());
    for (const std::int64_t row : {rows - 1, rows - 700}) {
        const std::int32_t token = tokens[static_cast<std::size_t>(row)];
        CHECK(CopyOfRows(y.view(), row, 1).read() == CopyOfRows(x.view(), token, 1).read());
    }
}

TEST_CASE("big matrices: SwiGLU, rotation, sums of columns", "[cuda_kernels][long]") {
    if (!has_room(3)) return;
    CudaKernels& kernels = gpu().kernels();
    {
        const std::int64_t rows = many_rows(2 * kIntermediate);
        DeviceMatrix gate_up(rows, 2 * kIntermediate), product(rows, kIntermediate);
        gate_up.fill_random(3);
        kernels.swiglu(product.view(), gate_up.view());
        check_rows("swiglu", product.view(), places(gate_up.view()), [&](std::int64_t first) {
            const CopyOfRows of(gate_up.view(), first, kSomeRows);
            DeviceMatrix small(kSomeRows, kIntermediate);
            kernels.swiglu(small.view(), of.view());
            return small.read();
        });
        const std::int64_t last = rows - kSomeRows;
        const CopyOfRows of(gate_up.view(), last, kSomeRows), d(product.view(), last, kSomeRows);
        kernels.swiglu_backward(gate_up.view(), product.view());
        kernels.swiglu_backward(of.view(), d.view());
        CHECK(CopyOfRows(gate_up.view(), last, kSomeRows).read() == of.read());
        CHECK(CopyOfRows(product.view(), last, kSomeRows).read() == d.read());
    }
    const std::int64_t rows = many_rows(kQkv);
    DeviceMatrix qkv(rows, kQkv), dbias(1, kQkv, DType::fp32), parts(1, kQkv, DType::fp32);
    qkv.fill_random(4);
    kernels.bias_backward(dbias.vector(), qkv.view(), false);
    for (std::int64_t half = 0; half < 2; ++half)
        kernels.bias_backward(parts.vector(), qkv.view().row_range(half * rows / 2, rows / 2),
                              half > 0);
    CHECK(share_of({0.5, 1e-4}, dbias.read(), parts.read()) <= 1);
    // Sequences as long as the rows that are compared, so that positions begin at zero there.
    const std::int64_t last = rows - kSomeRows;
    const CopyOfRows of(qkv.view(), last, kSomeRows);
    const auto shape_of = [](std::int64_t sequences) {
        return AttentionShape{sequences, 16, 28, 4, 128};
    };
    kernels.rotary(shape_of(rows / 16), {}, qkv.view(), false);
    kernels.rotary(shape_of(kSomeRows / 16), {}, of.view(), false);
    CHECK(CopyOfRows(qkv.view(), last, kSomeRows).read() == of.read());
}

TEST_CASE("big matrices: products", "[cuda_kernels][long]") {
    if (!has_room(3)) return;
    CudaKernels& kernels = gpu().kernels();
    const std::int64_t rows = many_rows(kQkv);
    DeviceMatrix x(rows, kHidden), weight(kQkv, kHidden), y(rows, kQkv), dx(rows, kHidden);
    DeviceMatrix bias(1, kQkv);
    x.fill_random(5), weight.fill_random(6, {-0.02, 0.02}), bias.fill_random(7);
    const Tolerance rounding{1e-3, 2 * kBf16Error};
    kernels.gemm({.d = y.view(),
                  .a = x.view(),
                  .b = weight.view(),
                  .transpose_b = Transpose::yes,
                  .bias = bias.vector()});
    kernels.gemm({.d = dx.view(), .a = y.view(), .b = weight.view()});
    for (const std::int64_t first : places(y.view())) {
        const CopyOfRows of(x.view(), first, kSomeRows);
        DeviceMatrix small(kSomeRows, kQkv), back(kSomeRows, kHidden);
        kernels.gemm({.d = small.view(),
                      .a = of.view(),
                      .b = weight.view(),
                      .transpose_b = Transpose::yes,
                      .bias = bias.vector()});
        CHECK(share_of(rounding, CopyOfRows(y.view(), first, kSomeRows).read(), small.read()) <= 1);
        const CopyOfRows dy(y.view(), first, kSomeRows);
        kernels.gemm({.d = back.view(), .a = dy.view(), .b = weight.view()});
        CHECK(share_of(rounding, CopyOfRows(dx.view(), first, kSomeRows).read(), back.read()) <= 1);
    }
    DeviceMatrix dweight(kQkv, kHidden, DType::fp32), parts(kQkv, kHidden, DType::fp32);
    const auto add = [&](const DeviceMatrix& to, std::int64_t first, std::int64_t count, bool sum) {
        kernels.gemm({.d = to.view(),
                      .a = y.view().row_range(first, count),
                      .b = x.view().row_range(first, count),
                      .transpose_a = Transpose::yes,
                      .accumulate = sum});
    };
    kernels.fill_zero(dweight.view().data, 4 * kQkv * kHidden);
    add(dweight, 0, rows, true);
    for (std::int64_t part = 0; part < 8; ++part) add(parts, part * rows / 8, rows / 8, part > 0);
    CHECK(share_of({2, 1e-3}, dweight.read(), parts.read()) <= 1);
}

}  // namespace
}  // namespace sluice
