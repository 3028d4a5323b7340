// The rows of `link`, `storage`, `gpu_interconnect` and `network`, and the rules for numbers that a
// profile lacks.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "sim/base/input_error.h"
#include "sim/specs/machine/spec_reader.h"

namespace sluice {
namespace {

using Row = const MachineNumber&;

/// Rates of pinned copies: in one direction over the link's raw rate; in both at once over the sum
/// of both alone.
struct LinkShares {
    double host_to_device, device_to_host, both_ways;
};
constexpr LinkShares kPcie = {55.3 / 63, 55.4 / 63, 95.7 / 110.7};  // the measured H200
constexpr LinkShares kChipLink = {380.0 / 450, 297.5 / 450,
                                  368.0 / 677.5};  // NVLink-C2C of the GH200 with 480 GB
constexpr double kH200Pageable = 10.1e9, kH200FreshPageable = 2.03e9;
// Copies from pageable memory over copies from pinned memory, if the GPU reads the processor's page
// tables: 92.99 of 97.42 GiB/s in copies of 1 GiB on a GH200 (vortex-data/vortex, pull request
// 7815, 2026-05-06).
constexpr double kPageableOfChipLink = 92.99 / 97.42;

// The simulator gives each direction half of their joint rate; beyond this ratio the profile's
// assumptions say so.
constexpr double kUneven = 1.1;

constexpr const char* kRaw = "link.raw_per_direction_gb_per_s";

bool is_chip_link(const SpecReader& reader) { return reader.profile().flag("link.chip_to_chip"); }
const LinkShares& shares_of(const SpecReader& reader) {
    return is_chip_link(reader) ? kChipLink : kPcie;
}

template <double LinkShares::*OneWay>
double one_way(Row row, SpecReader& reader, const MachineSpec&) {
    if (const auto rate = reader.take(row.path)) return *rate * kGiga;
    const double raw = reader.required(kRaw);
    const double share = shares_of(reader).*OneWay;
    reader.assume(row.trust,
                  fmt::format("{} is not published; it is taken as {:.3f} of the raw {:g} GB/s, as "
                              "measured on another machine with such a link",
                              row.path, share, raw));
    return share * raw * kGiga;
}

constexpr const char* kBothIn = "link.both_ways_host_to_device_gb_per_s";
constexpr const char* kBothOut = "link.both_ways_device_to_host_gb_per_s";

double both_ways(Row row, SpecReader& reader, const MachineSpec& so_far) {
    const LinkSpec& link = so_far.link;
    if (so_far.unified_memory) return std::max(link.host_to_device, link.device_to_host);
    if (!reader.knows(kBothIn) || !reader.knows(kBothOut)) {
        const double share = shares_of(reader).both_ways;
        reader.assume(
            row.trust,
            fmt::format("copies in both directions at once reach {:.2f} of the rate of each "
                        "direction alone, as measured on another machine with such a link",
                        share));
        return share * (link.host_to_device + link.device_to_host);
    }
    const double in = *reader.take(kBothIn), out = *reader.take(kBothOut);
    if (std::max(in, out) > kUneven * std::min(in, out)) {
        reader.say(
            fmt::format("copies in both directions at once share {:g} GB/s evenly, although the "
                        "profile states {:g} to the device and {:g} to the host",
                        in + out, in, out));
    }
    return (in + out) * kGiga;
}

double pageable(Row row, SpecReader& reader, const MachineSpec& so_far) {
    const double pinned = so_far.link.host_to_device;
    if (const auto rate = reader.take(row.path)) return std::min(pinned, *rate * kGiga);
    if (is_chip_link(reader)) {
        reader.assume(row.trust,
                      fmt::format("copies from pageable memory reach {:.2f} of those from pinned "
                                  "memory, as measured on a GH200",
                                  kPageableOfChipLink));
        return kPageableOfChipLink * pinned;
    }
    const double assumed = std::min(pinned, kH200Pageable);
    reader.assume(
        row.trust,
        fmt::format(
            "copies from pageable memory reach {:g} GB/s, at most the rate of the measured H200",
            assumed / kGiga));
    return assumed;
}

/// The limit is the operating system, which maps and zeroes page after page.
double fresh_pageable(Row row, SpecReader& reader, const MachineSpec& so_far) {
    if (const auto rate = reader.take(row.path)) return *rate * kGiga;
    const LinkSpec& link = so_far.link;
    const double assumed = std::min(link.pageable_device_to_host > 0 ? link.pageable_device_to_host
                                                                     : link.pageable_host_to_device,
                                    kH200FreshPageable);
    reader.assume(row.trust, fmt::format("copies to pageable memory that is mapped during the copy "
                                         "reach {:g} GB/s, at most the rate of the measured H200",
                                         assumed / kGiga));
    return assumed;
}

/// Share of the rate of one direction by size, at most 1: without a GPU, small copies come from
/// caches.
Interpolated share_by_bytes(Row row, SpecReader& reader, double one_way) {
    auto points = reader.take_curve(row.path);
    for (auto& [bytes, rate] : points) rate = std::min(1.0, row.in_si(rate) / one_way);
    return Interpolated(std::move(points));
}

Interpolated share_to_device(Row row, SpecReader& reader, const MachineSpec& so_far) {
    Interpolated share = share_by_bytes(row, reader, so_far.link.host_to_device);
    if (share.empty()) reader.assume(row.trust, "copies reach their full rate at any size");
    return share;
}

/// If one direction was measured, the other falls off by the same share.
Interpolated share_to_host(Row row, SpecReader& reader, const MachineSpec& so_far) {
    Interpolated share = share_by_bytes(row, reader, so_far.link.device_to_host);
    return share.empty() ? so_far.link.share_to_device_by_bytes : share;
}

constexpr std::array kLinkRows = {
    row("link.type", ValueKind::text),
    row("link.chip_to_chip", ValueKind::flag),
    row(kRaw, Trust::datasheet, Transfer::link),
    row("link.host_to_device_gb_per_s", Trust::measured,
        fill<&MachineSpec::link, &LinkSpec::host_to_device>, &one_way<&LinkShares::host_to_device>,
        MeasuredBy{"copies"}, AtMost{kRaw}, Judges{RateGroup::link}, GainsFrom{part::to_device},
        Transfer::link,
        Shown{"link to the device", "copies from pinned host memory to the device, alone"}),
    row("link.device_to_host_gb_per_s", Trust::measured,
        fill<&MachineSpec::link, &LinkSpec::device_to_host>, &one_way<&LinkShares::device_to_host>,
        MeasuredBy{"copies"}, AtMost{kRaw}, Judges{RateGroup::link}, GainsFrom{part::to_host},
        Transfer::link,
        Shown{"link to the host", "copies from the device to pinned host memory, alone"}),
    // The member is the sum of both directions.
    row(kBothIn, Trust::measured, fill<&MachineSpec::link, &LinkSpec::both_ways_total>, &both_ways,
        MeasuredBy{"copies"}, Judges{RateGroup::host_memory}, GainsFrom{part::link},
        Transfer::both_ways),
    row(kBothOut, Trust::measured, MeasuredBy{"copies"}, Judges{RateGroup::host_memory},
        GainsFrom{part::link}, Transfer::both_ways),
    MachineNumber{
        .path = "link.copy_latency_us", .measured_by = "copies", .transfer = Transfer::as_measured},
    row("link.curve.host_to_device_gb_per_s_by_bytes", ValueKind::curve, CurveShape::rates_by_bytes,
        Trust::measured, fill<&MachineSpec::link, &LinkSpec::share_to_device_by_bytes>,
        &share_to_device, MeasuredBy{"copies"}, Transfer::link),
    row("link.curve.device_to_host_gb_per_s_by_bytes", ValueKind::curve, CurveShape::rates_by_bytes,
        Trust::measured, fill<&MachineSpec::link, &LinkSpec::share_to_host_by_bytes>,
        &share_to_host, MeasuredBy{"copies"}, Transfer::link),
    row("link.other.pageable_host_to_device_gb_per_s", Trust::measured,
        fill<&MachineSpec::link, &LinkSpec::pageable_host_to_device>, &pageable,
        MeasuredBy{"copies"}, RateGroup::link, GainsFrom{part::to_device}, Transfer::as_measured),
    row("link.other.pageable_device_to_host_gb_per_s", Trust::others,
        fill<&MachineSpec::link, &LinkSpec::pageable_device_to_host>, MeasuredBy{"copies"},
        RateGroup::link, GainsFrom{part::to_host}, Transfer::as_measured),
    row("link.other.pageable_device_to_fresh_host_gb_per_s", Trust::others,
        fill<&MachineSpec::link, &LinkSpec::pageable_device_to_fresh_host>, &fresh_pageable,
        RateGroup::host_work, Transfer::as_measured),
};

// 361 of 450 GB/s: all-reduce of 1 GiB over 8 H100 in rings (NVLink SHARP off), measured on
// 2026-11-13; NCCL's developers state 360 (nccl-tests issue 326).
constexpr double kBusShare = 361.0 / 450;
// The middle of 46 to 48 of the 50 GB/s of a 400 Gb/s adapter, which NCCL's developers state
// (nccl-tests issue 290).
constexpr double kNetworkShare = 47.0 / 50;

constexpr const char* kPerDirection = "gpu_interconnect.per_direction_gb_per_s";

/// GPUs of a node; 0: not known.
double gpus_per_node(Row row, SpecReader& reader, const MachineSpec&) {
    const double count = reader.take(row.path).value_or(0);
    if (count == std::floor(count)) return count;
    throw InputError(fmt::format(
        "{}: {} is {:g}, expected a whole number from 1; give the GPUs that one node has",
        reader.profile().file, row.path, count));
}

/// A datasheet's rate times the share of it that collectives reach.
std::optional<double> share_of(SpecReader& reader, std::string_view path, double share,
                               const char* where) {
    const auto rate = reader.take(path);
    if (!rate) return std::nullopt;
    reader.say_where_used(
        path, fmt::format("collectives reach {:.2f} of {} {:g}, as {}", share, path, *rate, where));
    return *rate * share * kGiga;
}

Interpolated bus(Row row, SpecReader& reader, const MachineSpec&) {
    auto points = reader.take_curve(row.path);
    for (auto& [gpus, rate] : points) rate = row.in_si(rate);
    if (points.empty()) {
        if (const auto rate =
                share_of(reader, kPerDirection, kBusShare, "measured on 8 H100 with NVLink 4"))
            points.emplace_back(1, *rate);
    }
    return Interpolated(std::move(points));
}

double network(Row row, SpecReader& reader, const MachineSpec&) {
    return share_of(reader, row.path, kNetworkShare,
                    "NCCL's developers state for 400 Gb/s InfiniBand")
        .value_or(0);
}

constexpr std::array kNodeRows = {
    row(kStorageRates[0], Trust::where_used, fill<&MachineSpec::storage, &StorageSpec::read>,
        MeasuredBy{"storage"}, Judges{RateGroup::storage}, GainsFrom{part::storage_read}),
    row(kStorageRates[1], Trust::where_used, fill<&MachineSpec::storage, &StorageSpec::write>,
        MeasuredBy{"storage"}, Judges{RateGroup::storage}, GainsFrom{part::storage_write}),
    row("storage.latency_us", Trust::where_used,
        fill<&MachineSpec::storage, &StorageSpec::latency>),
    row("storage.capacity_gb", Trust::where_used,
        fill<&MachineSpec::storage, &StorageSpec::capacity>),
    row("gpu_interconnect.gpus_per_node", Trust::as_given,
        fill<&MachineSpec::interconnect, &InterconnectSpec::gpus_per_node>, &gpus_per_node),
    row(kPerDirection, Trust::as_given),
    row("gpu_interconnect.curve.bus_gb_per_s_by_gpus", ValueKind::curve, Trust::where_used,
        fill<&MachineSpec::interconnect, &InterconnectSpec::bus_by_gpus>, &bus,
        Judges{RateGroup::interconnect}, GainsFrom{part::interconnect}),
    row("network.per_gpu_gb_per_s", Trust::as_given,
        fill<&MachineSpec::interconnect, &InterconnectSpec::network_per_gpu>, &network,
        Judges{RateGroup::network}, GainsFrom{part::interconnect}),
};

}  // namespace

std::span<const MachineNumber> link_numbers() { return kLinkRows; }

std::span<const MachineNumber> node_numbers() { return kNodeRows; }

}  // namespace sluice
