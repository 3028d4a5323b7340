// How do a profile's numbers describe the GPU's clock, and what do kernels cost at both clocks? By
// hand.
#include "sim/specs/machine/kernel_time.h"
#include "sim/specs/machine/machine_spec.h"
#include "tests/sim/specs/machine/measured_kernels.h"
#include "tests/sim/specs/machine/small_profile.h"
#include "tests/sim/specs/model/input_error_of.h"

namespace sluice {
namespace {

using nlohmann::json;

json profile_with_clock() {
    json profile = small_profile();
    add_clock_numbers(profile);
    return profile;
}

constexpr const char* kClockNumbers[] = {"kernels.rested_time_share",
                                         "power.headroom_j",
                                         "power.idle_w",
                                         "power.gemm_w",
                                         "power.gemm_rested_w",
                                         "power.gemm_rested_joules_per_tflop",
                                         "power.attention_w",
                                         "power.attention_joules_per_tflop",
                                         "power.memory_w",
                                         "power.memory_joules_per_gb"};

bool rests_on(const MachineSpec& machine, const std::string& path) {
    return std::count(machine.inputs.begin(), machine.inputs.end(), path) == 1;
}

/// 100 TFLOPS at the limit and 1 TB/s, one multiprocessor; at the highest clock 0.8 of the time.
GpuSpec gpu() {
    GpuSpec gpu;
    gpu.gemm_flops_per_s = 100e12;
    gpu.memory_bandwidth = 1e12;
    gpu.multiprocessors = 1;
    gpu.gemm_overhead = 0;
    gpu.launch = 1e-6;
    gpu.eager_launch = 5e-6;
    gpu.clock.headroom_j = 15;
    gpu.clock.idle_w = 100;
    gpu.clock.time_share = 0.8;
    gpu.clock.joules_per_flop = 1e-12;
    gpu.clock.joules_per_flop_of_attention = 3e-12;
    gpu.clock.joules_per_byte = 2e-10;
    gpu.fused_attention = {Interpolated({{1, 50e12}}), Interpolated({{1, 50e12}})};
    return gpu;
}

/// 1 GFLOP, 4 MB: 10 us of arithmetic, 4 us of memory.
Kernel product() { return gemm("test", GemmRole::forward, 1000, 1000, 500); }

/// Any product of the forward pass was measured to take so many microseconds.
GpuSpec measured(double us) {
    GpuSpec out = gpu();
    std::vector<double> trend(kernel_feature_names(KernelTableId::gemm_forward).size(), 0);
    trend.front() = us;
    out.tables[static_cast<std::size_t>(KernelTableId::gemm_forward)] =
        trend_only(std::move(trend));
    return out;
}

KernelCost cost_of(const GpuSpec& gpu, const Kernel& kernel) {
    return kernels_cost(gpu, {kernel}, KernelStyle::fused);
}

}  // namespace

TEST_CASE("clock: energies are those in addition to idle power", "[machine]") {
    const ClockSpec clock = resolve(profile_with_clock()).gpu.clock;
    CHECK(clock.headroom_j == 15);
    CHECK(clock.idle_w == 100);
    CHECK(clock.limit_w == 700);
    CHECK(clock.time_share == 0.8);
    CHECK(clock.energy_share == Approx(700.0 / (1000 * 0.8)));
    // Idling takes a sixth of 0.2 J a GB at 600 W, a fifth of 1.5 J a TFLOP at 500 W, and of 1.2 at
    // 1000 W a tenth; the product calibrated moves three bf16 matrices of 8192 x 8192: 3 / 8192
    // byte a FLOP, 0.061 J a TFLOP.
    CHECK(clock.joules_per_byte == Approx(0.2e-9 * 5 / 6));
    CHECK(clock.joules_per_flop_of_attention == Approx(1.2e-12));
    CHECK(clock.joules_per_flop == Approx(1.08e-12 - 0.2e-9 * 5 / 6 * 3 / 8192));
}

TEST_CASE("clock: it is off where one of its numbers is missing, and rests on none", "[machine]") {
    const MachineSpec whole = resolve(profile_with_clock());
    for (const char* path : kClockNumbers) CHECK(rests_on(whole, path));
    for (const std::string missing : kClockNumbers) {
        CAPTURE(missing);
        json profile = profile_with_clock();
        const std::size_t dot = missing.find('.');
        profile[missing.substr(0, dot)].erase(missing.substr(dot + 1));
        const MachineSpec machine = resolve(profile);
        CHECK(machine.gpu.clock.headroom_j == 0);
        CHECK(machine.gpu.clock.time_share == 1);
        for (const char* path : kClockNumbers) CHECK_FALSE(rests_on(machine, path));
    }
}

TEST_CASE("clock: all its numbers can be given by --set", "[machine]") {
    MachineProfile profile = parse_profile(small_profile());
    const MachineProfile given = parse_profile(profile_with_clock());
    for (const char* path : kClockNumbers) {
        CHECK(resolve_machine(profile).gpu.clock.headroom_j == 0);
        profile.set(path, *given.find(path)->value);
    }
    const ClockSpec clock = resolve_machine(profile).gpu.clock;
    CHECK(clock.headroom_j == 15);
    CHECK(clock.joules_per_flop_of_attention == Approx(1.2e-12));
}

TEST_CASE("clock: numbers that contradict each other are refused", "[machine]") {
    struct Mistake {
        const char* path;
        double value;
        const char* message;
    };
    for (const auto& [path, value, message] : std::vector<Mistake>{
             {"kernels.rested_time_share", 1.2,
              "my/machine.json: kernels.rested_time_share is 1.2, expected at most 1"},
             {"power.gemm_rested_w", 650,
              "power.gemm_rested_w is 650, expected more than power.gemm_w, which is 700"},
             {"power.idle_w", 650,
              "power.memory_w is 600, expected more than power.idle_w, which is 650"},
             {"power.gemm_w", 90,
              "power.gemm_w is 90, expected more than power.idle_w, which is 100"}}) {
        CAPTURE(path);
        MachineProfile profile = parse_profile(profile_with_clock());
        profile.set(path, value);
        const std::string error = input_error_of([&] { resolve_machine(profile); });
        CHECK_THAT(error, ContainsSubstring(message));
        CHECK_THAT(error, ContainsSubstring("sluice-calibrate --only clock,power"));
    }
}

TEST_CASE("kernel cost: a rate is of the power limit, a measured time of the highest clock",
          "[machine]") {
    // By its rate 10 us at the limit, of which memory's 4 us stay.
    const KernelCost by_rate = cost_of(gpu(), product());
    CHECK(by_rate.at_limit == Approx(10e-6));
    CHECK(by_rate.seconds == Approx(4e-6 + 0.8 * 6e-6));
    const KernelCost by_table = cost_of(measured(15), product());
    CHECK(by_table.seconds == Approx(15e-6));
    CHECK(by_table.at_limit == Approx(4e-6 + 11e-6 / 0.8));
    // Another role's table is empty.
    const Kernel other = gemm("test", GemmRole::input_gradient, 1000, 1000, 500);
    CHECK(cost_of(measured(15), other).at_limit == Approx(10e-6));
}

TEST_CASE("kernel cost: the time in which memory moves bytes is the same at both clocks",
          "[machine]") {
    // 5 MB at 1 TB/s beside 1 us of launch.
    const KernelCost copy = cost_of(gpu(), memory_bound("copy", 5e6));
    CHECK(copy.at_limit == Approx(6e-6));
    CHECK(copy.seconds == Approx(5e-6 + 0.8e-6));
    // Quicker than memory, from the caches: nothing of it is said to depend on the clock.
    const KernelCost cached = cost_of(measured(3), product());
    CHECK(cached.seconds == Approx(3e-6));
    CHECK(cached.at_limit == Approx(3e-6));
}

TEST_CASE("kernel cost: energy goes by time, FLOPs and bytes, and adds up over a list",
          "[machine]") {
    // 15 us x 100 W, 1 GFLOP at 1 pJ, 4 MB at 0.2 nJ.
    const double joules = 1.5e-3 + 1e-3 + 0.8e-3;
    CHECK(cost_of(measured(15), product()).joules == Approx(joules));
    const KernelCost twice = kernels_cost(measured(15), {product(), product()}, KernelStyle::fused);
    CHECK(twice.joules == Approx(2 * joules));
    CHECK(twice.seconds == Approx(30e-6));
    CHECK(twice.at_limit == Approx(2 * (4e-6 + 11e-6 / 0.8)));
}

TEST_CASE("kernel cost: a FLOP of attention has an energy of its own", "[machine]") {
    for (const KernelKind kind : {KernelKind::attention_forward, KernelKind::attention_backward}) {
        Kernel attention = product();
        attention.kind = kind;
        attention.sequence = 1024;
        attention.head_dim = 128;
        attention.launches = 0;
        const KernelCost cost = cost_of(gpu(), attention);
        CHECK(cost.joules == Approx(100 * cost.seconds + 3e-3 + 0.8e-3));
    }
}

TEST_CASE("kernel cost: without the clock's numbers both clocks are one", "[machine]") {
    for (GpuSpec plain : {gpu(), measured(15)}) {
        plain.clock = {};
        const KernelCost cost = cost_of(plain, product());
        CHECK(cost.seconds == Approx(kernel_time(plain, product(), KernelStyle::fused)));
        CHECK(cost.at_limit == Approx(cost.seconds));
    }
}

}  // namespace sluice
