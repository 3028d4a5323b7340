#include "calibrate/profile/make_profile.h"

#include <cmath>

#include "calibrate/profile/sections.h"
#include "sim/base/input_error.h"
#include "sim/specs/machine/kernel_time.h"
#include "sim/specs/machine/machine_spec.h"
#include "tests/calibrate/profile/made_profiles.h"

using namespace sluice;

namespace {

/// Kernel times that are up to 10% off their formulas, so that residuals count.
Measurements with_bumps(Measurements m) {
    for (CaseRecord& record : m.cases)
        for (CaseTable& table : record.tables) {
            if (table.columns.back() != "held_out" || table.name == "mixed_load") continue;
            const std::size_t us = table.column("us");
            for (auto& row : table.rows)
                for (std::size_t column = us; column < us + 3; ++column)
                    row[column] *= 1 + 0.1 * std::sin(std::log2(row[0]) + std::log2(row[1]));
        }
    return m;
}

}  // namespace

TEST_CASE("make profile: a host alone leaves the GPU to the base") {
    Measurements host = synthetic::cpu_machine();
    host.facts.activations = "";
    std::erase_if(host.cases, [](const CaseRecord& record) {
        return record.name != "adam" && record.name != "host_memory";
    });
    const MachineProfile p = profile_of(host);
    CHECK(p.text("gpu.name").empty());
    CHECK(p.text("link.type").empty());
    CHECK(p.find("gpu.memory_capacity_gb") == nullptr);
    CHECK_FALSE(p.flag("host.unified_memory"));
    CHECK(value(p, "host.cores") == 16);
}

TEST_CASE("make profile: sizes and rates of a machine that follows formulas") {
    const MachineProfile p = profile_of(synthetic::gpu_machine());
    CHECK(p.name == "NVIDIA H200, 16 CPUs of Some Xeon, 137 GB");
    CHECK(p.text("gpu.name") == "NVIDIA H200");
    CHECK_FALSE(p.flag("host.unified_memory"));
    CHECK(value(p, "gpu.memory_capacity_gb") == 150);
    CHECK(value(p, "gpu.context_gb") == 0.9);
    CHECK(value(p, "gpu.multiprocessors") == 132);
    CHECK(value(p, "host.cores") == 16);
    CHECK(value(p, "host.memory_capacity_gb") == 137);
    CHECK(value(p, "host.system_reserve_gb") == 1);
    CHECK(value(p, "host.process_base_gb") == 0.95);
    // 268 MB in 3 us + 268435456 / 50e3 us, and so on.
    CHECK(value(p, "link.host_to_device_gb_per_s") == Approx(49.972).epsilon(1e-4));
    CHECK(value(p, "link.device_to_host_gb_per_s") == Approx(39.982).epsilon(1e-4));
    CHECK(value(p, "link.copy_latency_us") == Approx(3.0819).epsilon(1e-4));
    CHECK(value(p, "link.both_ways_host_to_device_gb_per_s") == 42);  // of 64 MiB and more
    CHECK(value(p, "link.both_ways_device_to_host_gb_per_s") == 32);
    CHECK(value(p, "link.other.pageable_host_to_device_gb_per_s") == 10);
    CHECK(value(p, "gpu.memory_bandwidth_achieved_gb_per_s") == Approx(3911.6).epsilon(1e-3));
    CHECK(value(p, "host.memory_bandwidth_stream_gb_per_s") == 120);
    CHECK(value(p, "host.work.copy_gb_per_s") == 24);  // at 4 threads, Adam's best
    CHECK(value(p, "host.adam_bytes_per_parameter") == 26);
    CHECK(value(p, "storage.read_gb_per_s") == 3.3);
    CHECK(value(p, "kernels.launch_us") == 1.1);
    CHECK(p.find("kernels.other.event_us") == nullptr);  // below 0: noise
    CHECK(value(p, "power.idle_w") == 80);
    CHECK(value(p, "power.gemm_joules_per_tflop") == 1.05);
    CHECK(value(p, "power.limit_w") == 700);
    CHECK(p.find("gpu.bf16_dense_tflops") == nullptr);
}

TEST_CASE("make profile: the line through products is the one they were made from") {
    const Measurements m = synthetic::gpu_machine();
    const auto line = fit_gemm_line(m);
    REQUIRE(line);
    CHECK(line->products == 36);  // half of 72 are held out
    CHECK(line->overhead_us == Approx(synthetic::kOverheadUs).epsilon(1e-6));
    CHECK(line->tflops == Approx(synthetic::kTflops).epsilon(1e-6));
    CHECK(line->worst_error_percent < 1e-6);
    CHECK(line->tflops_low <= line->tflops);
    const MachineProfile p = profile_of(m);
    CHECK(value(p, "kernels.gemm_sustained_tflops") == 600);
    CHECK(value(p, "kernels.fp8_gemm_sustained_tflops") == Approx(1250));
    CHECK(value(p, "kernels.fp8_cast_gb_per_s") == Approx(3000));
    CHECK(value(p, "kernels.gemm_overhead_us") == 4);
    // 8192 x 4096 x 3584: 2.405e11 FLOPs in 4 + 400.9 us.
    CHECK(value(p, "gpu.bf16_achieved_gemm_tflops") == Approx(594.07).epsilon(1e-3));
}

