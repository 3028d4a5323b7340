// Can every machine of the library be predicted, or says what it lacks?
#include <algorithm>

#include "sim/specs/machine/machine_spec.h"
#include "tests/sim/specs/machine/small_profile.h"
#include "tests/sim/specs/model/input_error_of.h"

namespace sluice {
namespace {

/// The profile with what it lacks given by the user, so that it resolves.
MachineProfile completed(const std::string& id) {
    MachineProfile profile = read_machine_profile(id);
    for (const char* path : {"host.memory_capacity_gb", "gpu.bf16_dense_tflops"}) {
        const Quantity* quantity = profile.find(path);
        if (quantity != nullptr && !quantity->value) profile.set(path, 100);
    }
    return profile;
}

}  // namespace

TEST_CASE("machine spec: an estimated rate weakens the confidence and is named", "[machine]") {
    MachineProfile profile = parse_profile(small_profile());
    CHECK(resolve_machine(profile).confidence == Confidence::transferred);
    profile.set("host.memory_bandwidth_gb_per_s", 300);
    const MachineSpec machine = resolve_machine(profile);
    CHECK(machine.confidence == Confidence::datasheet);
    CHECK(assumes(machine, "host.memory_bandwidth_gb_per_s 300"));
}

TEST_CASE("library machines: the fuzzer starts from profiles that are accepted", "[machine]") {
    for (const char* seed : {"least", "measured", "calibrated"}) {
        CAPTURE(seed);
        const MachineProfile profile = read_machine_profile(
            std::string(SLUICE_SOURCE_DIR "/tests/fuzz/corpus/machine-") + seed + ".json");
        const MachineSpec machine = resolve_machine(profile);
        CHECK(machine.host.cores > 0);
        if (seed != std::string("calibrated")) continue;
        CHECK(profile.kernels.size() == kKernelTables);
        CHECK(machine.host.contention.points().size() == 5);
    }
}

TEST_CASE("machine spec: more memory is no guess about a rate", "[machine]") {
    MachineProfile profile = read_machine_profile(kMeasuredMachine);
    const Confidence before = resolve_machine(profile).confidence;
    profile.set("host.memory_capacity_gb", 2000);
    const MachineSpec machine = resolve_machine(profile);
    CHECK(machine.host.memory_capacity == 2'000'000'000'000);
    CHECK(machine.confidence == before);
}

TEST_CASE("library machines: each resolves or names the number that is not known", "[machine]") {
    for (const std::string& id : library_machines()) {
        CAPTURE(id);
        const MachineProfile profile = read_machine_profile(id);
        try {
            resolve_machine(profile);
        } catch (const InputError& error) {
            const std::string message = error.what();
            CHECK_THAT(message, ContainsSubstring("hwprofiles/" + id + ".json"));
            CHECK(std::any_of(profile.quantities.begin(), profile.quantities.end(),
                              [&](const Quantity& quantity) {
                                  return !quantity.value &&
                                         message.find(quantity.path) != std::string::npos;
                              }));
        }
    }
}

TEST_CASE("library machines: with memory and a matrix rate given each has rates to predict with",
          "[machine]") {
    for (const std::string& id : library_machines()) {
        CAPTURE(id);
        const MachineSpec machine = resolve_machine(completed(id));
        const GpuSpec& gpu = machine.gpu;
        const LinkSpec& link = machine.link;
        const HostSpec& host = machine.host;
        CHECK(gpu.memory_capacity > gpu.context);
        CHECK(gpu.memory_bandwidth > 0);
        CHECK(gpu.gemm_flops_per_s > 0);
        CHECK(gpu.multiprocessors >= 1);
        CHECK(link.pageable_host_to_device <= link.host_to_device);
        // Both ways at once never exceed the two directions alone.
        CHECK(link.both_ways_total <= link.host_to_device + link.device_to_host);
        CHECK(link.both_ways_total > 0);
        if (!machine.unified_memory)
            CHECK(host.dram_bandwidth >= std::max(link.host_to_device, link.device_to_host));
        CHECK(host.best_adam_threads >= 1);
        CHECK(host.best_adam_threads <= host.cores);
        for (const double rate : {host.memory_copy, host.first_touch, host.zero, host.release,
                                  host.norm_and_scale, host.eager_adam_bytes_per_s}) {
            CHECK(rate > 0);
        }
        CHECK_FALSE(gpu.fused_attention.backward.empty());
    }
}

TEST_CASE("library machines: only machines that were measured are trusted as measured",
          "[machine]") {
    for (const std::string& id : library_machines()) {
        CAPTURE(id);
        const MachineSpec machine = resolve_machine(completed(id));
        CAPTURE(machine.assumptions);
        const bool h100 = id == "h100-pcie5-16vcpu-128gib";
        CHECK((machine.confidence == Confidence::measured) ==
              (h100 || id.starts_with(kMeasuredMachine)));
        // Whatever is not measured is said, and that copies of the H100 both ways share unevenly.
        CHECK((machine.confidence == Confidence::measured) ==
              (machine.assumptions.size() == std::size_t{h100}));
    }
}

}  // namespace sluice
