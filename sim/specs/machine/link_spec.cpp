#include <fmt/format.h>

#include <algorithm>

#include "sim/specs/machine/spec_reader.h"

namespace sluice {
namespace {

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

double one_way(SpecReader& reader, const char* path, double share_of_raw) {
    if (const auto rate = reader.take(path)) return *rate * kGiga;
    const double raw = reader.required("link.raw_per_direction_gb_per_s", Trust::datasheet);
    reader.transfer(fmt::format(
        "{} is not published: {:.3f} of the raw {:g} GB/s, as measured on another machine with "
        "such a link",
        path, share_of_raw, raw));
    return share_of_raw * raw * kGiga;
}

double both_ways(SpecReader& reader, const LinkSpec& link, double share) {
    constexpr const char* kIn = "link.both_ways_host_to_device_gb_per_s";
    constexpr const char* kOut = "link.both_ways_device_to_host_gb_per_s";
    if (!reader.knows(kIn) || !reader.knows(kOut)) {
        reader.transfer(
            fmt::format("copies both ways at once reach {:.2f} of what each way reaches alone, as "
                        "measured on another machine with such a link",
                        share));
        return share * (link.host_to_device + link.device_to_host);
    }
    const double in = *reader.take(kIn), out = *reader.take(kOut);
    if (std::max(in, out) > kUneven * std::min(in, out)) {
        reader.say(
            fmt::format("copies both ways at once share {:g} GB/s evenly, while {:g} to the device "
                        "and {:g} to the host are stated",
                        in + out, in, out));
    }
    return (in + out) * kGiga;
}

double pageable(SpecReader& reader, double host_to_device, bool chip_link) {
    if (const auto rate = reader.take("link.other.pageable_host_to_device_gb_per_s"))
        return std::min(host_to_device, *rate * kGiga);
    if (chip_link) {
        reader.transfer(
            fmt::format("copies from pageable memory reach {:.2f} of those from pinned memory, as "
                        "measured on a GH200",
                        kPageableOfChipLink));
        return kPageableOfChipLink * host_to_device;
    }
    const double assumed = std::min(host_to_device, kH200Pageable);
    reader.transfer(
        fmt::format("copies from pageable memory reach {:g} GB/s, at most what they do on the H200 "
                    "measured",
                    assumed / kGiga));
    return assumed;
}

/// What limits is the system, which maps and zeroes page after page.
double fresh_pageable(SpecReader& reader, const LinkSpec& link) {
    if (const auto rate =
            reader.take_for_others("link.other.pageable_device_to_fresh_host_gb_per_s"))
        return *rate * kGiga;
    const double assumed = std::min(link.pageable_device_to_host > 0 ? link.pageable_device_to_host
                                                                     : link.pageable_host_to_device,
                                    kH200FreshPageable);
    reader.transfer_for_others(
        fmt::format("copies to pageable memory that is mapped meanwhile reach {:g} GB/s, at most "
                    "what they do on the H200 measured",
                    assumed / kGiga));
    return assumed;
}

/// Share of the one-way rate by size, at most 1: without a GPU small copies come from caches.
Interpolated share_by_bytes(SpecReader& reader, const char* path, double one_way) {
    auto points = reader.take_curve(path);
    for (auto& [bytes, rate] : points) rate = std::min(1.0, rate * kGiga / one_way);
    return Interpolated(std::move(points));
}

void resolve_sizes(SpecReader& reader, LinkSpec& link) {
    link.share_to_device_by_bytes =
        share_by_bytes(reader, "link.curve.host_to_device_gb_per_s_by_bytes", link.host_to_device);
    link.share_to_host_by_bytes =
        share_by_bytes(reader, "link.curve.device_to_host_gb_per_s_by_bytes", link.device_to_host);
    if (link.share_to_device_by_bytes.empty())
        reader.transfer("copies reach their full rate at any size");
    // One direction measured: the other falls off alike.
    if (link.share_to_host_by_bytes.empty())
        link.share_to_host_by_bytes = link.share_to_device_by_bytes;
}

}  // namespace

LinkSpec resolve_link(SpecReader& reader, bool unified_memory) {
    LinkSpec link;
    const bool chip_link = reader.profile().text("link.type").find("C2C") != std::string::npos;
    const LinkShares& shares = chip_link ? kChipLink : kPcie;
    link.host_to_device = one_way(reader, "link.host_to_device_gb_per_s", shares.host_to_device);
    link.device_to_host = one_way(reader, "link.device_to_host_gb_per_s", shares.device_to_host);
    link.both_ways_total = unified_memory ? std::max(link.host_to_device, link.device_to_host)
                                          : both_ways(reader, link, shares.both_ways);
    link.pageable_host_to_device = pageable(reader, link.host_to_device, chip_link);
    link.pageable_device_to_host =
        reader.take_for_others("link.other.pageable_device_to_host_gb_per_s").value_or(0) * kGiga;
    link.pageable_device_to_fresh_host = fresh_pageable(reader, link);
    resolve_sizes(reader, link);
    return link;
}

}  // namespace sluice
