#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/cases/cases.h"
#include "calibrate/cases/nvml.h"
#include "engine/device/peer_copy.h"

namespace sluice {
namespace {

constexpr int kFirst = 0, kSecond = 1;
constexpr int kRepeats = 7;
constexpr Bytes kLargest = Bytes{256} << 20;
constexpr std::array kSizes = {Bytes{64} << 10, Bytes{1} << 20, Bytes{16} << 20, kLargest};

/// GB/s of 1 GB a repeat or 500 copies; both ways together.
Sample rate_gb_per_s(PeerCopy& copies, Bytes bytes, bool both_ways, bool quick) {
    const double amount = quick ? 0.25e9 : 1e9;
    const int count =
        std::clamp(static_cast<int>(amount / static_cast<double>(bytes)), 1, quick ? 100 : 500);
    copies.time(bytes, count, both_ways);  // warm-up
    std::vector<double> seconds;
    for (int repeat = 0; repeat < kRepeats; ++repeat)
        seconds.push_back(copies.time(bytes, count, both_ways));
    const double ways = both_ways ? 2 : 1;
    return rate_of(ways * count * static_cast<double>(bytes) / kGiga, summarize(seconds));
}

std::string path_text(const PeerCopy& copies) {
    const auto first = Nvml::open(gpu_bus_id(kFirst)), second = Nvml::open(gpu_bus_id(kSecond));
    if (!copies.is_direct()) return "through host memory";
    if (first == nullptr || second == nullptr) return "directly";
    const auto nvlink = first->nvlink_to(*second);
    if (!nvlink) return "directly";
    return *nvlink ? "over NVLink" : "over PCIe, without NVLink";
}

void measure_pair(const Bench& bench, CaseRecord& record) {
    const auto copies = make_peer_copy(kFirst, kSecond, kLargest);
    if (!copies->arrives(kLargest)) {
        throw std::runtime_error(fmt::format(
            "a copy of {} bytes from GPU {} to GPU {} did not arrive whole: the link between them "
            "or its driver is broken",
            kLargest, kFirst, kSecond));
    }
    Table table;
    table.name = "gpu_interconnect";
    table.method = fmt::format(
        "copies between GPU {} and GPU {} {}, by events; both ways is the sum of "
        "both; median of {} repeats",
        kFirst, kSecond, path_text(*copies), kRepeats);
    table.columns = {"bytes",         "one_way_gb_per_s",   "one_way_low",
                     "one_way_high",  "both_ways_gb_per_s", "both_ways_low",
                     "both_ways_high"};
    for (const Bytes bytes : kSizes) {
        const Sample one = rate_gb_per_s(*copies, bytes, false, bench.quick);
        const Sample both = rate_gb_per_s(*copies, bytes, true, bench.quick);
        table.add({static_cast<double>(bytes), one.median, one.low, one.high, both.median, both.low,
                   both.high});
    }
    record.tables.push_back(std::move(table));
}

}  // namespace

/// With one GPU or none: no table, and no warning, as nothing is wrong.
void measure_gpu_interconnect(Bench& bench, CaseRecord& record) {
    if (!bench.device_facts.is_gpu || gpu_count() < 2) return;
    try {
        measure_pair(bench, record);
    } catch (const std::runtime_error& error) {
        // The other GPU may be in use or set apart; the machine is calibrated without it.
        record.warnings.push_back(
            fmt::format("copies between GPUs were not measured: {}", error.what()));
    }
}

}  // namespace sluice
