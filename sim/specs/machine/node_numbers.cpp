// The rows of `storage` and of what connects GPUs: `gpu_interconnect` and `network`.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>

#include "sim/base/input_error.h"
#include "sim/specs/machine/spec_reader.h"

namespace sluice {
namespace {

using Row = const MachineNumber&;

// 361 of 450 GB/s: all-reduce of 1 GiB over 8 H100 by rings (NVLink SHARP off), measured on
// 2026-11-13; NCCL's developers name 360 (nccl-tests issue 326).
constexpr double kBusShare = 361.0 / 450;
// 46 to 48 of the 50 GB/s of a 400 Gb/s adapter, as NCCL's developers name them (nccl-tests issue
// 290): the middle.
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
                    "NCCL's developers name it for 400 Gb/s InfiniBand")
        .value_or(0);
}

constexpr std::array kNodeRows = {
    MachineNumber{.path = kStorageRates[0],
                  .trust = Trust::where_used,
                  .member = fill<&MachineSpec::storage, &StorageSpec::read>,
                  .measured_by = "storage",
                  .group = RateGroup::storage,
                  .judges_group = true,
                  .parts = part::storage_read},
    MachineNumber{.path = kStorageRates[1],
                  .trust = Trust::where_used,
                  .member = fill<&MachineSpec::storage, &StorageSpec::write>,
                  .measured_by = "storage",
                  .group = RateGroup::storage,
                  .judges_group = true,
                  .parts = part::storage_write},
    MachineNumber{.path = "storage.latency_us",
                  .trust = Trust::where_used,
                  .member = fill<&MachineSpec::storage, &StorageSpec::latency>},
    MachineNumber{.path = "storage.capacity_gb",
                  .trust = Trust::where_used,
                  .member = fill<&MachineSpec::storage, &StorageSpec::capacity>},
    MachineNumber{.path = "gpu_interconnect.gpus_per_node",
                  .trust = Trust::as_given,
                  .member = fill<&MachineSpec::interconnect, &InterconnectSpec::gpus_per_node>,
                  .rule = &gpus_per_node},
    MachineNumber{.path = kPerDirection, .trust = Trust::as_given},
    MachineNumber{.path = "gpu_interconnect.curve.bus_gb_per_s_by_gpus",
                  .kind = ValueKind::curve,
                  .trust = Trust::where_used,
                  .member = fill<&MachineSpec::interconnect, &InterconnectSpec::bus_by_gpus>,
                  .rule = &bus,
                  .parts = part::interconnect},
    MachineNumber{.path = "network.per_gpu_gb_per_s",
                  .trust = Trust::as_given,
                  .member = fill<&MachineSpec::interconnect, &InterconnectSpec::network_per_gpu>,
                  .rule = &network,
                  .parts = part::interconnect},
};

}  // namespace

std::span<const MachineNumber> node_numbers() { return kNodeRows; }

}  // namespace sluice
