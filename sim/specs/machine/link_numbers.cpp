// The rows of `link`, and what stands in for those that a profile lacks.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/specs/machine/spec_reader.h"

namespace sluice {
namespace {

using Row = const MachineNumber&;

/// What pinned copies reach: one way, of the link's raw rate; both at once, of the sum of one way
/// each.
struct LinkShares {
    double host_to_device, device_to_host, both_ways;
};
constexpr LinkShares kPcie = {55.3 / 63, 55.4 / 63, 95.7 / 110.7};  // the H200 measured
constexpr LinkShares kChipLink = {380.0 / 450, 297.5 / 450,
                                  368.0 / 677.5};  // NVLink-C2C of the GH200 with 480 GB
constexpr double kH200Pageable = 10.1e9, kH200FreshPageable = 2.03e9;
// Host to device from pageable memory, of what pinned memory gives, where the GPU reads the
// processor's page tables: 92.99 of 97.42 GiB/s in copies of 1 GiB on a GH200 (vortex-data/vortex,
// pull request 7815, 2026-05-06).
constexpr double kPageableOfChipLink = 92.99 / 97.42;

// The simulator shares what both ways reach together evenly; beyond this ratio that is worth
// saying.
constexpr double kUneven = 1.1;

constexpr const char* kRaw = "link.raw_per_direction_gb_per_s";

bool is_chip_link(const SpecReader& reader) {
    return reader.profile().text("link.type").find("C2C") != std::string::npos;
}
const LinkShares& shares_of(const SpecReader& reader) {
    return is_chip_link(reader) ? kChipLink : kPcie;
}

template <double LinkShares::*OneWay>
double one_way(Row row, SpecReader& reader, const MachineSpec&) {
    if (const auto rate = reader.take(row.path)) return *rate * kGiga;
    const double raw = reader.required(kRaw);
    const double share = shares_of(reader).*OneWay;
    reader.assume(row.trust, fmt::format("{} is not published: {:.3f} of the raw {:g} GB/s, as "
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
        reader.assume(row.trust,
                      fmt::format("copies both ways at once reach {:.2f} of what each way reaches "
                                  "alone, as measured on another machine with such a link",
                                  share));
        return share * (link.host_to_device + link.device_to_host);
    }
    const double in = *reader.take(kBothIn), out = *reader.take(kBothOut);
    if (std::max(in, out) > kUneven * std::min(in, out)) {
        reader.say(
            fmt::format("copies both ways at once share {:g} GB/s evenly, while {:g} to the device "
                        "and {:g} to the host are stated",
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
    reader.assume(row.trust, fmt::format("copies from pageable memory reach {:g} GB/s, at most "
                                         "what they do on the H200 measured",
                                         assumed / kGiga));
    return assumed;
}

/// What limits is the system, which maps and zeroes page after page.
double fresh_pageable(Row row, SpecReader& reader, const MachineSpec& so_far) {
    if (const auto rate = reader.take(row.path)) return *rate * kGiga;
    const LinkSpec& link = so_far.link;
    const double assumed = std::min(link.pageable_device_to_host > 0 ? link.pageable_device_to_host
                                                                     : link.pageable_host_to_device,
                                    kH200FreshPageable);
    reader.assume(row.trust, fmt::format("copies to pageable memory that is mapped meanwhile reach "
                                         "{:g} GB/s, at most what they do on the H200 measured",
                                         assumed / kGiga));
    return assumed;
}

/// Share of the one-way rate by size, at most 1: without a GPU small copies come from caches.
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

/// One direction measured: the other falls off by the same share.
Interpolated share_to_host(Row row, SpecReader& reader, const MachineSpec& so_far) {
    Interpolated share = share_by_bytes(row, reader, so_far.link.device_to_host);
    return share.empty() ? so_far.link.share_to_device_by_bytes : share;
}

constexpr std::array kLinkRows = {
    MachineNumber{.path = "link.type", .kind = ValueKind::text},
    MachineNumber{.path = kRaw, .trust = Trust::datasheet, .transfer = Transfer::link},
    MachineNumber{.path = "link.host_to_device_gb_per_s",
                  .trust = Trust::measured,
                  .member = fill<&MachineSpec::link, &LinkSpec::host_to_device>,
                  .rule = &one_way<&LinkShares::host_to_device>,
                  .measured_by = "copies",
                  .peak = kRaw,
                  .group = RateGroup::link,
                  .judges_group = true,
                  .parts = part::to_device,
                  .transfer = Transfer::link,
                  .label = "link to the device",
                  .help = "copies from pinned host memory to the device, alone"},
    MachineNumber{.path = "link.device_to_host_gb_per_s",
                  .trust = Trust::measured,
                  .member = fill<&MachineSpec::link, &LinkSpec::device_to_host>,
                  .rule = &one_way<&LinkShares::device_to_host>,
                  .measured_by = "copies",
                  .peak = kRaw,
                  .group = RateGroup::link,
                  .judges_group = true,
                  .parts = part::to_host,
                  .transfer = Transfer::link,
                  .label = "link to the host",
                  .help = "copies from the device to pinned host memory, alone"},
    // The member is the sum of both.
    MachineNumber{.path = kBothIn,
                  .trust = Trust::measured,
                  .member = fill<&MachineSpec::link, &LinkSpec::both_ways_total>,
                  .rule = &both_ways,
                  .measured_by = "copies",
                  .group = RateGroup::host_memory,
                  .judges_group = true,
                  .parts = part::link,
                  .transfer = Transfer::both_ways},
    MachineNumber{.path = kBothOut,
                  .trust = Trust::measured,
                  .measured_by = "copies",
                  .group = RateGroup::host_memory,
                  .judges_group = true,
                  .parts = part::link,
                  .transfer = Transfer::both_ways},
    MachineNumber{
        .path = "link.copy_latency_us", .measured_by = "copies", .transfer = Transfer::as_measured},
    MachineNumber{.path = "link.curve.host_to_device_gb_per_s_by_bytes",
                  .kind = ValueKind::curve,
                  .shape = CurveShape::rates_by_bytes,
                  .trust = Trust::measured,
                  .member = fill<&MachineSpec::link, &LinkSpec::share_to_device_by_bytes>,
                  .rule = &share_to_device,
                  .measured_by = "copies",
                  .transfer = Transfer::link},
    MachineNumber{.path = "link.curve.device_to_host_gb_per_s_by_bytes",
                  .kind = ValueKind::curve,
                  .shape = CurveShape::rates_by_bytes,
                  .trust = Trust::measured,
                  .member = fill<&MachineSpec::link, &LinkSpec::share_to_host_by_bytes>,
                  .rule = &share_to_host,
                  .measured_by = "copies",
                  .transfer = Transfer::link},
    MachineNumber{.path = "link.other.pageable_host_to_device_gb_per_s",
                  .trust = Trust::measured,
                  .member = fill<&MachineSpec::link, &LinkSpec::pageable_host_to_device>,
                  .rule = &pageable,
                  .measured_by = "copies",
                  .group = RateGroup::link,
                  .parts = part::to_device,
                  .transfer = Transfer::as_measured},
    MachineNumber{.path = "link.other.pageable_device_to_host_gb_per_s",
                  .trust = Trust::others,
                  .member = fill<&MachineSpec::link, &LinkSpec::pageable_device_to_host>,
                  .measured_by = "copies",
                  .group = RateGroup::link,
                  .parts = part::to_host,
                  .transfer = Transfer::as_measured},
    MachineNumber{.path = "link.other.pageable_device_to_fresh_host_gb_per_s",
                  .trust = Trust::others,
                  .member = fill<&MachineSpec::link, &LinkSpec::pageable_device_to_fresh_host>,
                  .rule = &fresh_pageable,
                  .group = RateGroup::host_work,
                  .transfer = Transfer::as_measured},
};

}  // namespace

std::span<const MachineNumber> link_numbers() { return kLinkRows; }

}  // namespace sluice
