// Do large products sustain more of their rate at more watts per TFLOPS?
#include <cmath>
#include <optional>

#include "tests/sim/specs/machine/small_profile.h"

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

}  // namespace sluice
