// Measurements of a machine that follows simple formulas, so that its profile is known beforehand.
#pragma once

#include <string>
#include <vector>

#include "calibrate/measurement/measurements.h"

namespace sluice::synthetic {

// 4 us + FLOPs at 600 TFLOPS; copies 3 us + 50 GB/s in, 40 GB/s out; 4000 GB/s of device memory.
inline constexpr double kOverheadUs = 4, kTflops = 600;
inline constexpr const char* kDate = "2026-11-21";
inline constexpr double kIn = 50, kOut = 40, kDeviceMemory = 4000;

inline CaseTable table(const std::string& name, std::vector<std::string> columns,
                       std::vector<std::vector<double>> rows) {
    CaseTable out;
    out.name = name;
    out.method = "by formula";
    out.columns = std::move(columns);
    out.rows = std::move(rows);
    return out;
}

/// us, us_low, us_high with 1% to either side.
inline void add_times(std::vector<double>& row, double us) {
    row.insert(row.end(), {us, 0.99 * us, 1.01 * us});
}

inline CaseTable products(const std::string& name) {
    CaseTable out =
        table(name, {"m", "n", "k", "added", "us", "us_low", "us_high", "held_out"}, {});
    for (const double m : {512.0, 2048.0, 8192.0, 3000.0}) {
        for (const double n : {1024.0, 4096.0, 2222.0}) {
            for (const double k : {1024.0, 3584.0}) {
                std::vector<double> row = {m, n, k, 0};
                add_times(row, kOverheadUs + 2 * m * n * k / (kTflops * 1e12) * 1e6);
                row.push_back(m == 3000 || n == 2222 ? 1 : 0);
                out.rows.push_back(row);
            }
        }
    }
    return out;
}

/// Half of the square counted: 2 products of 2 FLOPs forward; 400 TFLOPS.
inline CaseTable attention(const std::string& name) {
    CaseTable out = table(name,
                          {"sequences", "sequence", "heads", "kv_heads", "head_dim", "us", "us_low",
                           "us_high", "held_out"},
                          {});
    for (const double sequence : {512.0, 2048.0, 8192.0, 3000.0}) {
        for (const double heads : {16.0, 32.0}) {
            std::vector<double> row = {4, sequence, heads, 4, 128};
            add_times(row, 6 + 4 * heads * sequence * sequence * 128 * 2 / 400e12 * 1e6);
            row.push_back(sequence == 3000 ? 1 : 0);
            out.rows.push_back(row);
        }
    }
    return out;
}

/// 6 bytes an element.
inline CaseTable memory_bound(const std::string& name) {
    CaseTable out = table(name, {"rows", "columns", "us", "us_low", "us_high", "held_out"}, {});
    const bool one_row = name == "sum_squares" || name == "round_to_bf16";
    for (const double rows : {512.0, 4096.0, 32768.0, 5000.0}) {
        for (const double columns : {1024.0, 5120.0}) {
            std::vector<double> row = {one_row ? 1 : rows, one_row ? rows * columns : columns};
            add_times(row, 2 + 6 * rows * columns / kDeviceMemory / 1e3);
            row.push_back(rows == 5000 ? 1 : 0);
            out.rows.push_back(row);
        }
    }
    return out;
}

/// A row for 2^30 numbers at 3000 GB/s, as predictions count bytes, and launches of 1.1 us.
inline std::vector<double> fp8_cast(bool by_rows, bool by_columns, bool sought) {
    const double bytes = (by_rows && by_columns ? 4.9 : 3.1) + (sought ? 2.1 : 0);
    std::vector<double> row = {1 << 16, 1 << 14, by_rows ? 1.0 : 0, by_columns ? 1.0 : 0,
                               sought ? 1.0 : 0};
    add_times(row, (sought ? 3 : 1) * 1.1 + bytes * (1 << 30) / 3000e3);
    return row;
}

inline std::vector<CaseTable> all_memory_bound() {
    std::vector<CaseTable> out;
    for (const char* name :
         {"rms_norm", "rms_norm_backward", "head_norm", "head_norm_backward", "rotary", "swiglu",
          "swiglu_and_gradient", "bias_backward", "cross_entropy", "sum_squares", "round_to_bf16"})
        out.push_back(memory_bound(name));
    return out;
}

inline CaseTable copies(const std::string& name, double gb_per_s) {
    CaseTable out = table(name, {"bytes", "us", "us_low", "us_high"}, {});
    for (const double bytes : {4096.0, 65536.0, 1048576.0, 16777216.0, 268435456.0}) {
        std::vector<double> row = {bytes};
        add_times(row, 3 + bytes / gb_per_s / 1e3);
        out.rows.push_back(row);
    }
    return out;
}

inline CaseTable rates(const std::string& name, double per_thread) {
    CaseTable out = table(name, {"threads", "gb_per_s", "low", "high"}, {});
    for (const double threads : {1.0, 2.0, 4.0, 8.0})
        out.rows.push_back({threads, per_thread * threads, 0.9 * per_thread * threads,
                            1.1 * per_thread * threads});
    return out;
}

inline CaseTable adam() {
    CaseTable out = table("adam", {"state_bytes", "threads", "gparams_per_s", "low", "high"}, {});
    for (const double threads : {4.0, 1.0, 8.0})  // not in order
        for (const double state : {12.0, 8.0, 6.0}) {
            // Fastest at 4 threads.
            const double rate = (threads == 8 ? 3.5 : threads) * 12 / state;
            out.rows.push_back({state, threads, rate, 0.95 * rate, 1.05 * rate});
        }
    return out;
}

/// Adam at 4 threads slows to 0.8, copies in to 0.9, when both run; copies both ways to 0.85.
inline CaseTable mixed_load() {
    CaseTable out = table("mixed_load",
                          {"state_bytes", "threads", "compute", "in", "out", "adam_gparams_per_s",
                           "in_gb_per_s", "out_gb_per_s", "compute_per_s", "held_out"},
                          {});
    const auto add = [&](double threads, bool in, bool out_runs, double adam_share, double share,
                         double held_out) {
        out.rows.push_back({12, threads, 0, in ? 1.0 : 0.0, out_runs ? 1.0 : 0.0,
                            adam_share * threads, in ? share * kIn : 0, out_runs ? share * kOut : 0,
                            0, held_out});
    };
    for (const double threads : {2.0, 4.0, 3.0}) {
        const double held_out = threads == 3 ? 1 : 0;
        add(threads, false, false, 1, 0, held_out);
        add(0, true, false, 0, 1, held_out);
        add(0, false, true, 0, 1, held_out);
        add(0, true, true, 0, 0.85, held_out);
        add(threads, true, false, 0.8, 0.9, held_out);
        add(threads, false, true, 0.8, 0.9, held_out);
        add(threads, true, true, 0.7, 0.75, held_out);
    }
    return out;
}

inline CaseTable both_ways() {
    CaseTable out = table(
        "copy_both_ways",
        {"bytes", "in_gb_per_s", "in_low", "in_high", "out_gb_per_s", "out_low", "out_high"}, {});
    out.rows = {{16777216, 20, 19, 21, 20, 19, 21},
                {67108864, 41, 40, 42, 31, 30, 32},
                {268435456, 43, 41, 44, 33, 31, 34}};
    return out;
}

inline Measurements gpu_machine() {
    Measurements m;
    m.id = "my-machine";
    m.date = kDate;
    m.facts.has_gpu = true;
    m.facts.gpu_name = "NVIDIA H200";
    m.facts.cpu_name = "Some Xeon";
    m.facts.driver = "580.1";
    m.facts.activations = "bf16";
    m.facts.multiprocessors = 132;
    m.facts.gpu_memory_bytes = 150e9;
    m.facts.gpu_context_bytes = 0.9e9;
    m.facts.gpu_power_limit_w = 700;
    m.facts.host_memory_bytes = 137e9;
    m.facts.system_reserve_bytes = 1e9;
    m.facts.process_base_bytes = 0.95e9;
    m.facts.cpus = 16;
    m.facts.physical_cores = 8;
    m.facts.numa_nodes = 1;
    m.cases = {
        {"copies",
         kDate,
         10,
         false,
         {copies("copy_host_to_device", kIn), copies("copy_device_to_host", kOut), both_ways(),
          table("copy_pageable_host_to_device", {"bytes", "gb_per_s", "low", "high"},
                {{268435456, 10, 9, 11}})},
         {}},
        {"host_memory", kDate, 5, false, {rates("host_triad", 15), rates("host_copy", 6)}, {}},
        {"adam", kDate, 5, false, {adam()}, {"adam: noisy"}},
        {"mixed_load", kDate, 5, false, {mixed_load()}, {}},
        {"storage",
         kDate,
         5,
         false,
         {table("storage_read", {"block_bytes", "queue_depth", "gb_per_s", "low", "high"},
                {{16777216, 4, 3.3, 3.2, 3.4}, {262144, 1, 1.1, 1, 1.2}})},
         {}},
        {"launch",
         kDate,
         1,
         false,
         {table("launch", {"kernel_us", "event_us", "host_us"}, {{1.1, -0.1, 2.5}})},
         {}},
        {"device_copy", kDate, 1, false, {copies("device_copy", kDeviceMemory / 2)}, {}},
        {"gemm",
         kDate,
         30,
         false,
         {products("gemm_forward"), products("gemm_input_gradient"),
          products("gemm_weight_gradient")},
         {}},
        {"attention",
         kDate,
         10,
         false,
         {attention("attention_forward"), attention("attention_backward")},
         {}},
        {"memory_bound", kDate, 5, false, all_memory_bound(), {}},
        {"fp8",
         kDate,
         3,
         false,
         {table("fp8_products", {"us", "us_low", "us_high", "tflop"}, {{880, 800, 1100, 1.1}}),
          table("fp8_casts",
                {"rows", "columns", "by_rows", "by_columns", "sought", "us", "us_low", "us_high"},
                {fp8_cast(true, false, false), fp8_cast(false, true, true),
                 fp8_cast(true, true, true)})},
         {}},
        {"power",
         kDate,
         2,
         false,
         {table("power_idle", {"watts", "watts_low", "watts_high"}, {{80, 79, 81}}),
          table("power_gemm", {"watts", "watts_low", "watts_high", "joules_per_tflop"},
                {{690, 680, 700, 1.05}})},
         {}},
        {"gpu_interconnect", kDate, 0, false, {}, {}},
    };
    return m;
}

/// Products one after another: the first waits for the host; 1365 us each before 50 ms, at the
/// 37th, then 1600 us.
inline CaseTable clock_after_rest(int products = 100) {
    CaseTable out = table("clock_after_rest", {"begin_s", "us", "us_low", "us_high", "tflop"}, {});
    double begin_s = 0;
    for (int i = 0; i < products; ++i) {
        const double us = i == 0 ? 2000 : begin_s < 0.05 ? 1365 : 1600;
        out.rows.push_back({begin_s, us, us, us, 1.1});
        begin_s += us / 1e6;
    }
    return out;
}

/// gpu_machine() with a clock that falls under load: 950 W before, 690 W after.
inline Measurements gpu_machine_with_clock() {
    Measurements m = gpu_machine();
    // Busy 40% of the time: 0.4 x 950 W + 0.6 x 80 W.
    const CaseTable bursts = table("clock_bursts", {"watts", "busy_share"}, {{428, 0.4}});
    m.cases.push_back({"clock", kDate, 5, false, {clock_after_rest(), bursts}, {}});
    for (CaseRecord& record : m.cases) {
        if (record.name != "power") continue;
        record.tables.push_back(
            table("power_attention", {"watts", "joules_per_tflop"}, {{500, 1.5}}));
        record.tables.push_back(table("power_memory", {"watts", "joules_per_gb"}, {{600, 0.15}}));
    }
    return m;
}

/// gpu_machine() without a GPU.
inline Measurements cpu_machine() {
    Measurements m = gpu_machine();
    m.facts.has_gpu = false;
    m.facts.gpu_name = m.facts.driver = "";
    m.facts.activations = "fp32";
    m.facts.multiprocessors = m.facts.gpu_memory_bytes = m.facts.gpu_context_bytes = 0;
    m.facts.gpu_power_limit_w = 0;
    m.facts.compute_threads = 8;
    std::erase_if(m.cases[0].tables,
                  [](const CaseTable& table) { return table.name.starts_with("copy_pageable"); });
    return m;
}

}  // namespace sluice::synthetic
