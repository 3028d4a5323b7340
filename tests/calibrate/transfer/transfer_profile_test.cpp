#include "calibrate/transfer/transfer_profile.h"

#include <cmath>

#include "sim/base/input_error.h"
#include "sim/base/json_object.h"
#include "sim/specs/machine/kernel_time.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/machine/machine_spec.h"
#include "tests/calibrate/transfer/synthetic_profile.h"
#include "tests/catch.h"

namespace sluice {
namespace {

std::string transferred_text(const Json& measured, const Json& datasheet) {
    const std::string from = measured.dump(), to = datasheet.dump();
    return transfer_profile({from, "profiles/syn.json"}, {to, "sheets/new.json"}, "2026-11-21");
}

MachineProfile transferred(const Json& datasheet, const Json& measured = measured_profile()) {
    return parse_machine_profile(transferred_text(measured, datasheet), "new.json", "new");
}

const KernelMeasurement& table_of(const MachineProfile& profile, KernelTableId id) {
    for (const KernelEntry& entry : profile.kernels)
        if (entry.measured.id == id) return entry.measured;
    throw InternalError("the profile lacks a table");
}

double value_of(const MachineProfile& profile, std::string_view path) {
    const Quantity* quantity = profile.find(path);
    REQUIRE(quantity != nullptr);
    REQUIRE(quantity->value);
    return *quantity->value;
}

/// Microseconds that the profile predicts for a shape.
double predicted_us(const MachineProfile& profile, KernelTableId id,
                    const std::vector<double>& row) {
    const Kernel kernel = kernel_of_row(id, row);
    return 1e6 * table_of(profile, id)
                     .table()
                     .time(kernel_features(id, kernel, value_of(profile, "gpu.multiprocessors")),
                           kernel_coordinates(id, kernel));
}

void set(Json& datasheet, const char* section, const char* key, double value) {
    datasheet[section][key]["value"] = value;
}

}  // namespace

TEST_CASE("transfer: the same datasheet gives the same times and rates", "[transfer]") {
    const MachineProfile profile = transferred(same_datasheet());
    for (int i = 0; i < kKernelTables; ++i) {
        const auto id = static_cast<KernelTableId>(i);
        const KernelMeasurement before = synthetic_kernels(id, 132);
        REQUIRE(table_of(profile, id).points.size() == before.points.size());
        for (const KernelPoint& point : before.points)
            CHECK(predicted_us(profile, id, point.row) == Approx(point.us).epsilon(1e-3));
    }
    CHECK(value_of(profile, "kernels.gemm_sustained_tflops") == Approx(670));
    CHECK(value_of(profile, "link.host_to_device_gb_per_s") == Approx(55));
    CHECK(value_of(profile, "host.memory_bandwidth_stream_gb_per_s") == Approx(250));
    const Curve* adam = profile.find_curve("host.adam_gparams_per_s_by_threads");
    REQUIRE(adam != nullptr);
    CHECK(adam->points == std::vector<std::vector<double>>{{1, 1}, {4, 4}, {8, 6}, {16, 7}});
}

TEST_CASE("transfer: twice the memory bandwidth halves memory-bound times but their launch",
          "[transfer]") {
    Json datasheet = same_datasheet();
    set(datasheet, "gpu", "memory_bandwidth_gb_per_s", 9600);
    const MachineProfile profile = transferred(datasheet);
    const KernelMeasurement& norm = table_of(profile, KernelTableId::rms_norm);
    const std::vector<double> large = {8192, 65536};  // 268 us, of which the launch takes 2
    const MachineProfile before = transferred(same_datasheet());
    CHECK(predicted_us(profile, KernelTableId::rms_norm, large) ==
          Approx(predicted_us(before, KernelTableId::rms_norm, large) / 2).epsilon(0.01));
    CHECK(norm.trend == std::vector<double>{2, 0.25, 0.25});
    CHECK(value_of(profile, "gpu.memory_bandwidth_achieved_gb_per_s") == Approx(8400));
    // Products of 2,700 FLOPs a byte take as long as before.
    const std::vector<double> product = {8192, 8192, 8192, 0};
    CHECK(predicted_us(profile, KernelTableId::gemm_forward, product) ==
          Approx(predicted_us(before, KernelTableId::gemm_forward, product)).epsilon(0.02));
}

TEST_CASE("transfer: twice the peak on as many multiprocessors halves a product's FLOPs",
          "[transfer]") {
    Json datasheet = same_datasheet();
    set(datasheet, "gpu", "bf16_dense_tflops", 2000);
    set(datasheet, "gpu", "tdp_w", 1400);  // as many watts a FLOP
    const MachineProfile profile = transferred(datasheet);
    CHECK(value_of(profile, "kernels.gemm_sustained_tflops") == Approx(1340));
    // Exponentials of attention go by multiprocessors.
    const KernelMeasurement& attention = table_of(profile, KernelTableId::attention_forward);
    CHECK(attention.trend[1] == Approx(0.75));
    CHECK(attention.trend[2] == Approx(0.5));
}

TEST_CASE("transfer: less power per FLOP costs efficiency, and an unknown TDP costs certainty",
          "[transfer]") {
    Json datasheet = same_datasheet();
    set(datasheet, "gpu", "bf16_dense_tflops", 2000);
    const MachineProfile profile = transferred(datasheet);
    CHECK(value_of(profile, "kernels.gemm_sustained_tflops") ==
          Approx(1340 * std::pow(0.5, 0.14)).epsilon(1e-4));
    const Quantity* known = profile.find("kernels.gemm_sustained_tflops");
    CHECK(*known->low / *known->value == Approx(0.94).epsilon(1e-3));

    datasheet["gpu"].erase("tdp_w");
    const MachineProfile alone = transferred(datasheet);
    CHECK(value_of(alone, "kernels.gemm_sustained_tflops") == Approx(1340));
    const Quantity* unknown = alone.find("kernels.gemm_sustained_tflops");
    CHECK(*unknown->low / *unknown->value == Approx(0.74).epsilon(1e-3));
    CHECK(alone.find("power.idle_w") == nullptr);
}

TEST_CASE("transfer: the predictor goes through the times that are written", "[transfer]") {
    Json datasheet = same_datasheet();
    set(datasheet, "gpu", "multiprocessors", 148);
    set(datasheet, "gpu", "bf16_dense_tflops", 2250);
    const MachineProfile profile = transferred(datasheet);
    for (const KernelEntry& entry : profile.kernels) {
        for (const KernelPoint& point : entry.measured.points) {
            CHECK(predicted_us(profile, entry.measured.id, point.row) ==
                  Approx(point.us).epsilon(2e-3));
            CHECK(point.us_low < 0.94 * point.us);
            CHECK(point.us_high > 1.06 * point.us);
        }
        CHECK(entry.measured.held_out.low_percent < -9);
        CHECK(entry.measured.held_out.high_percent > 12);
        CHECK(entry.method == Method::transferred);
    }
}

TEST_CASE("transfer: a wider link moves the curve in both, so that latency stays", "[transfer]") {
    Json datasheet = same_datasheet();
    set(datasheet, "link", "raw_per_direction_gb_per_s", 128);
    const MachineProfile profile = transferred(datasheet);
    CHECK(value_of(profile, "link.host_to_device_gb_per_s") == Approx(110));
    CHECK(value_of(profile, "link.copy_latency_us") == Approx(2.5));
    CHECK(*profile.find("link.host_to_device_gb_per_s")->high == Approx(121));
    const Curve* curve = profile.find_curve("link.curve.host_to_device_gb_per_s_by_bytes");
    REQUIRE(curve != nullptr);
    CHECK(curve->points[0][0] == Approx(131072).epsilon(1e-4));
    CHECK(curve->points[0][1] == Approx(34));
    CHECK(curve->points[0][2] == Approx(2 * 16 * 0.91).epsilon(1e-3));
    CHECK(curve->points[1][3] == Approx(2 * 55.5 * 1.1).epsilon(1e-3));
}

TEST_CASE("transfer: no copy is said to be faster than the link", "[transfer]") {
    const MachineProfile profile = transferred(same_datasheet());
    CHECK(*profile.find("link.host_to_device_gb_per_s")->high == Approx(55 * 1.1));
    Json measured = measured_profile();
    measured["link"]["host_to_device_gb_per_s"]["value"] = 62;
    CHECK(*transferred(same_datasheet(), measured).find("link.host_to_device_gb_per_s")->high ==
          Approx(64));
}

TEST_CASE("transfer: another kind of link has a wider range", "[transfer]") {
    Json datasheet = same_datasheet();
    datasheet["link"]["chip_to_chip"] = true;
    set(datasheet, "link", "raw_per_direction_gb_per_s", 450);
    const MachineProfile profile = transferred(datasheet);
    const Quantity* rate = profile.find("link.host_to_device_gb_per_s");
    CHECK(*rate->low / *rate->value == Approx(0.48).epsilon(1e-3));
}

TEST_CASE("transfer: threads of Adam do what they did, up to the memory's limit", "[transfer]") {
    Json datasheet = same_datasheet();
    set(datasheet, "host", "memory_bandwidth_gb_per_s", 600);
    set(datasheet, "host", "cores", 112);
    const MachineProfile wide = transferred(datasheet);
    CHECK(wide.find_curve("host.adam_gparams_per_s_by_threads")->points ==
          std::vector<std::vector<double>>{{2, 2}, {8, 8}, {16, 12}, {32, 14}});
    CHECK(wide.find_curve("host.contention")->points[0][3] == Approx(200));
    CHECK(wide.find_curve("host.contention")->points[0][5] == Approx(0.9));

    set(datasheet, "host", "cores", 10);  // as many threads as there are cores
    CHECK(transferred(datasheet).find_curve("host.adam_gparams_per_s_by_threads")->points ==
          std::vector<std::vector<double>>{{2, 2}, {8, 8}, {10, 9}});
}

TEST_CASE("transfer: a host that hides its peak is scaled by its fastest use of memory",
          "[transfer]") {
    Json measured = measured_profile();
    measured["host"].erase("memory_bandwidth_gb_per_s");
    // STREAM's 250 GB/s would be 0.85 of 294.1: 300 is 1.02 of it. (Adam: 7 x 26 = 182 GB/s.)
    CHECK(value_of(transferred(same_datasheet(), measured),
                   "host.memory_bandwidth_stream_gb_per_s") == Approx(250 * 1.02).epsilon(1e-4));
    measured["host"]["memory_bandwidth_stream_gb_per_s"]["value"] = 140;
    CHECK(value_of(transferred(same_datasheet(), measured),
                   "host.memory_bandwidth_stream_gb_per_s") ==
          Approx(140 * 300 / (182 / 0.85)).epsilon(1e-4));
}

TEST_CASE("transfer: host memory is not said to give more than its peak", "[transfer]") {
    const Quantity range =
        *transferred(same_datasheet()).find("host.memory_bandwidth_stream_gb_per_s");
    CHECK(*range.high == Approx(300));  // 250 x 1.21 would be 302.5
    CHECK(*range.low == Approx(250 * 0.82));
}

TEST_CASE("transfer: what belongs to one machine is left out, the rest says where it is from",
          "[transfer]") {
    Json datasheet = same_datasheet();
    datasheet["network"]["per_gpu_gb_per_s"] = datasheet_number(50);
    set(datasheet, "gpu", "tdp_w", 1400);
    set(datasheet, "gpu", "bf16_dense_tflops", 2000);
    const MachineProfile profile = transferred(datasheet);
    CHECK(profile.find("storage.read_gb_per_s") == nullptr);
    CHECK(profile.find("price.gpu_usd") == nullptr);
    CHECK(profile.find("power.cpu_idle_w") == nullptr);
    CHECK(value_of(profile, "network.per_gpu_gb_per_s") == Approx(50));
    CHECK(value_of(profile, "power.idle_w") == Approx(160));
    CHECK(value_of(profile, "power.gemm_joules_per_tflop") == Approx(1.05));

    const Quantity* launch = profile.find("kernels.launch_us");
    CHECK(launch->method == Method::transferred);
    CHECK(launch->note == "transferred from syn: as measured there");
    CHECK(launch->date == "2026-11-21");
    CHECK_THAT(launch->source, ContainsSubstring("from syn (Synthetic machine)"));
    const Quantity* peak = profile.find("gpu.bf16_dense_tflops");
    CHECK(peak->method == Method::datasheet);
    CHECK(peak->source == "a datasheet for a test");
    CHECK(profile.text("gpu.name") == "Synthetic 2");
    CHECK_THAT(profile.notes.back(), ContainsSubstring("products 2.000"));
    CHECK(resolve_machine(profile).gpu.multiprocessors == 132);
}

TEST_CASE("transfer: the clock's powers go by TDP, its share of the time stays", "[transfer]") {
    Json measured = measured_profile();
    measured["kernels"]["rested_time_share"] = measured_number(0.86);
    measured["power"]["gemm_w"] = measured_number(700);
    measured["power"]["attention_w"] = measured_number(550);
    measured["power"]["attention_joules_per_tflop"] = measured_number(1.6);
    measured["power"]["memory_w"] = measured_number(600);
    measured["power"]["memory_joules_per_gb"] = measured_number(0.15);
    measured["power"]["gemm_rested_w"] = measured_number(950);
    measured["power"]["gemm_rested_joules_per_tflop"] = measured_number(1.2);
    measured["power"]["headroom_j"] = measured_number(12);
    // Twice the power for products of 2.5 times the rate but for their efficiency, as in another
    // test.
    Json datasheet = same_datasheet();
    set(datasheet, "gpu", "tdp_w", 1400);
    set(datasheet, "gpu", "bf16_dense_tflops", 2500);
    const MachineProfile profile = transferred(datasheet, measured);
    CHECK(value_of(profile, "kernels.rested_time_share") == Approx(0.86));
    CHECK(value_of(profile, "power.gemm_w") == Approx(1400));
    CHECK(value_of(profile, "power.gemm_rested_w") == Approx(1900));
    CHECK(value_of(profile, "power.headroom_j") == Approx(24));
    CHECK(value_of(profile, "power.gemm_rested_joules_per_tflop") ==
          Approx(1.2 * 2 / (2.5 * std::pow(0.8, 0.14))).epsilon(1e-4));
    CHECK(value_of(profile, "power.memory_joules_per_gb") == Approx(0.3));  // as fast a memory
    CHECK(profile.find("power.headroom_j")->note == "transferred from syn: by TDP");

    const ClockSpec clock = resolve_machine(profile).gpu.clock;
    const ClockSpec before = resolve_machine(transferred(same_datasheet(), measured)).gpu.clock;
    CHECK(clock.headroom_j == Approx(2 * before.headroom_j));
    CHECK(clock.energy_share == Approx(before.energy_share));
    CHECK(clock.joules_per_flop < before.joules_per_flop);
    CHECK(clock.joules_per_flop_of_attention < before.joules_per_flop_of_attention);
}

TEST_CASE("transfer: its own range and that of the rule make up the new range", "[transfer]") {
    const MachineProfile profile = transferred(same_datasheet());
    const Quantity* bandwidth = profile.find("gpu.memory_bandwidth_achieved_gb_per_s");
    CHECK(*bandwidth->low == Approx(4100 * 0.88));
    CHECK(*bandwidth->high == Approx(4250 * 1.14));
}

}  // namespace sluice
