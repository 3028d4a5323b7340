// Do large products sustain more of their rate at more watts per TFLOPS? How fast is FP8?
#include <cmath>
#include <optional>

#include "sim/specs/machine/kernel_time.h"
#include "tests/sim/specs/machine/small_profile.h"
#include "tests/sim/specs/model/input_error_of.h"

namespace sluice {

using nlohmann::json;

TEST_CASE("machine spec: products sustain more at more watts per TFLOPS, at most the best",
          "[machine]") {
    const auto tflops = [](double power, std::optional<double> best) {
        json profile = small_profile();
        profile["gpu"]["tdp_w"] = measured_number(power);
        if (best) profile["gpu"]["bf16_achieved_gemm_tflops"] = measured_number(*best);
        return resolve(profile).gpu.gemm_flops_per_s / 1e12;
    };
    CHECK(tflops(700, std::nullopt) == Approx(671.2).epsilon(1e-4));
    CHECK(tflops(350, std::nullopt) == Approx(671.2 * std::pow(2, -0.21)).epsilon(1e-4));
    CHECK(tflops(700, 794.5) == Approx(671.2).epsilon(1e-4));
    CHECK(tflops(7000, 794.5) == Approx(794.5));
}

TEST_CASE("machine spec: FP8 may be as fast as sums in fp16 where a GPU has them, no faster",
          "[machine]") {
    json profile = small_profile();
    const auto refused = [&](double tflops, const char* why) {
        profile["kernels"]["fp8_gemm_sustained_tflops"] = measured_number(tflops);
        CHECK_THAT(input_error_of([&] { resolve(profile); }), ContainsSubstring(why));
    };
    // The rate of an RTX 4090.
    profile["gpu"]["fp8_dense_tflops"] = measured_number(330.3);
    refused(640, "expected at most 1.1 times gpu.fp8_dense_tflops, which is 330.3");
    profile["gpu"]["fp8_fp16_sums_tflops"] = measured_number(660.6);
    refused(800, "expected at most 1.1 times gpu.fp8_fp16_sums_tflops, which is 660.6");
    profile["kernels"]["fp8_gemm_sustained_tflops"] = measured_number(640);
    CHECK(resolve(profile).gpu.fp8_gemm_flops_per_s == Approx(640e12));
}

TEST_CASE("machine spec: FP8 is as much faster as on the datasheet, but less at the power limit",
          "[machine]") {
    json profile = small_profile();
    profile["gpu"]["fp8_dense_tflops"] = measured_number(2 * 989);
    profile["gpu"]["bf16_achieved_gemm_tflops"] = measured_number(794.5);
    const auto ratio = [&](double power) {
        profile["gpu"]["tdp_w"] = measured_number(power);
        const GpuSpec gpu = resolve(profile).gpu;
        return gpu.fp8_gemm_flops_per_s / gpu.gemm_flops_per_s;
    };
    CHECK(ratio(700) == Approx(1262.5 / 666));
    CHECK(ratio(7000) == Approx(2));
}

TEST_CASE("machine spec: kernels that write codes of FP8 have a rate of their own if measured",
          "[machine]") {
    json profile = small_profile();
    const Kernel cast = cast_to_fp8(1e9, 2, true), plain = memory_bound("", cast.bytes, 3);
    const auto seconds = [&](const Kernel& kernel) {
        return kernel_time(resolve(profile).gpu, kernel, KernelStyle::fused);
    };
    CHECK(seconds(cast) == seconds(plain));
    const GpuSpec gpu = resolve(profile).gpu;
    profile["kernels"]["fp8_cast_gb_per_s"] = measured_number(3000);
    CHECK(seconds(cast) == Approx(3 * gpu.launch + 7e9 / 3e12));
    CHECK(seconds(plain) == Approx(3 * gpu.launch + 7e9 / gpu.memory_bandwidth));
}

}  // namespace sluice
