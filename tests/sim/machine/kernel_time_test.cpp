// How long kernels and copies take, computed by hand for a machine of round numbers.
#include "sim/machine/kernel_time.h"

#include "tests/catch.h"

namespace sluice {
namespace {

/// 100 TFLOPS, 1 TB/s, one multiprocessor (so that no wave is partly filled), 1 us a launch.
GpuSpec round_gpu() {
    GpuSpec gpu;
    gpu.gemm_flops_per_s = 100e12;
    gpu.memory_bandwidth = 1e12;
    gpu.multiprocessors = 1;
    gpu.launch = 1e-6;
    gpu.eager_launch = 5e-6;
    gpu.fused_attention.forward = Interpolated({{1024, 50e12}, {4096, 60e12}});
    gpu.fused_attention.backward = Interpolated({{1024, 40e12}});
    gpu.flash_attention.forward = Interpolated({{1024, 25e12}});
    gpu.flash_attention.backward = Interpolated({{1024, 20e12}});
    return gpu;
}

Kernel attention(KernelKind kind, std::int64_t sequence, std::int64_t head_dim, Flops flops) {
    Kernel kernel;
    kernel.kind = kind;
    kernel.sequence = sequence;
    kernel.head_dim = head_dim;
    kernel.flops = flops;
    return kernel;
}

}  // namespace

TEST_CASE("wave efficiency: 4096 x 4096 on 132 multiprocessors fill 3.88 of 4 waves", "[machine]") {
    // Tiles of 256 x 128: 16 x 32 = 512, in 4 waves of 132 = 528.
    CHECK(wave_efficiency(132, 4096, 4096, 1) == Approx(512.0 / 528));
}

TEST_CASE("wave efficiency: the best of the tiles counts", "[machine]") {
    // 2048 x 3584: tiles of 256 x 128 are 8 x 28 = 224, in 2 waves of 132: 224 / 264. Those of
    // 128 x 128 are 448 in 4 waves, the same share; 128 x 256 are 16 x 14 = 224 again.
    CHECK(wave_efficiency(132, 2048, 3584, 1) == Approx(224.0 / 264));
    // 128 x 16896 = 132 tiles of 128 x 128: one full wave. 256 rows would be half empty,
    // 256 columns fill 66 multiprocessors.
    CHECK(wave_efficiency(132, 128, 16'896, 1) == Approx(1));
    // 16896 x 256: 66 x 2 tiles of 256 x 128 fill one wave.
    CHECK(wave_efficiency(132, 16'896, 256, 1) == Approx(1));
}

TEST_CASE("wave efficiency: tiles that stand over the edge are work for nothing", "[machine]") {
    // One row of 128 columns: one tile of 128 x 128, on one of 132 multiprocessors.
    CHECK(wave_efficiency(132, 1, 128, 1) == Approx(1.0 / 128 / 132));
    // 129 rows: 2 tiles of 128 x 128, or 1 of 256 x 128, which is as much waste in one wave;
    // of 4 multiprocessors, 128 x 128 tiles use 2 for 129 / 256 of their work.
    CHECK(wave_efficiency(4, 129, 128, 1) == Approx(129.0 / 256 * 2 / 4));
}

TEST_CASE("wave efficiency: experts share the waves of one launch", "[machine]") {
    // 33 products of 512 x 128 are 33 x 4 = 132 tiles of 128 x 128.
    CHECK(wave_efficiency(132, 512, 128, 33) == Approx(1));
    CHECK(wave_efficiency(132, 512, 128, 1) == Approx(4.0 / 132));
}

TEST_CASE("wave efficiency: never exceeds one, nor reaches zero", "[machine]") {
    for (const std::int64_t m : {1, 127, 128, 1000, 32'768}) {
        for (const std::int64_t n : {1, 129, 3584, 152'064}) {
            CAPTURE(m, n);
            const double efficiency = wave_efficiency(132, m, n, 1);
            CHECK(efficiency > 0);
            CHECK(efficiency <= 1);
        }
    }
}

TEST_CASE("kernel time: a product bound by arithmetic takes FLOPs over rate", "[machine]") {
    // 2 x 1024^3 FLOPs over 100 TFLOPS after a launch of 1 us; 1024 fills whole tiles.
    CHECK(kernel_time(round_gpu(), gemm("test", 1024, 1024, 1024), KernelStyle::fused) ==
          Approx(1e-6 + 2 * 1024.0 * 1024 * 1024 / 100e12));
}

TEST_CASE("kernel time: a thin product takes the time of its bytes", "[machine]") {
    // One token through 4096 x 4096 weights: 2 x (4096 + 4096 x 4096 + 4096) bytes over 1 TB/s
    // would be 33.6 us. Its 33.5 MFLOP, at 1 of 128 rows of a tile, take 43 us: the more counts.
    GpuSpec gpu = round_gpu();
    const Kernel thin = gemm("test", 1, 4096, 4096);
    CHECK(kernel_time(gpu, thin, KernelStyle::fused) ==
          Approx(1e-6 + 2 * 4096.0 * 4096 * 128 / 100e12));
    gpu.memory_bandwidth = 0.1e12;
    CHECK(kernel_time(gpu, thin, KernelStyle::fused) ==
          Approx(1e-6 + 2 * (4096.0 * 4096 + 2 * 4096) / 0.1e12));
}

TEST_CASE("kernel time: elementwise work takes bytes over bandwidth and its launches",
          "[machine]") {
    CHECK(kernel_time(round_gpu(), memory_bound("norm", 5e6, 3), KernelStyle::fused) ==
          Approx(3e-6 + 5e-6));
}

TEST_CASE("kernel time: attention takes the rate of its style, direction and length",
          "[machine]") {
    const GpuSpec gpu = round_gpu();
    const auto time = [&](KernelKind kind, std::int64_t sequence, KernelStyle style) {
        return kernel_time(gpu, attention(kind, sequence, 128, 1e9), style) - gpu.launch;
    };
    CHECK(time(KernelKind::attention_forward, 1024, KernelStyle::fused) == Approx(1e9 / 50e12));
    // 2048 is half way from 1024 to 4096 in log(x).
    CHECK(time(KernelKind::attention_forward, 2048, KernelStyle::fused) == Approx(1e9 / 55e12));
    CHECK(time(KernelKind::attention_backward, 1024, KernelStyle::fused) == Approx(1e9 / 40e12));
    CHECK(time(KernelKind::attention_forward, 1024, KernelStyle::eager) == Approx(1e9 / 25e12));
    CHECK(time(KernelKind::attention_backward, 1024, KernelStyle::eager) == Approx(1e9 / 20e12));
}

TEST_CASE("kernel time: narrow heads reach less of attention's rate, wide ones no more",
          "[machine]") {
    const GpuSpec gpu = round_gpu();
    const auto time = [&](std::int64_t head_dim) {
        const Kernel kernel = attention(KernelKind::attention_forward, 1024, head_dim, 1e9);
        return kernel_time(gpu, kernel, KernelStyle::fused) - gpu.launch;
    };
    CHECK(time(64) == Approx(1e9 / (50e12 * 0.75)));  // 0.5 + 0.5 x 64 / 128
    CHECK(time(256) == Approx(time(128)));
}

TEST_CASE("kernel time: attention over little work is bound by its bytes", "[machine]") {
    Kernel kernel = attention(KernelKind::attention_forward, 1024, 128, 1e6);
    kernel.bytes = 1e9;
    CHECK(kernel_time(round_gpu(), kernel, KernelStyle::fused) == Approx(1e-6 + 1e-3));
}

TEST_CASE("kernel time: eager launches cost host time when the kernels are short", "[machine]") {
    const GpuSpec gpu = round_gpu();
    const KernelList brief(100, memory_bound("norm", 1e3));
    // Device: 100 x (1 us + 1 ns); host: 100 x 5 us.
    CHECK(kernels_time(gpu, brief, KernelStyle::fused) == Approx(100 * 1.001e-6));
    CHECK(kernels_time(gpu, brief, KernelStyle::eager) == Approx(500e-6));
    const KernelList lengthy(100, memory_bound("norm", 10e6));
    CHECK(kernels_time(gpu, lengthy, KernelStyle::eager) == Approx(100 * 11e-6));
}

TEST_CASE("copy rate: the full rate times the share that so many bytes reach", "[machine]") {
    LinkSpec link;
    CHECK(copy_rate(link, 50e9, 100) == 50e9);  // no curve
    link.share_by_bytes = Interpolated({{1e4, 0.2}, {1e6, 1}});
    CHECK(copy_rate(link, 50e9, 1e4) == Approx(10e9));
    CHECK(copy_rate(link, 50e9, 1e5) == Approx(30e9));
    CHECK(copy_rate(link, 50e9, 1e9) == 50e9);
}

}  // namespace sluice
