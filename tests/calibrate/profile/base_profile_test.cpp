// Which numbers does a profile take from its base?
#include "sim/base/input_error.h"
#include "tests/calibrate/profile/made_profiles.h"

using namespace sluice;

TEST_CASE("make profile: what was not measured comes from the base, with its own origin") {
    const MachineProfile p = profile_of(synthetic::gpu_machine(), base_profile());
    CHECK(value(p, "gpu.memory_capacity_gb") == 150);  // measured here
    CHECK(p.text("gpu.name") == "NVIDIA H200");
    CHECK(p.text("link.type") == "PCIe 5.0 x16");
    CHECK(value(p, "host.work.copy_gb_per_s") == 24);
    CHECK(value(p, "host.work.zero_gb_per_s") == 78);
    CHECK(value(p, "price.gpu_usd") == 30'000);
    CHECK(p.find("price.rent_usd_per_gpu_hour.Cloud") == nullptr);  // of another machine
    const Quantity* dense = p.find("gpu.bf16_dense_tflops");
    REQUIRE(dense != nullptr);
    CHECK(dense->method == Method::datasheet);
    CHECK(dense->source == "a datasheet");
    CHECK(dense->date == "2025-01-01");
    CHECK(dense->note == "of the base");
    // Its "calibration" is not this one.
    CHECK(p.find("kernels.eager_launch_us")->source == "an older calibration");
    // Replaced by the contention measured here.
    CHECK(p.find("host.copy_traffic_weight") == nullptr);
    CHECK_THAT(p.notes.back(), ContainsSubstring("6 entries"));
    const auto json = nlohmann::json::parse(profile_text(synthetic::gpu_machine(), base_profile()));
    CHECK(json["sources"].size() == 3);  // those used, and no other
    CHECK(json["kernels"]["eager_launch_us"]["source"] == "calibration-base-machine");
}

TEST_CASE("make profile: a base fills what a few cases did not measure") {
    Measurements m = synthetic::gpu_machine();
    std::erase_if(m.cases, [](const CaseRecord& record) { return record.name == "mixed_load"; });
    const MachineProfile p = profile_of(m, base_profile());
    CHECK(value(p, "host.copy_traffic_weight") == 0.6);
    CHECK(p.find_curve("host.contention") == nullptr);
}

TEST_CASE("make profile: each row of a table is a line, and the same input gives the same text") {
    const std::string text = profile_text(synthetic::gpu_machine(), base_profile());
    CHECK(text == profile_text(synthetic::gpu_machine(), base_profile()));
    CHECK_THAT(text, ContainsSubstring("\n        [512, 1024, 1024, 0, 5.7896, 5.7317, 5.8475, "));
    CHECK_THAT(text, ContainsSubstring("\n    \"memory_capacity_gb\": {\"value\": 150, "));
}

TEST_CASE("read base profile: names of the library, paths, and what is neither") {
    CHECK(read_base_profile("h200-sxm-pcie5", "--base").id == "h200-sxm-pcie5");
    CHECK_THROWS_WITH(read_base_profile("h200-sxm-pcie", "--base"),
                      ContainsSubstring("--base: unknown machine \"h200-sxm-pcie\"") &&
                          ContainsSubstring("did you mean \"h200-sxm-pcie5\""));
    CHECK_THROWS_WITH(read_base_profile("no/such.json", "--from"),
                      ContainsSubstring("no/such.json: no such file"));
}
