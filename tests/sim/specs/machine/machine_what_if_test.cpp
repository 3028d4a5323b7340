// Which numbers can the user replace or add with --set?
#include <limits>

#include "tests/sim/specs/machine/small_profile.h"
#include "tests/sim/specs/model/input_error_of.h"

namespace sluice {

TEST_CASE("machine profile: --set replaces a number by the user's estimate", "[machine]") {
    MachineProfile profile = parse_profile(small_profile());
    profile.set("gpu.memory_capacity_gb", 96);
    CHECK(profile.find("gpu.memory_capacity_gb")->value == 96.0);
    CHECK(profile.find("gpu.memory_capacity_gb")->method == Method::estimated);
    CHECK_THAT(profile.find("gpu.memory_capacity_gb")->source, ContainsSubstring("command line"));
}

TEST_CASE("machine profile: a host's memory can be given where the profile leaves it out",
          "[machine]") {
    nlohmann::json no_memory = small_profile();
    no_memory["host"].erase("memory_capacity_gb");
    MachineProfile profile = parse_profile(no_memory);
    REQUIRE(profile.find("host.memory_capacity_gb") == nullptr);
    profile.set("host.memory_capacity_gb", 512);
    REQUIRE(profile.find("host.memory_capacity_gb") != nullptr);
    CHECK(profile.find("host.memory_capacity_gb")->value == 512.0);
    CHECK(profile.find("host.memory_capacity_gb")->method == Method::estimated);
}

TEST_CASE("machine profile: --set adds any number that a prediction can read", "[machine]") {
    for (const std::string& path : machine_numbers()) {
        CAPTURE(path);
        MachineProfile profile = parse_profile(small_profile());
        profile.set(path, 3);
        REQUIRE(profile.find(path) != nullptr);
        CHECK(profile.find(path)->value == 3.0);
        CHECK(profile.find(path)->method == Method::estimated);
        CHECK_THAT(profile.find(path)->source, ContainsSubstring("command line"));
    }
    MachineProfile profile = parse_profile(small_profile());
    const std::size_t before = profile.quantities.size();
    CHECK_THAT(input_error_of([&] { profile.set("kernels.launch_us", -1); }),
               ContainsSubstring("kernels.launch_us is -1"));
    CHECK_THAT(input_error_of([&] { profile.set("kernels.lanch_us", 1); }),
               ContainsSubstring("did you mean \"kernels.launch_us\"?"));
    // Reference numbers can be set only where the profile has them.
    CHECK_THAT(input_error_of([&] { profile.set("gpu.fp32_tflops", 1); }),
               ContainsSubstring("has no number \"gpu.fp32_tflops\""));
    CHECK(profile.quantities.size() == before);
}

TEST_CASE("machine profile: --set of a measured link's rate takes its curve by size with it",
          "[machine]") {
    const MachineProfile measured = read_machine_profile("h200-pcie5-16vcpu-128gib");
    MachineProfile faster = measured;
    faster.set("link.host_to_device_gb_per_s",
               2 * *measured.find("link.host_to_device_gb_per_s")->value);
    const LinkSpec before = resolve_machine(measured).link, after = resolve_machine(faster).link;
    CHECK(after.host_to_device == Approx(2 * before.host_to_device));
    for (const double bytes : {1e4, 1e6, 1e8}) {
        CHECK(after.share_to_device_by_bytes.at(bytes) ==
              Approx(before.share_to_device_by_bytes.at(bytes)));
    }
    CHECK(after.share_to_host_by_bytes.at(1e6) == before.share_to_host_by_bytes.at(1e6));
}

TEST_CASE("machine profile: --set of an unknown path suggests the nearest", "[machine]") {
    MachineProfile profile = read_machine_profile("apple-m3-ultra");
    CHECK_THAT(input_error_of([&] { profile.set("gpu.bf16_dense_tflop", 28); }),
               ContainsSubstring("--set") && ContainsSubstring("apple-m3-ultra") &&
                   ContainsSubstring("\"gpu.bf16_dense_tflop\"") &&
                   ContainsSubstring("did you mean \"gpu.bf16_dense_tflops\"?") &&
                   ContainsSubstring("sluice machines show apple-m3-ultra"));
}

TEST_CASE("machine profile: a count is at least 1", "[machine]") {
    MachineProfile profile = read_machine_profile("gh200-480gb");
    for (const char* path : {"host.cores", "host.gpus", "host.sockets"})
        CHECK_THAT(input_error_of([&] { profile.set(path, 1e-12); }),
                   ContainsSubstring(std::string(path) + " is 1e-12, expected a number from 1"));
    profile.set("host.cores", 1);
}

TEST_CASE("machine profile: --set takes only what a profile may hold", "[machine]") {
    MachineProfile profile = parse_profile(small_profile());
    for (const double value : {-5.0, 0.0, 1e300, std::numeric_limits<double>::infinity(),
                               std::numeric_limits<double>::quiet_NaN()}) {
        CAPTURE(value);
        CHECK_THAT(input_error_of([&] { profile.set("gpu.memory_capacity_gb", value); }),
                   ContainsSubstring("--set") && ContainsSubstring("gpu.memory_capacity_gb"));
    }
    CHECK(profile.find("gpu.memory_capacity_gb")->value == 80.0);
}

}  // namespace sluice

namespace sluice {

TEST_CASE("machine spec: memory that such a machine cannot have is stated before all else",
          "[machine]") {
    const auto first = [](const std::string& name) {
        return resolve_machine(read_machine_profile(name)).assumptions.front();
    };
    CHECK_THAT(first("dgx-spark-gb10-1tb"),
               ContainsSubstring("host memory of 1.00 TB is more than the 128.0 GB that such a "
                                 "machine can have (soldered"));
    for (const char* possible : {"dgx-spark-gb10", "h200-sxm-pcie5-4tb", "h100-pcie-4tb"})
        CHECK_THAT(first(possible), !ContainsSubstring("such a machine can have"));
    for (const std::string& id : library_machines()) {
        CAPTURE(id);
        const MachineProfile profile = read_machine_profile(id);
        const Quantity* const most = profile.find("host.memory_capacity_most_gb");
        const Quantity* const memory = profile.find("host.memory_capacity_gb");
        if (most == nullptr || memory == nullptr || !memory->value) continue;
        CHECK(*memory->value <= *most->value);
    }
}

TEST_CASE("machine profile: what a what-if value took the place of is kept", "[machine]") {
    MachineProfile profile = read_machine_profile("gh200-480gb");
    profile.set("host.memory_capacity_gb", 600);
    profile.set("host.memory_capacity_gb", 700);
    CHECK(profile.find("host.memory_capacity_gb")->replaced == 480.0);
    CHECK(profile.find("host.memory_capacity_gb")->what_if);
    CHECK(!profile.find("host.cores")->what_if);
}

}  // namespace sluice
