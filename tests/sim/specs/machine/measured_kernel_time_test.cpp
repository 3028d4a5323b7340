// Which kernels take measured times from their tables, in which style? By hand.
#include <algorithm>

#include "sim/specs/machine/kernel_time.h"
#include "tests/catch.h"
#include "tests/sim/specs/machine/measured_kernels.h"

namespace sluice {
namespace {

using Id = KernelTableId;

/// 100 TFLOPS, 1 TB/s, 4 us a product, 1 us a launch; all attention at 50 TFLOPS.
GpuSpec gpu_with(Id id, KernelTable table) {
    GpuSpec gpu;
    gpu.gemm_flops_per_s = 100e12;
    gpu.memory_bandwidth = 1e12;
    gpu.multiprocessors = 1;
    gpu.gemm_overhead = 4e-6;
    gpu.launch = 1e-6;
    for (AttentionRates* rates : {&gpu.fused_attention, &gpu.flash_attention})
        rates->forward = rates->backward = Interpolated({{1024, 50e12}});
    gpu.tables[static_cast<std::size_t>(id)] = std::move(table);
    return gpu;
}

/// The table of a product: `us` and one other feature.
KernelTable product_trend(double us, const char* name, double factor) {
    const std::vector<std::string>& names = kernel_feature_names(Id::gemm_forward);
    std::vector<double> trend(names.size(), 0);
    trend[0] = us;
    const auto found = std::find(names.begin(), names.end(), name);
    REQUIRE(found != names.end());
    trend[static_cast<std::size_t>(found - names.begin())] = factor;
    return trend_only(std::move(trend));
}

}  // namespace

TEST_CASE("kernel time: a measured product takes its table's time, in eager style too",
          "[machine]") {
    // 1000 x 1000 x 500 is 1 GFLOP: 5 us and 10 us a GFLOP; launches are in what was measured.
    const GpuSpec gpu = gpu_with(Id::gemm_forward, product_trend(5, "us_per_gflop", 10));
    const Kernel product = gemm("test", GemmRole::forward, 1000, 1000, 500);
    CHECK(kernel_time(gpu, product, KernelStyle::fused) == Approx(15e-6).epsilon(1e-12));
    CHECK(kernel_time(gpu, product, KernelStyle::eager) == Approx(15e-6).epsilon(1e-12));
    // Another role has another table, and that is empty: 1 GFLOP at 100 TFLOPS and 4 us.
    const Kernel other = gemm("test", GemmRole::input_gradient, 1000, 1000, 500);
    CHECK(kernel_time(gpu, other, KernelStyle::fused) == Approx(14e-6).epsilon(1e-12));
}

TEST_CASE("kernel time: a measured product's waves are those of the machine", "[machine]") {
    // As in kernel_table_test.cpp: 256 x 384 x 512 in tiles of 128 x 256 are 12 x 0.016777216 GFLOP
    // in waves on 3 multiprocessors and 24 on 12; 10 us each.
    GpuSpec gpu =
        gpu_with(Id::gemm_forward, product_trend(0, "us_per_gflop_in_waves_of_128x256", 10));
    const Kernel product = gemm("test", GemmRole::forward, 256, 384, 512);
    gpu.multiprocessors = 3;
    CHECK(kernel_time(gpu, product, KernelStyle::fused) == Approx(2.01326592e-6).epsilon(1e-12));
    gpu.multiprocessors = 12;
    CHECK(kernel_time(gpu, product, KernelStyle::fused) == Approx(4.02653184e-6).epsilon(1e-12));
}

TEST_CASE("kernel time: attention and elementwise work are measured of the engine's kernels only",
          "[machine]") {
    const Kernel attention = attention_forward({1, 1024, 1, 1, 128, 128});
    const GpuSpec gpu = gpu_with(Id::attention_forward, trend_only({7, 0, 0, 0, 0}));
    CHECK(kernel_time(gpu, attention, KernelStyle::fused) == Approx(7e-6).epsilon(1e-12));
    // 1024 x 1024 / 2 x 4 x 128 FLOPs at 50 TFLOPS, and 1 us.
    CHECK(kernel_time(gpu, attention, KernelStyle::eager) ==
          Approx(1e-6 + 268435456 / 50e12).epsilon(1e-12));
    const Kernel norm = elementwise("norm", MemoryBoundWork::rms_norm, 1000, 2000, 5);
    const GpuSpec other = gpu_with(Id::rms_norm, trend_only({1, 2, 3}));
    CHECK(kernel_time(other, norm, KernelStyle::fused) == Approx(9e-6).epsilon(1e-12));
    // 10 MB over 1 TB/s and 1 us.
    CHECK(kernel_time(other, norm, KernelStyle::eager) == Approx(11e-6).epsilon(1e-12));
    // Work that the engine has no kernel for goes by its bytes.
    CHECK(kernel_time(other, memory_bound("copy", 10e6), KernelStyle::fused) ==
          Approx(11e-6).epsilon(1e-12));
}

}  // namespace sluice
