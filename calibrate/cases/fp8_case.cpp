// How fast are large products in FP8 at the power limit?
#include "calibrate/cases/bench.h"
#include "calibrate/cases/kernel_rows.h"
#include "engine/device/device.h"

namespace sluice {

void measure_fp8(Bench& bench, CaseRecord& record) {
    if (!bench.device_facts.has_fp8 || bench.large_product == 0) return;
    fill_arena(bench);
    constexpr std::int64_t kSize = kLargeSize;
    constexpr Bytes kCodes = kSize * kSize, kNumbers = kBf16 * kCodes;
    const OperandSets in(bench, input_zone(bench), {kNumbers, kNumbers});
    const OperandSets out(bench, output_zone(bench),
                          {kCodes, kCodes, sizeof(Fp8Scale), sizeof(Fp8Scale), kNumbers});
    Kernels& kernels = bench.device.kernels();
    Kernels::Product product;
    product.d = Matrix(out.at(0, 4), DType::bf16, kSize, kSize);
    product.transpose_b = Transpose::yes;
    const auto cast = [&](std::size_t which, Matrix& codes, const Fp8Scale*& scale) {
        auto* const found = reinterpret_cast<Fp8Scale*>(out.at(0, 2 + which));
        codes = Matrix(out.at(0, which), DType::e4m3, kSize, kSize);
        kernels.cast_fp8({Matrix(in.at(0, which), DType::bf16, kSize, kSize), codes, {}, found});
        scale = found;
    };
    cast(0, product.a, product.scale_a);
    cast(1, product.b, product.scale_b);
    // The clock falls for 50 ms, and power settles within some tenths of a second.
    const Timing timing = {bench.quick ? 0.3 : 1.0, 0.1, bench.quick ? 5 : 15};
    const Sample sample =
        time_on_compute_lane(bench.device, timing, [&](std::int64_t) { kernels.gemm(product); });
    require_finite(bench, "a product in FP8", product.d.data, DType::bf16, kSize);
    CaseTable table;
    table.name = "fp8_products";
    table.method =
        "large products of e4m3 one after another for a second, then by groups of 0.1 s; medians";
    table.columns = {"us", "us_low", "us_high", "tflop"};
    table.add({sample.median * kMega, sample.low * kMega, sample.high * kMega,
               2.0 * kSize * kSize * kSize / kTera});
    record.tables.push_back(std::move(table));
}

}  // namespace sluice