TEST_CASE("make profile: a negative overhead becomes none, not a negative time") {
    Measurements m = synthetic::gpu_machine();
    for (CaseRecord& record : m.cases)
        for (CaseTable& table : record.tables) {
            if (!table.name.starts_with("gemm_")) continue;
            for (auto& row : table.rows) row[4] = std::pow(row[0] * row[1] * row[2] / 1e9, 1.2);
        }
    const auto line = fit_gemm_line(m);
    REQUIRE(line);
    CHECK(line->overhead_us == 0.001);
    CHECK(line->tflops > 0);
}

TEST_CASE("make profile: kernel times read back from it are the fit's within 1e-4") {
    const Measurements m = with_bumps(synthetic::gpu_machine());
    const MachineFits fits = fit_machine(m);
    const MachineSpec machine = resolve_machine(profile_of(m, base_profile()));
    REQUIRE(fits.kernels.size() == kKernelTables);
    for (const auto& [id, fit] : fits.kernels) {
        INFO(kernel_table_name(id));
        const KernelTable& table = machine.gpu.tables[static_cast<std::size_t>(id)];
        REQUIRE_FALSE(table.empty());
        for (const double size : {700.0, 1024.0, 5000.0, 20000.0}) {
            std::vector<double> row = {size, 2 * size};
            if (kernel_columns(id).front() == "m") row = {size, 2 * size, 1500, 0};
            if (kernel_columns(id).front() == "sequences") row = {3, size, 24, 8, 128};
            const Kernel kernel = kernel_of_row(id, row);
            const auto features = kernel_features(id, kernel, 132);
            const auto at = kernel_coordinates(id, kernel);
            CHECK(table.time(features, at) == Approx(fit.table.time(features, at)).epsilon(1e-4));
        }
    }
    const MachineProfile p = profile_of(m);
    REQUIRE(p.kernels.size() == kKernelTables);
    const auto forward = std::find_if(p.kernels.begin(), p.kernels.end(), [](const auto& entry) {
        return entry.path == "kernels.gemm_forward";
    });
    REQUIRE(forward != p.kernels.end());
    CHECK(forward->measured.points.size() == 12);  // of 24 shapes, 12 are held out
    CHECK(forward->measured.held_out.shapes == 12);
    CHECK(forward->measured.held_out.mean_percent > 0.1);
    CHECK(forward->measured.held_out.mean_percent ==
          Approx(fits.kernels[0].second.held_out.mean_percent).epsilon(1e-3));
}

TEST_CASE("make profile: some kernels without the others are left out, and the profile says so") {
    Measurements m = synthetic::gpu_machine();
    std::erase_if(m.cases, [](const CaseRecord& record) { return record.name == "attention"; });
    const MachineProfile p = profile_of(m);
    CHECK(p.kernels.empty());
    CHECK_THAT(p.notes.back(),
               ContainsSubstring("gemm_forward") &&
                   ContainsSubstring("attention_forward, attention_backward are not measured"));
    CHECK(value(p, "kernels.gemm_sustained_tflops") == 600);
}

TEST_CASE("make profile: copies by size never take less time for more bytes") {
    Measurements m = synthetic::gpu_machine();
    CaseTable& copies = m.cases[0].tables[0];
    copies.rows[1][1] = 2;  // 64 KiB quicker than 4 KiB
    copies.rows[1][2] = 1.9;
    copies.rows[1][3] = 2.1;
    const MachineProfile p = profile_of(m);
    const Curve* curve = p.find_curve("link.curve.host_to_device_gb_per_s_by_bytes");
    REQUIRE(curve != nullptr);
    REQUIRE(curve->points.size() == 5);
    double before = 0;
    for (const auto& point : curve->points) {
        const double us = point[0] / point[1];
        CHECK(us >= before * 0.9999);
        CHECK(point[2] <= point[1]);
        CHECK(point[1] <= point[3]);
        before = us;
    }
    CHECK(p.find_curve("link.curve.device_to_host_gb_per_s_by_bytes") != nullptr);
}

