// Does a rule fill every gap of a profile, with an assumption and less confidence?
#include "sim/specs/machine/machine_spec.h"

#include <algorithm>

#include "sim/specs/machine/default_host.h"
#include "tests/sim/specs/machine/small_profile.h"
#include "tests/sim/specs/model/input_error_of.h"

namespace sluice {
namespace {

using nlohmann::json;

/// The H200 whose ratios are the rules of transfer, as it was measured before there was a
/// calibration.
const MachineProfile& h200_by_hand() {
    static const MachineProfile profile =
        read_machine_profile(SLUICE_SOURCE_DIR "/tests/sim/specs/machine/h200_by_hand.json");
    return profile;
}

double h200(const char* path) {
    const Quantity* quantity = h200_by_hand().find(path);
    REQUIRE(quantity != nullptr);
    REQUIRE(quantity->value);
    return *quantity->value;
}

}  // namespace

TEST_CASE("machine spec: numbers of the profile are converted to bytes and seconds", "[machine]") {
    json profile = small_profile();
    profile["gpu"]["memory_bandwidth_achieved_gb_per_s"] = measured_number(4000);
    profile["gpu"]["context_gb"] = measured_number(0.5);
    profile["gpu"]["multiprocessors"] = measured_number(132);
    profile["kernels"] = {{"gemm_sustained_tflops", measured_number(600)},
                          {"gemm_overhead_us", measured_number(4)},
                          {"attention_narrow_head_share", measured_number(0.75)},
                          {"launch_us", measured_number(3)},
                          {"eager_launch_us", measured_number(6)},
                          {"first_step_extra_s", measured_number(0.25)}};
    profile["link"]["host_to_device_gb_per_s"] = measured_number(50);
    profile["link"]["device_to_host_gb_per_s"] = measured_number(52);
    profile["link"]["both_ways_host_to_device_gb_per_s"] = measured_number(40);
    profile["link"]["both_ways_device_to_host_gb_per_s"] = measured_number(41);
    profile["link"]["other"]["pageable_host_to_device_gb_per_s"] = measured_number(9);
    profile["host"]["memory_bandwidth_stream_gb_per_s"] = measured_number(180);
    const MachineSpec machine = resolve(profile);
    CHECK(machine.gpu.memory_capacity == 80'000'000'000);
    CHECK(machine.gpu.memory_bandwidth == 4000e9);
    CHECK(machine.gpu.context == 500'000'000);
    CHECK(machine.gpu.multiprocessors == 132);
    CHECK(machine.gpu.gemm_flops_per_s == 600e12);
    CHECK(machine.gpu.gemm_overhead == Approx(4e-6));
    CHECK(machine.gpu.narrow_head_share == 0.75);
    CHECK(machine.gpu.launch == Approx(3e-6));
    CHECK(machine.gpu.eager_launch == Approx(6e-6));
    CHECK(machine.gpu.first_step_extra == 0.25);
    CHECK(machine.link.host_to_device == 50e9);
    CHECK(machine.link.device_to_host == 52e9);
    CHECK(machine.link.both_ways_total == 81e9);
    CHECK(machine.link.pageable_host_to_device == 9e9);
    CHECK(machine.host.memory_capacity == 256'000'000'000);
    CHECK(machine.host.dram_bandwidth == Approx(0.74 * 180e9));
    CHECK(machine.host.cores == 8);
    CHECK_FALSE(machine.unified_memory);
}

TEST_CASE("machine spec: gaps are filled by the ratios of the measured H200", "[machine]") {
    // The small profile has the H200's datasheet rates, so it must get about its measured ones.
    const MachineSpec machine = resolve(small_profile());
    REQUIRE(h200("gpu.memory_bandwidth_gb_per_s") == 4800);
    REQUIRE(h200("gpu.bf16_dense_tflops") == 989);
    REQUIRE(h200("link.raw_per_direction_gb_per_s") == 63);
    CHECK(machine.gpu.memory_bandwidth ==
          Approx(h200("gpu.memory_bandwidth_achieved_gb_per_s") * 1e9).epsilon(0.01));
    CHECK(machine.gpu.gemm_flops_per_s ==
          Approx(h200("kernels.gemm_sustained_tflops") * 1e12).epsilon(0.01));
    CHECK(machine.link.host_to_device ==
          Approx(h200("link.host_to_device_gb_per_s") * 1e9).epsilon(0.01));
    CHECK(machine.link.device_to_host ==
          Approx(h200("link.device_to_host_gb_per_s") * 1e9).epsilon(0.01));
    CHECK(machine.link.both_ways_total == Approx((h200("link.both_ways_host_to_device_gb_per_s") +
                                                  h200("link.both_ways_device_to_host_gb_per_s")) *
                                                 1e9)
                                              .epsilon(0.01));
    // And it says so.
    CHECK(machine.confidence == Confidence::transferred);
    CHECK(assumes(machine, "4800 GB/s"));
    CHECK(assumes(machine, "989 TFLOPS"));
    CHECK(assumes(machine, "63 GB/s"));
    CHECK(assumes(machine, "attention"));
}

TEST_CASE("machine spec: what no profile says is as on the measured H200", "[machine]") {
    // The numbers stand in machine_spec.cpp and in the profile; this holds them together.
    json profile = small_profile();
    profile["kernels"]["gemm_sustained_tflops"] =
        measured_number(h200("kernels.gemm_sustained_tflops"));
    profile["host"]["memory_bandwidth_shared_gb_per_s"] =
        measured_number(h200("host.memory_bandwidth_shared_gb_per_s"));
    profile["host"]["adam_gparams_per_s"] = measured_number(1);
    const MachineSpec machine = resolve(profile);
    const GpuSpec& gpu = machine.gpu;
    const HostSpec& host = machine.host;
    CHECK(gpu.context == Approx(h200("gpu.context_gb") * 1e9));
    CHECK(gpu.gemm_overhead == Approx(h200("kernels.gemm_overhead_us") * 1e-6));
    CHECK(gpu.launch == Approx(h200("kernels.launch_us") * 1e-6));
    CHECK(gpu.eager_launch == Approx(h200("kernels.eager_launch_us") * 1e-6));
    CHECK(gpu.narrow_head_share == Approx(h200("kernels.attention_narrow_head_share")));
    CHECK(gpu.first_step_extra == Approx(h200("kernels.first_step_extra_s")));
    CHECK(machine.link.pageable_host_to_device ==
          Approx(h200("link.other.pageable_host_to_device_gb_per_s") * 1e9));
    CHECK(host.process_base == Approx(h200("host.process_base_gb") * 1e9));
    CHECK(host.system_reserve == Approx(h200("host.system_reserve_gb") * 1e9));
    CHECK(host.memory_copy == Approx(h200("host.work.copy_gb_per_s") * 1e9));
    CHECK(host.first_touch == Approx(h200("host.work.first_touch_copy_gb_per_s") * 1e9));
    CHECK(host.zero == Approx(h200("host.work.zero_gb_per_s") * 1e9));
    CHECK(host.release == Approx(h200("host.work.release_gb_per_s") * 1e9));
    CHECK(host.norm_and_scale == Approx(h200("host.work.norm_and_scale_gb_per_s") * 1e9));
    CHECK(host.eager_adam_bytes_per_s == Approx(h200("host.work.bf16_master_adam_gb_per_s") * 1e9));
    CHECK(host.adam_bytes_per_s.at(8) == Approx(h200("host.adam_bytes_per_parameter") * 1e9));
}

TEST_CASE("machine spec: attention without a curve is that of the measured H200", "[machine]") {
    json profile = small_profile();
    profile["kernels"]["gemm_sustained_tflops"] =
        measured_number(h200("kernels.gemm_sustained_tflops"));
    const GpuSpec gpu = resolve(profile).gpu;
    const GpuSpec measured = resolve_machine(h200_by_hand()).gpu;
    const auto same = [](const Interpolated& a, const Interpolated& b) {
        for (const auto& [sequence, rate] : b.points()) {
            CAPTURE(sequence);
            CHECK(a.at(sequence) == Approx(rate));
        }
    };
    same(gpu.fused_attention.forward, measured.fused_attention.forward);
    same(gpu.fused_attention.backward, measured.fused_attention.backward);
    same(gpu.flash_attention.forward, measured.flash_attention.forward);
    same(gpu.flash_attention.backward, measured.flash_attention.backward);
}

TEST_CASE("machine spec: a measured best product is trusted above the datasheet", "[machine]") {
    json profile = small_profile();
    profile["gpu"]["bf16_achieved_gemm_tflops"] =
        measured_number(h200("gpu.bf16_achieved_gemm_tflops") / 2);
    CHECK(resolve(profile).gpu.gemm_flops_per_s ==
          Approx(h200("kernels.gemm_sustained_tflops") / 2 * 1e12).epsilon(0.01));
}

TEST_CASE("machine spec: attention scales with the matrix rate", "[machine]") {
    json half = small_profile();
    half["gpu"]["bf16_dense_tflops"] = measured_number(989 / 2.0);
    const GpuSpec full_gpu = resolve(small_profile()).gpu;
    const GpuSpec half_gpu = resolve(half).gpu;
    for (const double sequence : {512.0, 3000.0, 1e6}) {
        CAPTURE(sequence);
        CHECK(half_gpu.fused_attention.forward.at(sequence) * 2 ==
              Approx(full_gpu.fused_attention.forward.at(sequence)));
        CHECK(half_gpu.flash_attention.backward.at(sequence) * 2 ==
              Approx(full_gpu.flash_attention.backward.at(sequence)));
    }
}

TEST_CASE("machine spec: a machine's own attention curve is used as it stands", "[machine]") {
    json profile = small_profile();
    profile["kernels"]["attention_cudnn_forward_tflops_by_sequence"] =
        measured_points({{1000, 100}, {100'000, 300}});
    const GpuSpec gpu = resolve(profile).gpu;
    CHECK(gpu.fused_attention.forward.at(1000) == 100e12);
    CHECK(gpu.fused_attention.forward.at(10'000) == Approx(200e12));
}

TEST_CASE("machine spec: the curve of the link becomes shares of the full rate", "[machine]") {
    json profile = small_profile();
    profile["link"]["host_to_device_gb_per_s"] = measured_number(50);
    profile["link"]["curve"]["host_to_device_gb_per_s_by_bytes"] =
        measured_points({{1000, 10}, {100'000, 60}, {1'000'000, 40}});
    const LinkSpec link = resolve(profile).link;
    CHECK(link.share_to_device_by_bytes.at(1000) == Approx(0.2));
    CHECK(link.share_to_device_by_bytes.at(10'000) == Approx(0.6));
    CHECK(link.share_to_device_by_bytes.at(100'000) == 1);  // at most
    CHECK(link.share_to_device_by_bytes.at(1e9) == Approx(0.8));
}

TEST_CASE("machine spec: the optimizer's rate by threads is that of the curve", "[machine]") {
    json profile = small_profile();
    profile["host"]["adam_bytes_per_parameter"] = measured_number(20);
    profile["host"]["adam_gparams_per_s_by_threads"] =
        measured_points({{1, 0.5}, {4, 2}, {8, 1.5}});
    const HostSpec host = resolve(profile).host;
    CHECK(host.best_adam_threads == 4);  // not the most, but the fastest
    CHECK(host.adam_threads_after_norm == 4);
    profile["host"]["cores"] = measured_number(5);
    CHECK(resolve(profile).host.best_adam_threads == 1);
    CHECK(resolve(profile).host.adam_threads_after_norm == 4);
    CHECK(host.adam_bytes_per_s.at(4) == Approx(2e9 * 20));
    CHECK(host.adam_bytes_per_s.at(2) == Approx(1.25e9 * 20));
}

TEST_CASE("machine spec: without a curve each optimizer thread moves what one of the H200's does",
          "[machine]") {
    json profile = small_profile();
    profile["host"]["adam_gparams_per_s"] = measured_number(3);
    profile["host"]["adam_bytes_per_parameter"] = measured_number(20);
    const HostSpec host = resolve(profile).host;
    // 60 GB/s at 24.8 GB/s a thread: three threads.
    CHECK(host.best_adam_threads == 3);
    CHECK(host.adam_bytes_per_s.at(1) == Approx(24.83e9));
    CHECK(host.adam_bytes_per_s.at(2) == Approx(49.66e9));
    CHECK(host.adam_bytes_per_s.at(8) == Approx(60e9));
    profile["host"]["cores"] = measured_number(2);
    CHECK(resolve(profile).host.adam_bytes_per_s.at(2) == Approx(49.66e9));
}

TEST_CASE("machine spec: unified memory shares one rate between both directions", "[machine]") {
    json profile = small_profile();
    profile["host"]["unified_memory"] = true;
    profile["link"]["raw_per_direction_gb_per_s"] = measured_number(320);
    profile["link"]["host_to_device_gb_per_s"] = measured_number(300);
    profile["link"]["device_to_host_gb_per_s"] = measured_number(310);
    profile["host"]["memory_bandwidth_stream_gb_per_s"] = measured_number(250);
    const MachineSpec machine = resolve(profile);
    CHECK(machine.unified_memory);
    CHECK(machine.link.both_ways_total == 310e9);
    // Copies go through the one pool, twice: they cannot be faster than it.
    CHECK(machine.host.dram_bandwidth == 250e9);
    CHECK(machine.host.copy_weight == 2);
    profile["host"]["unified_memory"] = false;
    CHECK(resolve(profile).host.dram_bandwidth == 310e9);
    CHECK(resolve(profile).host.copy_weight == 1);
}

TEST_CASE("machine spec: a required number that is missing or null is named", "[machine]") {
    for (const char* pointer :
         {"/gpu/memory_capacity_gb", "/gpu/memory_bandwidth_gb_per_s", "/gpu/bf16_dense_tflops",
          "/link/raw_per_direction_gb_per_s", "/host/cores", "/host/memory_capacity_gb",
          "/host/memory_bandwidth_gb_per_s"}) {
        CAPTURE(pointer);
        std::string path = std::string(pointer).substr(1);
        path[path.find('/')] = '.';

        json null = small_profile();
        null[json::json_pointer(pointer)]["value"] = nullptr;
        null[json::json_pointer(pointer)]["note"] = "the reason why";
        CHECK_THAT(input_error_of([&] { resolve(null); }),
                   ContainsSubstring("my/machine.json: " + path) &&
                       ContainsSubstring("the reason why") && ContainsSubstring("give "));

        json missing = small_profile();
        const json::json_pointer at(pointer);
        missing[at.parent_pointer()].erase(at.back());
        CHECK_THAT(input_error_of([&] { resolve(missing); }),
                   ContainsSubstring("my/machine.json: " + path) && ContainsSubstring("missing"));
    }
}

TEST_CASE("machine spec: a machine sold without memory has a default host, or asks for it",
          "[machine]") {
    MachineProfile profile = read_machine_profile("rtx-4090");
    CHECK(host_memory_words(host_memory_of(profile)) == "128.0 GB, assumed");
    CHECK(host_memory_words(host_memory_of(read_machine_profile("rtx-4090-64gb"))) == "64.0 GB");
    const auto assumptions = resolve_machine(profile).assumptions;
    CHECK(std::ranges::count(assumptions,
                             "host memory is 128.0 GB (assumed: four DIMMs of 32 GB; give "
                             "--host-memory for another)") == 1);
    for (Quantity& quantity : profile.quantities)
        if (quantity.path == "host.memory_capacity_gb") quantity.value.reset();
    CHECK_THAT(input_error_of([&] { resolve_machine(profile); }),
               ContainsSubstring("hwprofiles/rtx-4090.json") &&
                   ContainsSubstring("host.memory_capacity_gb") &&
                   ContainsSubstring("--host-memory 1TB"));
    CHECK(resolve_machine(read_machine_profile("rtx-4090-64gb")).host.memory_capacity ==
          64'000'000'000);
}

TEST_CASE("machine spec: Apple publishes no bf16 rate, and how to give one is stated",
          "[machine]") {
    MachineProfile profile = read_machine_profile("apple-m3-ultra");
    CHECK_THAT(input_error_of([&] { resolve_machine(profile); }),
               ContainsSubstring("hwprofiles/apple-m3-ultra.json") &&
                   ContainsSubstring("gpu.bf16_dense_tflops") &&
                   ContainsSubstring("not published") &&
                   ContainsSubstring("--set gpu.bf16_dense_tflops="));
    profile.set("gpu.bf16_dense_tflops", 28);
    const MachineSpec machine = resolve_machine(profile);
    CHECK(machine.unified_memory);
    CHECK(machine.gpu.gemm_flops_per_s < 28e12);
}

}  // namespace sluice
