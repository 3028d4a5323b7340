// Which numbers of a machine's storage are known, and which assumptions follow?
#include <algorithm>

#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/machine/machine_spec.h"
#include "tests/catch.h"

using namespace sluice;

TEST_CASE("storage: measured rates in bytes a second, with nothing to say", "[machine]") {
    const MachineProfile profile = read_machine_profile("h200-pcie5-16vcpu-128gib");
    const StorageSpec storage = resolve_machine(profile).storage;
    REQUIRE(storage.known());
    CHECK(storage.read == *profile.find("storage.read_gb_per_s")->value * 1e9);
    CHECK(storage.write == *profile.find("storage.write_gb_per_s")->value * 1e9);
    CHECK(storage.capacity == 0);
    CHECK(storage.assumptions.empty());
}

TEST_CASE("storage: unknown, or read without write, is not enough", "[machine]") {
    CHECK_FALSE(resolve_machine(read_machine_profile("gh200-480gb")).storage.known());
    MachineProfile profile = read_machine_profile("gh200-480gb");
    profile.set("storage.read_gb_per_s", 7);
    CHECK_FALSE(resolve_machine(profile).storage.known());
}

TEST_CASE("storage: numbers of the user are taken, said, and lower nobody's confidence",
          "[machine]") {
    MachineProfile profile = read_machine_profile("h200-pcie5-16vcpu-128gib");
    const MachineSpec before = resolve_machine(profile);
    profile.set("storage.read_gb_per_s", 14);
    profile.set("storage.latency_us", 80);
    profile.set("storage.capacity_gb", 4000);
    const MachineSpec machine = resolve_machine(profile);
    CHECK(machine.storage.read == 14e9);
    CHECK(machine.storage.latency == Approx(80e-6));
    CHECK(machine.storage.capacity == 4'000'000'000'000);
    REQUIRE(machine.storage.assumptions.size() == 3);
    CHECK(machine.storage.assumptions[0].find("storage.read_gb_per_s 14 is estimated") == 0);
    CHECK(machine.confidence == before.confidence);
    CHECK(machine.assumptions == before.assumptions);
}

TEST_CASE("storage: its rate lies between that of the best and the worst blocks", "[machine]") {
    const RateRanges ranges = resolve_ranges(read_machine_profile("h200-pcie5-16vcpu-128gib"));
    CHECK(ranges.storage.low == 0.53);
    CHECK(ranges.storage.high >= 1.05);
    // As the profile's curve of reading has it.
    const MachineProfile profile = read_machine_profile("h200-pcie5-16vcpu-128gib");
    const double best = *profile.find("storage.read_gb_per_s")->value;
    double worst = best;
    for (const auto& row : profile.find_curve("storage.curve.read_gb_per_s_by_block")->points)
        worst = std::min(worst, row[2]);
    CHECK(worst / best == Approx(ranges.storage.low).epsilon(0.01));
}
