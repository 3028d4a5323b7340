// How far is a machine's spec trusted, which assumptions does it state, and which numbers does it
// use?
#include <fmt/format.h>

#include <algorithm>

#include "sim/specs/machine/machine_spec.h"
#include "tests/sim/specs/machine/small_profile.h"
#include "tests/sim/specs/model/input_error_of.h"

namespace sluice {
namespace {

using nlohmann::json;

/// Every rate measured on the machine itself.
json measured_profile() {
    json profile = small_profile();
    add_clock_numbers(profile);  // numbers that must agree with each other
    for (const std::string& path : machine_numbers()) {
        std::string pointer = "/" + path;
        std::replace(pointer.begin(), pointer.end(), '.', '/');
        if (!profile.contains(json::json_pointer(pointer)))
            profile[json::json_pointer(pointer)] = measured_number(50);
    }
    profile["host"]["memory_capacity_most_gb"] = measured_number(1024);
    for (const char* name : {"flash_forward", "flash_backward", "cudnn_forward", "cudnn_backward"})
        profile["kernels"][fmt::format("attention_{}_tflops_by_sequence", name)] =
            measured_points({{1024, 300}});
    profile["link"]["curve"]["host_to_device_gb_per_s_by_bytes"] = measured_points({{1e6, 50}});
    profile["host"]["adam_gparams_per_s_by_threads"] = measured_points({{1, 1}, {8, 6}});
    return profile;
}

json measured_without(const char* pointer) {
    json profile = measured_profile();
    const json::json_pointer at(pointer);
    profile[at.parent_pointer()].erase(at.back());
    return profile;
}

bool uses(const MachineSpec& machine, const std::string& path) {
    return std::count(machine.inputs.begin(), machine.inputs.end(), path) == 1;
}

}  // namespace

TEST_CASE("confidence: where every rate is measured nothing is assumed", "[machine]") {
    const MachineSpec machine = resolve(measured_profile());
    CAPTURE(machine.assumptions);
    CHECK(machine.confidence == Confidence::measured);
    CHECK(machine.assumptions.empty());
}

TEST_CASE("confidence: each rate that is missing is stated in one sentence", "[machine]") {
    struct Gap {
        const char* pointer;
        const char* sentence;
    };
    for (const auto& [pointer, sentence] : std::vector<Gap>{
             {"/host/work/copy_gb_per_s", "host work (copy) runs at the H200 machine's rates"},
             {"/link/other/pageable_host_to_device_gb_per_s", "copies from pageable memory reach"},
             {"/link/curve", "copies reach their full rate at any size"},
             {"/kernels/attention_cudnn_forward_tflops_by_sequence", "attention (cudnn forward)"},
             {"/gpu/multiprocessors", "multiprocessors"},
             {"/kernels/launch_us", "launch overheads"},
             {"/host/adam_gparams_per_s_by_threads", "GB/s a thread, as on the H200 machine"},
             {"/host/copy_traffic_weight", "a byte copied over the link"},
             {"/link/both_ways_host_to_device_gb_per_s",
              "copies in both directions at once reach"}}) {
        CAPTURE(pointer);
        const MachineSpec machine = resolve(measured_without(pointer));
        CAPTURE(machine.assumptions);
        CHECK(machine.confidence == Confidence::transferred);
        CHECK(machine.assumptions.size() == 1);
        CHECK(assumes(machine, sentence));
        CHECK(machine.others_assumptions.empty());
    }
}

TEST_CASE("confidence: what only PyTorch's schedules rest on is stated apart and weakens no other",
          "[machine]") {
    // The streamed schedule runs neither flash attention nor eager launches, and of the host work
    // only the copy (streamed.cpp); the others are MegaTrain's.
    for (const auto& [pointer, sentence] : std::vector<std::pair<const char*, std::string>>{
             {"/host/work/zero_gb_per_s", "host work (zero) runs at the H200 machine's rates"},
             {"/kernels/attention_flash_forward_tflops_by_sequence", "attention (flash forward)"},
             {"/kernels/attention_flash_backward_tflops_by_sequence", "attention (flash backward)"},
             {"/kernels/eager_launch_us", "PyTorch's launch overheads"}}) {
        CAPTURE(pointer);
        const MachineSpec machine = resolve(measured_without(pointer));
        CHECK(machine.confidence == Confidence::measured);
        CHECK(machine.assumptions.empty());
        REQUIRE(machine.others_assumptions.size() == 1);
        CHECK_THAT(machine.others_assumptions.front(), ContainsSubstring(sentence));
    }
}

TEST_CASE("confidence: host work that moves bytes goes with host memory, page work does not",
          "[machine]") {
    const HostSpec slow = resolve_machine(read_machine_profile("h200-sxm-pcie5")).host;
    const HostSpec fast = resolve_machine(read_machine_profile("mi355x")).host;
    const double memory = 576 / 281.6;  // the peaks of both profiles
    CHECK(fast.zero / slow.zero == Approx(memory));
    CHECK(fast.scale / slow.scale == Approx(memory));
    CHECK(fast.first_touch == slow.first_touch);
    CHECK(fast.release == slow.release);
}

TEST_CASE("confidence: numbers of PyTorch's schedules only, of any method, weaken no other's",
          "[machine]") {
    for (const char* name : {"zero", "first_touch_copy", "release", "scale", "norm_and_scale",
                             "bf16_master_adam", "eager_launch_us"}) {
        const bool is_work = name != std::string("eager_launch_us");
        const std::string path =
            is_work ? fmt::format("host.work.{}_gb_per_s", name) : "kernels.eager_launch_us";
        std::string pointer = "/" + path;
        std::replace(pointer.begin(), pointer.end(), '.', '/');
        for (const char* method : {"transferred", "datasheet", "estimated"}) {
            CAPTURE(path, method);
            json profile = measured_profile();
            json& number = profile[json::json_pointer(pointer)];
            number["method"] = method;
            number["note"] = "taken from elsewhere";
            const MachineSpec machine = resolve(profile);
            CHECK(machine.confidence == Confidence::measured);
            CHECK(machine.assumptions.empty());
            REQUIRE(machine.others_assumptions.size() == 1);
            CHECK(machine.others_assumptions.front() ==
                  fmt::format("{} 50 is {} (taken from elsewhere)", path, method));
            CHECK(uses(machine, path));
            number.erase("note");  // its source instead
            CHECK_THAT(resolve(profile).others_assumptions.at(0),
                       ContainsSubstring("(measured by me)"));
        }
    }
}

TEST_CASE("confidence: host work without any rate is stated of the copy, and of others' work apart",
          "[machine]") {
    const MachineSpec machine = resolve(measured_without("/host/work"));
    CHECK(machine.confidence == Confidence::transferred);
    CHECK(machine.assumptions.size() == 1);
    CHECK(assumes(machine, "host work (copy) runs"));
    REQUIRE(machine.others_assumptions.size() == 2);
    // In the order of the table: first touch comes first.
    CHECK_THAT(
        machine.others_assumptions[0],
        ContainsSubstring("host work (first_touch_copy, release) runs at the H200 machine's"));
    CHECK_THAT(machine.others_assumptions[1],
               ContainsSubstring("host work (zero, scale, norm_and_scale, bf16_master_adam) runs "
                                 "at the H200 machine's rates, scaled by host memory bandwidth"));
}

TEST_CASE("confidence: a number or curve measured elsewhere is transferred, with its reason",
          "[machine]") {
    for (const char* pointer :
         {"/kernels/gemm_sustained_tflops", "/gpu/multiprocessors",
          "/link/curve/host_to_device_gb_per_s_by_bytes", "/host/adam_gparams_per_s_by_threads"}) {
        CAPTURE(pointer);
        json profile = measured_profile();
        profile[json::json_pointer(pointer)]["method"] = "transferred";
        profile[json::json_pointer(pointer)]["note"] = "scaled from the bigger one";
        const MachineSpec machine = resolve(profile);
        CHECK(machine.confidence == Confidence::transferred);
        CHECK(machine.assumptions.size() == 1);
        CHECK(assumes(machine, "is scaled from the bigger one"));
    }
    // A size that the user knows is as given, whatever the profile says.
    json profile = measured_profile();
    profile["gpu"]["memory_capacity_gb"]["method"] = "transferred";
    CHECK(resolve(profile).confidence == Confidence::measured);
}

TEST_CASE("confidence: an estimated rate or curve that the spec rests on weakens it", "[machine]") {
    for (const char* pointer :
         {"/kernels/gemm_sustained_tflops", "/kernels/launch_us", "/gpu/multiprocessors",
          "/kernels/attention_cudnn_forward_tflops_by_sequence", "/host/work/copy_gb_per_s",
          "/link/curve/host_to_device_gb_per_s_by_bytes", "/host/adam_gparams_per_s_by_threads"}) {
        CAPTURE(pointer);
        json profile = measured_profile();
        profile[json::json_pointer(pointer)]["method"] = "estimated";
        const MachineSpec machine = resolve(profile);
        CHECK(machine.confidence == Confidence::datasheet);
        CHECK(machine.assumptions.size() == 1);
        CHECK(assumes(machine, "is an estimate"));
    }
}

TEST_CASE("confidence: an estimate that a measured share is taken of is stated with the share",
          "[machine]") {
    for (const char* key : {"bf16_achieved_gemm_tflops", "bf16_dense_tflops"}) {
        CAPTURE(key);
        json profile = measured_profile();
        profile["kernels"].erase("gemm_sustained_tflops");
        if (key == std::string("bf16_dense_tflops"))
            profile["gpu"].erase("bf16_achieved_gemm_tflops");
        CHECK(resolve(profile).confidence == Confidence::transferred);
        profile["gpu"][key]["method"] = "estimated";
        const MachineSpec machine = resolve(profile);
        CHECK(machine.confidence == Confidence::datasheet);
        CHECK(machine.assumptions.size() == 2);
        CHECK(assumes(machine, key));
        CHECK(assumes(machine, "large bf16 products sustain"));
    }
}

TEST_CASE("confidence: both ways that differ are shared evenly, which is stated", "[machine]") {
    json profile = measured_profile();
    profile["link"]["both_ways_host_to_device_gb_per_s"] = measured_number(46);
    CHECK(resolve(profile).assumptions.empty());
    profile["link"]["both_ways_host_to_device_gb_per_s"] = measured_number(25);
    const MachineSpec machine = resolve(profile);
    CHECK(machine.assumptions.size() == 1);
    CHECK(assumes(machine, "25 to the device"));
    CHECK(assumes(machine, "50 to the host"));
    CHECK(machine.confidence == Confidence::measured);  // the rates are
}

TEST_CASE("inputs: the numbers that a spec rests on, and no others", "[machine]") {
    const MachineSpec machine = resolve_machine(read_machine_profile(kMeasuredMachine));
    CHECK(uses(machine, "kernels.gemm_sustained_tflops"));
    CHECK(uses(machine, "gpu.memory_capacity_gb"));
    CHECK(uses(machine, "link.other.pageable_host_to_device_gb_per_s"));
    CHECK_FALSE(uses(machine, "gpu.bf16_dense_tflops"));  // the sustained rate is known
    CHECK_FALSE(uses(machine, "host.memory_bandwidth_stream_gb_per_s"));
    CHECK_FALSE(uses(machine, "host.adam_gparams_per_s"));
    CHECK_FALSE(uses(machine, "link.raw_per_direction_gb_per_s"));
    const MachineSpec small = resolve(small_profile());
    CHECK(uses(small, "gpu.bf16_dense_tflops"));
    CHECK(uses(small, "link.raw_per_direction_gb_per_s"));  // once, though it is read twice
    CHECK_FALSE(uses(small, "kernels.launch_us"));
}

TEST_CASE("inputs: every number that is called readable is, by some machine", "[machine]") {
    std::vector<std::string> read;
    for (const char* without : {"/no_such", "/kernels/gemm_sustained_tflops"}) {
        json profile =
            without == std::string("/no_such") ? measured_profile() : measured_without(without);
        for (const MachineSpec& machine : {resolve(profile), resolve(small_profile())})
            read.insert(read.end(), machine.inputs.begin(), machine.inputs.end());
    }
    for (const char* node : {"h100-sxm-pcie5", "b200-sxm"}) {
        const MachineSpec machine = resolve_machine(read_machine_profile(node));
        read.insert(read.end(), machine.inputs.begin(), machine.inputs.end());
    }
    json profile = measured_profile();
    profile["host"].erase("adam_gparams_per_s_by_threads");
    profile["host"].erase("memory_bandwidth_shared_gb_per_s");
    const MachineSpec stream = resolve(profile);
    read.insert(read.end(), stream.inputs.begin(), stream.inputs.end());
    for (const std::string& path : machine_numbers()) {
        CAPTURE(path);
        CHECK(std::find(read.begin(), read.end(), path) != read.end());
    }
    for (const std::string& path : read) {
        CAPTURE(path);
        CHECK(std::find(machine_numbers().begin(), machine_numbers().end(), path) !=
              machine_numbers().end());
    }
}

}  // namespace sluice
