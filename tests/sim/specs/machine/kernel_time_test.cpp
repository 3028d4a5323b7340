// How long do kernels and copies take? Computed by hand for a machine of round numbers.
#include "sim/specs/machine/kernel_time.h"

#include "tests/catch.h"

namespace sluice {
namespace {

/// 100 TFLOPS and 4 us a product, 1 TB/s, one multiprocessor (always busy), 1 us a launch.
GpuSpec round_gpu() {
    GpuSpec gpu;
    gpu.gemm_flops_per_s = 100e12;
    gpu.memory_bandwidth = 1e12;
    gpu.multiprocessors = 1;
    gpu.gemm_overhead = 4e-6;
    gpu.narrow_head_share = 0.8;
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

TEST_CASE("busy share: a product of a whole wave of tiles or more keeps all busy", "[machine]") {
    // 4096 x 4096 are 32 x 32 = 1024 tiles of 128 x 128, for 132 multiprocessors.
    CHECK(busy_share(132, 4096, 4096, 1) == 1);
    CHECK(busy_share(132, 128, 132 * 128, 1) == 1);  // exactly one wave
    // A few tiles more than one wave cost no share: measured at the power limit.
    CHECK(busy_share(132, 128, 133 * 128, 1) == 1);
}

TEST_CASE("busy share: fewer tiles than multiprocessors leave the others idle", "[machine]") {
    CHECK(busy_share(132, 1024, 1024, 1) == Approx(64.0 / 132));
    CHECK(busy_share(132, 1, 128, 1) == Approx(1.0 / 132));
    // 129 rows and columns are 2 x 2 tiles.
    CHECK(busy_share(132, 129, 129, 1) == Approx(4.0 / 132));
}

TEST_CASE("busy share: experts fill the multiprocessors together", "[machine]") {
    CHECK(busy_share(132, 512, 128, 1) == Approx(4.0 / 132));
    CHECK(busy_share(132, 512, 128, 8) == Approx(32.0 / 132));
    CHECK(busy_share(132, 512, 128, 33) == 1);
}

TEST_CASE("kernel time: a product bound by arithmetic takes FLOPs over rate and its overhead",
          "[machine]") {
    // 2 x 1024^3 FLOPs over 100 TFLOPS, and 4 us.
    GpuSpec gpu = round_gpu();
    const Kernel product = gemm("test", GemmRole::forward, 1024, 1024, 1024);
    CHECK(kernel_time(gpu, product, KernelStyle::fused) ==
          Approx(4e-6 + 2 * 1024.0 * 1024 * 1024 / 100e12));
    // Its 64 tiles keep half of 128 multiprocessors busy.
    gpu.multiprocessors = 128;
    CHECK(kernel_time(gpu, product, KernelStyle::fused) ==
          Approx(4e-6 + 2 * 1024.0 * 1024 * 1024 / 50e12));
}

TEST_CASE("kernel time: a thin product takes the time of its bytes", "[machine]") {
    // One token through 4096 x 4096 weights: 33.6 MB over 1 TB/s; its 33.6 MFLOP take 0.3 us.
    CHECK(kernel_time(round_gpu(), gemm("test", GemmRole::forward, 1, 4096, 4096),
                      KernelStyle::fused) == Approx(4e-6 + 2 * (4096.0 * 4096 + 2 * 4096) / 1e12));
}

TEST_CASE(
    "kernel time: what a product adds takes the time of its bytes in addition, also when "
    "arithmetic limits",
    "[machine]") {
    // 1024 x 1024 elements over 1 TB/s: 2 bytes each read by forward; 6 more each by a gradient's
    // sum in fp32.
    const auto extra = [](GemmRole role) {
        const Kernel product = gemm("test", role, 1024, 1024, 1024);
        return kernel_time(round_gpu(), with_addend(product), KernelStyle::fused) -
               kernel_time(round_gpu(), product, KernelStyle::fused);
    };
    CHECK(extra(GemmRole::forward) == Approx(2 * 1024.0 * 1024 / 1e12));
    CHECK(extra(GemmRole::weight_gradient) == Approx(6 * 1024.0 * 1024 / 1e12));
}

TEST_CASE("kernel time: elementwise work takes bytes over bandwidth and its launches",
          "[machine]") {
    CHECK(kernel_time(round_gpu(), memory_bound("norm", 5e6, 3), KernelStyle::fused) ==
          Approx(3e-6 + 5e-6));
}

TEST_CASE("kernel time: multiprocessors do work as fast as the H200's, whatever the memory's rate",
          "[machine]") {
    GpuSpec gpu = round_gpu();
    gpu.multiprocessors = 66;  // half of the H200's, which copies 4.26 TB/s
    Kernel norm = memory_bound("norm", 5e6);
    norm.work_bytes = 2.13e6;
    CHECK(kernel_time(gpu, norm, KernelStyle::eager) == Approx(1e-6 + 5e-6 + 1e-6));
    gpu.memory_bandwidth = 2e12;
    CHECK(kernel_time(gpu, norm, KernelStyle::eager) == Approx(1e-6 + 2.5e-6 + 1e-6));
    gpu.multiprocessors = 1;  // not known: work is as fast as memory
    CHECK(kernel_time(gpu, norm, KernelStyle::eager) == Approx(1e-6 + 2.5e-6 + 1.065e-6));
}

TEST_CASE("kernel time: attention takes the rate of its style, direction and length", "[machine]") {
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

TEST_CASE("kernel time: narrow heads reach a share of attention's rate, wide ones no more",
          "[machine]") {
    const GpuSpec gpu = round_gpu();  // share at head_dim 64: 0.8
    const auto time = [&](std::int64_t head_dim) {
        const Kernel kernel = attention(KernelKind::attention_forward, 1024, head_dim, 1e9);
        return kernel_time(gpu, kernel, KernelStyle::fused) - gpu.launch;
    };
    CHECK(time(128) == Approx(1e9 / 50e12));
    CHECK(time(64) == Approx(1e9 / (50e12 * 0.8)));
    CHECK(time(96) == Approx(1e9 / (50e12 * 0.9)));  // half way
    CHECK(time(16) == Approx(time(64)));             // not measured: no less than at 64
    CHECK(time(256) == Approx(time(128)));
}

TEST_CASE("kernel time: attention over little work is bound by its bytes", "[machine]") {
    Kernel kernel = attention(KernelKind::attention_forward, 1024, 128, 1e6);
    kernel.bytes = 1e9;
    CHECK(kernel_time(round_gpu(), kernel, KernelStyle::fused) == Approx(1e-6 + 1e-3));
}

TEST_CASE("copy rate: the full rate times the share that so many bytes reach", "[machine]") {
    CHECK(copy_rate(50e9, {}, 100) == 50e9);  // no curve
    const Interpolated share({{1e4, 0.2}, {1e6, 1}});
    CHECK(copy_rate(50e9, share, 1e4) == Approx(10e9));
    CHECK(copy_rate(50e9, share, 1e5) == Approx(30e9));
    CHECK(copy_rate(50e9, share, 1e9) == 50e9);
}

}  // namespace sluice
