#include "sim/specs/machine/interconnect_spec.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "sim/base/input_error.h"
#include "sim/base/units.h"
#include "sim/specs/machine/machine_profile.h"

namespace sluice {
namespace {

// 361 of 450 GB/s: all-reduce of 1 GiB over 8 H100 by rings (NVLink SHARP off), measured on
// 2026-11-13; NCCL's developers name 360 (nccl-tests issue 326).
constexpr double kBusShare = 361.0 / 450;
// 46 to 48 of the 50 GB/s of a 400 Gb/s adapter, as NCCL's developers name them (nccl-tests issue
// 290): the middle.
constexpr double kNetworkShare = 47.0 / 50;

/// Takes numbers, and says those that are not measured on this machine.
class Reader {
  public:
    Reader(const MachineProfile& profile, InterconnectSpec& out) : profile_(profile), out_(out) {}

    /// GPUs of a node; 0: not known.
    std::int64_t gpus_per_node() {
        constexpr const char* kPath = "gpu_interconnect.gpus_per_node";
        const auto count = take(kPath);
        if (!count) return 0;
        if (*count != std::floor(*count) || *count < 1)
            throw InputError(
                fmt::format("{}: {} is {:g}, expected a whole number from 1; give the GPUs that "
                            "one node has",
                            profile_.file, kPath, *count));
        return static_cast<std::int64_t>(*count);
    }

    /// A number, whatever its source.
    std::optional<double> take(const char* path) {
        const Quantity* quantity = profile_.find(path);
        if (quantity == nullptr || !quantity->value) return std::nullopt;
        out_.inputs.push_back(quantity->path);
        return quantity->value;
    }

    /// A datasheet's rate times the share of it that collectives reach.
    std::optional<double> share_of(const char* path, double share, const char* where,
                                   std::vector<std::string>& said) {
        const auto rate = take(path);
        if (!rate) return std::nullopt;
        said.push_back(
            fmt::format("collectives reach {:.2f} of {} {:g}, as {}", share, path, *rate, where));
        return *rate * share;
    }

    Interpolated bus() {
        const Curve* curve = profile_.find_curve("gpu_interconnect.curve.bus_gb_per_s_by_gpus");
        std::vector<std::pair<double, double>> points;
        if (curve != nullptr) {
            for (const auto& row : curve->points) points.emplace_back(row[0], row[1] * kGiga);
            if (curve->method != Method::measured)
                out_.assumptions.push_back(fmt::format(
                    "gpu_interconnect.curve.bus_gb_per_s_by_gpus is {} ({})",
                    method_name(curve->method), curve->note.empty() ? curve->source : curve->note));
        } else if (const auto rate =
                       share_of("gpu_interconnect.per_direction_gb_per_s", kBusShare,
                                "measured on 8 H100 with NVLink 4", out_.assumptions)) {
            points.emplace_back(1, *rate * kGiga);
        }
        return Interpolated(std::move(points));
    }

    double network() {
        const auto rate =
            share_of("network.per_gpu_gb_per_s", kNetworkShare,
                     "NCCL's developers name it for 400 Gb/s InfiniBand", out_.network_assumptions);
        return rate.value_or(0) * kGiga;
    }

  private:
    const MachineProfile& profile_;
    InterconnectSpec& out_;
};

}  // namespace

InterconnectSpec resolve_interconnect(const MachineProfile& profile) {
    InterconnectSpec spec;
    Reader reader(profile, spec);
    spec.gpus_per_node = reader.gpus_per_node();
    spec.bus_by_gpus = reader.bus();
    spec.network_per_gpu = reader.network();
    return spec;
}

}  // namespace sluice
