// Which method, source and date has each number of a profile?
#include "calibrate/measurement/measurements.h"
#include "calibrate/profile/make_profile.h"
#include "sim/specs/machine/machine_profile.h"
#include "tests/calibrate/profile/made_profiles.h"
#include "tests/calibrate/profile/synthetic_machine.h"
#include "tests/catch.h"

using namespace sluice;

TEST_CASE("make profile: every number says range, method, source, date and how") {
    const Measurements m = synthetic::gpu_machine();
    const MachineProfile p = profile_of(m);
    const Quantity* q = p.find("link.both_ways_host_to_device_gb_per_s");
    REQUIRE(q != nullptr);
    CHECK(q->low == 40.0);
    CHECK(q->high == 44.0);
    CHECK(q->method == Method::measured);
    CHECK(q->date == "2026-11-21");
    CHECK(q->source == calibration_source(m));
    CHECK_THAT(q->note, ContainsSubstring("by formula"));
    CHECK_THAT(q->source, ContainsSubstring("sluice-calibrate of 2026-11-21 on NVIDIA H200"));
    CHECK_THAT(q->source, ContainsSubstring("driver 580.1, 82 s; measurements/my-machine.json"));
    const Quantity* memory = p.find("gpu.memory_bandwidth_achieved_gb_per_s");
    CHECK(*memory->low < *memory->value);
    CHECK(*memory->value < *memory->high);
    REQUIRE(p.notes.size() == 2);
    CHECK(p.notes[1] == "adam: noisy");
}

TEST_CASE("make profile: a case measured again on another day dates its own numbers") {
    Measurements m = synthetic::gpu_machine();
    for (CaseRecord& record : m.cases)
        if (record.name == "gemm" || record.name == "adam") record.date = "2026-11-23";
    const MachineProfile p = profile_of(m);
    for (const char* path : {"gpu.bf16_achieved_gemm_tflops", "kernels.gemm_sustained_tflops",
                             "kernels.gemm_overhead_us", "host.adam_bytes_per_parameter"})
        CHECK(p.find(path)->date == "2026-11-23");
    CHECK(p.find_curve("host.adam_gparams_per_s_by_threads")->date == "2026-11-23");
    for (const KernelEntry& entry : p.kernels) {
        const bool gemm = entry.path.starts_with("kernels.gemm_");
        CHECK(entry.date == (gemm ? "2026-11-23" : "2026-11-21"));
    }
    for (const char* path : {"link.host_to_device_gb_per_s", "host.cores", "power.gemm_w"})
        CHECK(p.find(path)->date == "2026-11-21");
    CHECK(p.find_curve("host.contention")->date == "2026-11-21");
    CHECK_THAT(calibration_source(m), ContainsSubstring("of 2026-11-21 to 2026-11-23 on"));
}

TEST_CASE("make profile: watts and rates between GPUs have their range, not numbers of it") {
    Measurements m = synthetic::gpu_machine();
    m.cases.back().tables.push_back(synthetic::table(
        "gpu_interconnect",
        {"bytes", "one_way_gb_per_s", "one_way_low", "one_way_high", "both_ways_gb_per_s",
         "both_ways_low", "both_ways_high"},
        {{65536, 10, 9, 11, 20, 18, 22}, {268435456, 400, 390, 410, 780, 770, 790}}));
    const MachineProfile p = profile_of(m);
    const auto check = [&](const char* path, double value, double low, double high) {
        INFO(path);
        const Quantity* q = p.find(path);
        REQUIRE(q != nullptr);
        CHECK(q->value == value);
        CHECK(q->low == low);
        CHECK(q->high == high);
    };
    check("power.gemm_w", 690, 680, 700);
    check("power.idle_w", 80, 79, 81);
    check("gpu_interconnect.measured_pair_one_way_gb_per_s", 400, 390, 410);
    check("gpu_interconnect.measured_pair_both_ways_gb_per_s", 780, 770, 790);
    for (const Quantity& q : p.quantities) {
        CHECK_FALSE(q.path.ends_with("_low"));
        CHECK_FALSE(q.path.ends_with("_high"));
    }
}

TEST_CASE("make profile: of pooled measurements the source names every file") {
    const Measurements one = synthetic::gpu_machine();
    const Measurements m =
        pool_measurements({{one, "measurements/my-machine.json"}, {one, "later/again.json"}});
    CHECK_THAT(calibration_source(m),
               ContainsSubstring(
                   "driver 580.1, 164 s; measurements/my-machine.json, measurements/again.json"));
    const Quantity* q = profile_of(m).find("link.both_ways_host_to_device_gb_per_s");
    REQUIRE(q != nullptr);
    CHECK_THAT(q->note, ContainsSubstring("mean of 2 measurements"));
}
