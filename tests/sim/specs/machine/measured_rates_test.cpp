// Is a single rate that cannot be true refused, with how to measure it again?
#include "tests/sim/specs/machine/small_profile.h"
#include "tests/sim/specs/model/input_error_of.h"

namespace sluice {

using nlohmann::json;

TEST_CASE("machine profile: what is measured is not above what the vendor states", "[machine]") {
    json profile = small_profile();
    profile["link"]["host_to_device_gb_per_s"] = measured_number(69);  // of 63, and a tenth
    CHECK_NOTHROW(parse_profile(profile));
    profile["link"]["host_to_device_gb_per_s"] = measured_number(5500);
    const std::string link = input_error_of([&] { parse_profile(profile); });
    CHECK_THAT(link, ContainsSubstring("link.host_to_device_gb_per_s is 5500"));
    CHECK_THAT(link, ContainsSubstring("link.raw_per_direction_gb_per_s, which is 63"));
    CHECK_THAT(link, ContainsSubstring("sluice-calibrate --only copies"));
    profile = small_profile();
    profile["kernels"]["gemm_sustained_tflops"] = measured_number(6e5);
    CHECK_THAT(input_error_of([&] { parse_profile(profile); }), ContainsSubstring("--only gemm"));
}

TEST_CASE("machine profile: a wrong rate says which case measures it", "[machine]") {
    json profile = small_profile();
    profile["link"]["device_to_host_gb_per_s"] = measured_number(-5);
    CHECK_THAT(input_error_of([&] { parse_profile(profile); }),
               ContainsSubstring("link.device_to_host_gb_per_s.value is -5") &&
                   ContainsSubstring("sluice-calibrate --only copies"));
}

}  // namespace sluice
