// How fast are large products in FP8 at the power limit, and the casts to FP8 before them?
#include <fmt/format.h>

#include <exception>

#include "calibrate/cases/bench.h"
#include "calibrate/cases/kernel_rows.h"
#include "engine/device/device.h"
#include "sim/base/input_error.h"

namespace sluice {
namespace {

/// The machine is calibrated without what its GPU or libraries refuse.
template <typename Measure>
void measure_or_warn(CaseRecord& record, const char* what, Measure measure) {
    try {
        measure();
    } catch (const std::exception& error) {
        record.warnings.push_back(fmt::format("{} were not measured: {}", what, error.what()));
    }
}

void measure_products(Bench& bench, CaseRecord& record) {
    constexpr std::int64_t kSize = kLargeSize;
    constexpr Bytes kCodes = kSize * kSize, kNumbers = kBf16 * kCodes;
    const OperandSets in(bench, input_zone(bench), {kNumbers, kNumbers});
    const OperandSets out(bench, output_zone(bench),
                          {kCodes, kCodes, sizeof(Fp8Scale), sizeof(Fp8Scale), kNumbers});
    if (bench.large_product == 0 || !in.fit() || !out.fit())
        throw MachineError(
            fmt::format("{} MiB of memory do not hold them", bench.arena_bytes / kMiB));
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

struct CastOrders {
    bool rows, columns;
};

void measure_cast(Bench& bench, const ShapeSize& tensor, CastOrders orders, bool sought,
                  KernelRows& table) {
    const std::int64_t rows = tensor[0], columns = tensor[1];
    const Bytes codes = rows * columns;
    const OperandSets in(bench, input_zone(bench), {kBf16 * codes});
    const OperandSets out(bench, output_zone(bench), {codes, codes, sizeof(Fp8Scale)});
    const KernelShape shape = {{rows, columns, orders.rows, orders.columns, sought}};
    if (!in.fit() || !out.fit()) return table.leave_out(shape);
    const auto cast = [&](std::int64_t call, bool measured) {
        Kernels::Fp8Cast one;
        one.in = Matrix(in.at(call, 0), DType::bf16, rows, columns);
        if (orders.rows) one.out = Matrix(out.at(call, 0), DType::e4m3, rows, columns);
        if (orders.columns) one.transposed = Matrix(out.at(call, 1), DType::e4m3, columns, rows);
        one.scale = reinterpret_cast<Fp8Scale*>(out.at(call, 2));
        one.measured = measured;
        bench.device.kernels().cast_fp8(one);
    };
    for (std::int64_t set = 0; set < out.sets(); ++set) cast(set, false);
    table.measure(shape, [&](std::int64_t call) { cast(call, !sought); });
}

void measure_casts(Bench& bench, CaseRecord& record) {
    // With 7B and 32,768 tokens: a layer's input, the product of SwiGLU, weights of gate and up.
    std::vector<ShapeSize> tensors = {{32768, 3584}, {32768, 18944}, {37888, 3584}};
    if (!bench.device_facts.is_gpu) tensors = {{256, 448}};
    if (bench.quick) tensors.resize(1);
    KernelRows table(bench, "fp8_casts", {"rows", "columns", "by_rows", "by_columns", "sought"},
                     "casts of bf16 to codes in the order of rows, of columns or both, after the "
                     "search for the largest number or without it; groups of calls timed by "
                     "events, over operands larger than the caches",
                     false);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        for (const CastOrders orders :
             {CastOrders{true, false}, CastOrders{false, true}, CastOrders{true, true}})
            for (const bool sought : {false, true})
                measure_cast(bench, tensors[i], orders, sought, table);
        bench.report(i + 1, tensors.size());
    }
    table.finish(record);
}

}  // namespace

/// Without FP8: no table, and no warning, since nothing is wrong.
void measure_fp8(Bench& bench, CaseRecord& record) {
    if (!bench.device_facts.has_fp8) return;
    fill_arena(bench);
    measure_or_warn(record, "large products in FP8", [&] { measure_products(bench, record); });
    measure_or_warn(record, "casts to FP8", [&] { measure_casts(bench, record); });
}

}  // namespace sluice
