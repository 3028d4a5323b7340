// Does the example datasheet give a machine that published figures of it confirm?
#include "calibrate/transfer/transfer_profile.h"
#include "sim/base/json_object.h"
#include "sim/specs/machine/kernel_time.h"
#include "sim/specs/machine/machine_spec.h"
#include "tests/catch.h"

namespace sluice {

TEST_CASE("transfer: the example datasheet works with the measured profile of the library",
          "[transfer]") {
    const auto value_of = [](const MachineProfile& of, std::string_view path) {
        const Quantity* quantity = of.find(path);
        REQUIRE((quantity != nullptr && quantity->value));
        return *quantity->value;
    };
    const std::string root = SLUICE_SOURCE_DIR;
    const std::string from = root + "/hwprofiles/h200-pcie5-16vcpu-128gib.json";
    const std::string to = root + "/calibrate/transfer/b200.json";
    const std::string text =
        transfer_profile({read_text_file(from), from}, {read_text_file(to), to}, "2026-11-21");
    const MachineProfile profile = parse_machine_profile(text, "b200.json", "b200");
    // Published for the B200: 1745 TFLOPS, in a short burst as the H200's 788. The rate measured at
    // the clock of training is as far below on both.
    const double measured = value_of(parse_machine_profile(read_text_file(from), from, "h200"),
                                     "gpu.bf16_achieved_gemm_tflops");
    CHECK(value_of(profile, "gpu.bf16_achieved_gemm_tflops") ==
          Approx(1745 * measured / 788).epsilon(0.06));

    // Its clock falls as the H200's does, at 1000 W instead of 700.
    const MachineSpec b200 = resolve_machine(profile);
    const MachineSpec h200 = resolve_machine(read_machine_profile("h200-pcie5-16vcpu-128gib"));
    CHECK(b200.gpu.clock.limit_w == Approx(h200.gpu.clock.limit_w / 0.7));
    CHECK(b200.gpu.clock.headroom_j == Approx(h200.gpu.clock.headroom_j / 0.7));
    CHECK(b200.gpu.clock.time_share == h200.gpu.clock.time_share);
    const KernelList product = {gemm("product", GemmRole::forward, 32768, 8192, 8192)};
    const KernelCost fast = kernels_cost(b200.gpu, product, KernelStyle::fused);
    const KernelCost slow = kernels_cost(h200.gpu, product, KernelStyle::fused);
    CHECK(slow.at_limit / fast.at_limit == Approx(2250.0 / 989).epsilon(0.1));
    // Powers of large products: above the limit at the highest clock, not far from it after.
    CHECK(fast.joules / fast.seconds > 1.1 * b200.gpu.clock.limit_w);
    CHECK(fast.joules * b200.gpu.clock.energy_share / fast.at_limit ==
          Approx(b200.gpu.clock.limit_w).epsilon(0.15));
}

}  // namespace sluice