TEST_CASE("make profile: Adam by threads and state, in ascending order") {
    const MachineProfile p = profile_of(synthetic::gpu_machine());
    const Curve* full = p.find_curve("host.adam_gparams_per_s_by_threads");
    const Curve* small = p.find_curve("host.adam_6_byte_gparams_per_s_by_threads");
    REQUIRE(full != nullptr);
    REQUIRE(small != nullptr);
    REQUIRE(full->points.size() == 3);
    CHECK(full->points[0] == std::vector<double>{1, 1, 0.95, 1.05});
    CHECK(full->points[1] == std::vector<double>{4, 4, 3.8, 4.2});
    CHECK(small->points[1][1] == 8);
    CHECK(p.find_curve("host.adam_8_byte_gparams_per_s_by_threads") != nullptr);
}

TEST_CASE(
    "make profile: where calls were measured in several sizes, Adam's rates are of long ones") {
    Measurements m = synthetic::gpu_machine();
    for (CaseRecord& record : m.cases) {
        if (record.name != "adam") continue;
        // 500 us beside 4 Gparam/s.
        record.tables.push_back(synthetic::table(
            "adam_by_size", {"state_bytes", "threads", "parameters", "us", "low", "high"},
            {{12, 4, 6e6, 2000, 2000, 2000}, {12, 4, 24e6, 6500, 6500, 6500}}));
    }
    const MachineProfile p = profile_of(m, base_profile());
    const Curve* call = p.find_curve("host.optimizer_call_us_by_threads");
    REQUIRE(call != nullptr);
    REQUIRE(call->points.size() == 1);
    CHECK(call->points[0][1] == Approx(500));
    // The case says 4 Gparam/s for calls of 6 million parameters: 1,500 us, 1,000 without the call.
    const MachineSpec machine = resolve_machine(p);
    CHECK(machine.host.adam_call.at(4) == Approx(500e-6));
    CHECK(machine.host.adam_bytes_per_s.at(4) == Approx(6e9 * 26));
}

TEST_CASE("make profile: shares under mixed load reach the simulator's contention") {
    const MachineSpec machine =
        resolve_machine(profile_of(synthetic::gpu_machine(), base_profile()));
    REQUIRE_FALSE(machine.host.contention.empty());
    const double work = 4e9 * 26;  // Adam's traffic at 4 threads
    const LaneShares both = machine.host.contention.shares({false, true, true, 0});
    CHECK(both.in == Approx(0.85).epsilon(0.01));
    CHECK(both.out == Approx(0.85).epsilon(0.01));
    const LaneShares one = machine.host.contention.shares({false, true, false, work});
    CHECK(one.work == Approx(0.8).epsilon(0.01));
    CHECK(one.in == Approx(0.9).epsilon(0.01));
}

TEST_CASE("make profile: without a GPU the device is the host's memory and processor") {
    const MachineProfile p = profile_of(synthetic::cpu_machine());
    CHECK(p.text("gpu.name") == "CPU (no GPU)");
    CHECK(p.flag("host.unified_memory"));
    CHECK(value(p, "gpu.memory_capacity_gb") == 136);
    CHECK(value(p, "gpu.multiprocessors") == 1);
    CHECK(value(p, "gpu.context_gb") < 1e-6);
    CHECK_THAT(p.text("link.type"), ContainsSubstring("none"));
    CHECK(p.find("power.limit_w") == nullptr);
    const MachineSpec machine = resolve_machine(p);
    CHECK(machine.unified_memory);
    CHECK(machine.link.host_to_device == Approx(49.972e9).epsilon(1e-4));
    CHECK(machine.link.pageable_host_to_device == machine.link.host_to_device);
}

TEST_CASE(
    "make profile: Adam's rate is the mean of its case and of all windows in which it is alone") {
    Measurements m = synthetic::gpu_machine();
    for (CaseRecord& record : m.cases) {
        if (record.name != "mixed_load") continue;
        // 4 threads reach 4 in the case and in its window: two more windows, in any order.
        CaseTable& mixed = record.tables[0];
        const std::size_t rate = mixed.column("adam_gparams_per_s");
        std::vector<double> row;
        for (const auto& one : mixed.rows)
            if (one[1] == 4 && one[3] == 0 && one[4] == 0) row = one;
        REQUIRE(row.size() == mixed.columns.size());
        for (const double gparams_per_s : {1.0, 7.0, 8.0}) {
            row[rate] = gparams_per_s;
            mixed.rows.push_back(row);
        }
    }
    const MachineProfile profile = profile_of(m);
    const Curve* curve = profile.find_curve("host.adam_gparams_per_s_by_threads");
    REQUIRE(curve != nullptr);
    bool found = false;
    for (const auto& point : curve->points) {
        if (point[0] != 4) continue;
        found = true;
        CHECK(point[1] == Approx((4 + 20.0 / 4) / 2));  // windows: 4, 1, 7 and 8
        CHECK(point[2] == 1);
        CHECK(point[3] == 8);
    }
    CHECK(found);
}
