// A small measured profile of round numbers, and the datasheet of the same machine.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/specs/machine/kernel_measurement.h"

namespace sluice {

using Json = nlohmann::ordered_json;

inline Json measured_number(double value) {
    return {{"value", value}, {"method", "measured"}, {"source", "bench"}, {"date", "2026-11-20"}};
}
inline Json datasheet_number(double value) {
    return {{"value", value}, {"source", "sheet"}, {"date", "2026-11-19"}};
}

/// Rows of a table: small and large shapes.
inline std::vector<std::vector<double>> shapes_of(KernelTableId id) {
    if (kernel_columns(id).front() == "m") {
        return {{1024, 1024, 1024, 0},
                {4096, 1024, 2048, 0},
                {8192, 8192, 4096, 1},
                {512, 4096, 4096, 0},
                {32768, 3584, 3584, 0}};
    }
    if (kernel_columns(id).size() == 5)
        return {{8, 1024, 16, 4, 128}, {1, 8192, 28, 4, 128}, {4, 4096, 16, 16, 64}};
    return {{1024, 1024}, {32768, 3584}, {8192, 65536}};
}

/// Times follow the trend 2 us + 1.5 us a GFLOP + 0.5 us a unit of bytes, rows or elements, bent by
/// the weights.
inline KernelMeasurement synthetic_kernels(KernelTableId id, double multiprocessors) {
    KernelMeasurement measured;
    measured.id = id;
    measured.length_doublings = 4;
    measured.held_out = {10, 2, 6, -4, 5};
    for (const std::string& name : kernel_feature_names(id))
        measured.trend.push_back(name == "us" ? 2 : name == "us_per_gflop" ? 1.5 : 0.5);
    double sign = 1;
    for (const auto& row : shapes_of(id)) {
        measured.points.push_back({row, 1, 1, 1, 0.05 * sign});
        sign = -sign;
    }
    const KernelTable table = measured.table();
    for (KernelPoint& point : measured.points) {
        const Kernel kernel = kernel_of_row(id, point.row);
        point.us = 1e6 * table.time(kernel_features(id, kernel, multiprocessors),
                                    kernel_coordinates(id, kernel));
        point.us_low = 0.99 * point.us;
        point.us_high = 1.02 * point.us;
    }
    return measured;
}

inline Json kernels_json(const KernelMeasurement& measured) {
    std::vector<std::string> columns = kernel_columns(measured.id);
    columns.insert(columns.end(), {"us", "us_low", "us_high", "weight"});
    Json points = Json::array();
    for (const KernelPoint& point : measured.points) {
        std::vector<double> row = point.row;
        row.insert(row.end(), {point.us, point.us_low, point.us_high, point.weight});
        points.push_back(row);
    }
    Json trend = Json::object();
    const auto& names = kernel_feature_names(measured.id);
    for (std::size_t i = 0; i < names.size(); ++i) trend[names[i]] = measured.trend[i];
    return {{"columns", columns},
            {"points", points},
            {"trend", trend},
            {"length_doublings", measured.length_doublings},
            {"held_out",
             {{"shapes", 10},
              {"mean_error_percent", 2},
              {"worst_error_percent", 6},
              {"low_percent", -4},
              {"high_percent", 5}}},
            {"method", "measured"},
            {"source", "bench"},
            {"date", "2026-11-20"}};
}

inline Json curve_json(const std::vector<std::string>& columns,
                       const std::vector<std::vector<double>>& points) {
    return {{"columns", columns},
            {"points", points},
            {"method", "measured"},
            {"source", "bench"},
            {"date", "2026-11-20"}};
}

/// 132 multiprocessors, 1000 TFLOPS, 4800 GB/s, PCIe 64 GB/s, host 300 GB/s and 16 cores, 700 W.
inline Json measured_profile() {
    Json gpu = {{"name", "Synthetic 1"},
                {"memory_capacity_gb", measured_number(140)},
                {"memory_bandwidth_gb_per_s", measured_number(4800)},
                {"memory_bandwidth_achieved_gb_per_s", measured_number(4200)},
                {"bf16_dense_tflops", measured_number(1000)},
                {"bf16_achieved_gemm_tflops", measured_number(790)},
                {"multiprocessors", measured_number(132)},
                {"tdp_w", measured_number(700)},
                {"context_gb", measured_number(0.8)}};
    gpu["memory_bandwidth_achieved_gb_per_s"]["low"] = 4100;
    gpu["memory_bandwidth_achieved_gb_per_s"]["high"] = 4250;
    Json kernels = {{"gemm_sustained_tflops", measured_number(670)},
                    {"launch_us", measured_number(1.1)}};
    for (int id = 0; id < kKernelTables; ++id) {
        const auto table = static_cast<KernelTableId>(id);
        kernels[kernel_table_name(table)] = kernels_json(synthetic_kernels(table, 132));
    }
    Json link = {{"type", "PCIe 5.0 x16"},
                 {"raw_per_direction_gb_per_s", measured_number(64)},
                 {"host_to_device_gb_per_s", measured_number(55)},
                 {"device_to_host_gb_per_s", measured_number(55)},
                 {"both_ways_host_to_device_gb_per_s", measured_number(48)},
                 {"both_ways_device_to_host_gb_per_s", measured_number(48)},
                 {"copy_latency_us", measured_number(2.5)}};
    link["curve"]["host_to_device_gb_per_s_by_bytes"] = curve_json(
        {"bytes", "gb_per_s", "low", "high"}, {{65536, 17, 16, 18}, {67108864, 55, 54, 55.5}});
    Json host = {{"name", "16 cores"},
                 {"unified_memory", false},
                 {"cores", measured_number(16)},
                 {"memory_capacity_gb", measured_number(137)},
                 {"memory_bandwidth_gb_per_s", measured_number(300)},
                 {"memory_bandwidth_stream_gb_per_s", measured_number(250)},
                 {"adam_bytes_per_parameter", measured_number(26)}};
    host["adam_gparams_per_s_by_threads"] =
        curve_json({"threads", "gparams_per_s"}, {{1, 1}, {4, 4}, {8, 6}, {16, 7}});
    host["contention"] = curve_json({"compute", "in", "out", "work_gb_per_s", "compute_share",
                                     "in_share", "out_share", "work_share"},
                                    {{0, 1, 0, 100, 1, 0.9, 1, 0.95},
                                     {0, 0, 1, 100, 1, 1, 0.95, 0.95},
                                     {0, 1, 1, 0, 1, 0.87, 0.87, 1},
                                     {0, 1, 1, 150, 1, 0.8, 0.85, 0.9}});
    return {{"schema", "sluice-machine/1"},
            {"name", "Synthetic machine"},
            {"sources", {{"bench", "measured for a test"}}},
            {"gpu", gpu},
            {"kernels", kernels},
            {"link", link},
            {"host", host},
            {"storage", {{"read_gb_per_s", measured_number(3)}}},
            {"power",
             {{"idle_w", measured_number(80)},
              {"gemm_joules_per_tflop", measured_number(1.05)},
              {"cpu_idle_w", measured_number(100)}}},
            {"price", {{"gpu_usd", measured_number(30000)}}}};
}

inline Json same_datasheet() {
    return {
        {"schema", "sluice-datasheet/1"},
        {"name", "Synthetic machine again"},
        {"sources", {{"sheet", "a datasheet for a test"}}},
        {"gpu",
         {{"name", "Synthetic 2"},
          {"memory_capacity_gb", datasheet_number(140)},
          {"memory_bandwidth_gb_per_s", datasheet_number(4800)},
          {"bf16_dense_tflops", datasheet_number(1000)},
          {"multiprocessors", datasheet_number(132)},
          {"tdp_w", datasheet_number(700)}}},
        {"link", {{"type", "PCIe 5.0 x16"}, {"raw_per_direction_gb_per_s", datasheet_number(64)}}},
        {"host",
         {{"name", "16 cores"},
          {"cores", datasheet_number(16)},
          {"memory_capacity_gb", datasheet_number(137)},
          {"memory_bandwidth_gb_per_s", datasheet_number(300)}}}};
}

}  // namespace sluice
