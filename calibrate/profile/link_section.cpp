#include <fmt/format.h>

#include <algorithm>

#include "calibrate/fit/regression.h"
#include "calibrate/profile/sections.h"
#include "sim/base/units.h"

namespace sluice {
namespace {

/// Chunks from here on reach the full rate, as the engine's do.
constexpr double kLargeChunk = 64 << 20;

/// bytes, GB/s, low, high. Times are made to rise with size: more bytes take no less.
std::vector<std::vector<double>> copy_curve(const Table& copies) {
    const std::vector<std::size_t> rows = ascending(copies, "bytes");
    std::vector<double> us;
    for (const std::size_t row : rows) us.push_back(copies.at(row, "us"));
    std::vector<double> weights = relative_weights(us);
    for (double& weight : weights) weight *= weight;
    const std::vector<double> rising = isotonic(us, weights, Monotone::increasing);
    std::vector<std::vector<double>> points;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const double bytes = copies.at(rows[i], "bytes");
        const double slow = std::max(rising[i], copies.at(rows[i], "us_high"));
        const double fast = std::min(rising[i], copies.at(rows[i], "us_low"));
        points.push_back(
            {bytes, gb_per_s(bytes, rising[i]), gb_per_s(bytes, slow), gb_per_s(bytes, fast)});
    }
    return points;
}

void add_direction(const Measurements& m, const std::string& direction, ProfileJson& profile) {
    const Table* copies = find_rows(m, "copy_" + direction);
    if (copies == nullptr) return;
    auto points = copy_curve(*copies);
    const std::vector<double> largest = points.back();
    profile.set_number(
        fmt::format("link.{}_gb_per_s", direction), largest[1], Range{largest[2], largest[3]},
        measured_here(m, *copies,
                      fmt::format("copies of {:.4g} MB; {}", largest[0] / kMega, copies->method)));
    profile.set_curve(fmt::format("link.curve.{}_gb_per_s_by_bytes", direction),
                      {"bytes", "gb_per_s", "low", "high"}, std::move(points),
                      measured_here(m, *copies, copies->method));
}

void add_latency(const Measurements& m, ProfileJson& profile) {
    const Table* copies = find_rows(m, "copy_host_to_device");
    if (copies == nullptr) return;
    const std::size_t row = ascending(*copies, "bytes").front();
    profile.set_number(
        "link.copy_latency_us", copies->at(row, "us"),
        Range{copies->at(row, "us_low"), copies->at(row, "us_high")},
        measured_here(m, *copies,
                      fmt::format("a copy of {} bytes to the device", copies->at(row, "bytes"))));
}

void add_both_ways(const Measurements& m, ProfileJson& profile) {
    const Table* both = find_rows(m, "copy_both_ways");
    if (both == nullptr) return;
    std::vector<std::size_t> rows = ascending(*both, "bytes");
    std::erase_if(rows, [&](std::size_t row) { return both->at(row, "bytes") < kLargeChunk; });
    if (rows.empty()) rows = {row_of_largest(*both, "bytes")};
    const auto add = [&](const std::string& way, const char* path) {
        double sum = 0;
        Range range{1e300, 0};
        for (const std::size_t row : rows) {
            sum += both->at(row, way + "_gb_per_s");
            range.low = std::min(range.low, both->at(row, way + "_low"));
            range.high = std::max(range.high, both->at(row, way + "_high"));
        }
        profile.set_number(
            path, sum / static_cast<double>(rows.size()), range,
            measured_here(m, *both,
                          fmt::format("while the other way runs, chunks of {:.4g} MB or more; {}",
                                      both->at(rows.front(), "bytes") / kMega, both->method)));
    };
    add("in", "link.both_ways_host_to_device_gb_per_s");
    add("out", "link.both_ways_device_to_host_gb_per_s");
}

void add_pageable(const Measurements& m, const std::string& direction, ProfileJson& profile) {
    const Table* copies = find_rows(m, "copy_pageable_" + direction);
    if (copies == nullptr) return;
    const MeasuredRate rate =
        rate_at(*copies, row_of_largest(*copies, "bytes"), "gb_per_s", "low", "high");
    profile.set_number(fmt::format("link.other.pageable_{}_gb_per_s", direction), rate.value,
                       rate.range, measured_here(m, *copies, copies->method));
}

/// Without a GPU no memory is registered: any copy is one of pageable memory.
void add_memory_copies(const Measurements& m, ProfileJson& profile) {
    profile.set_text("link.type", "none: copies within host memory, by the processor");
    for (const char* direction : {"host_to_device", "device_to_host"}) {
        const Table* copies = find_rows(m, fmt::format("copy_{}", direction));
        if (copies == nullptr) continue;
        const std::vector<double> largest = copy_curve(*copies).back();
        profile.set_number(fmt::format("link.other.pageable_{}_gb_per_s", direction), largest[1],
                           Range{largest[2], largest[3]},
                           measured_here(m, *copies, "without a GPU as from any other memory"));
    }
}

}  // namespace

void add_link(const Measurements& measurements, ProfileJson& profile) {
    for (const char* direction : {"host_to_device", "device_to_host"}) {
        add_direction(measurements, direction, profile);
        add_pageable(measurements, direction, profile);
    }
    if (!measurements.facts.has_gpu) add_memory_copies(measurements, profile);
    add_latency(measurements, profile);
    add_both_ways(measurements, profile);
}

}  // namespace sluice
