#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/format.h"
#include "sim/base/input_error.h"
#include "sim/specs/machine/spec_reader.h"

namespace sluice {
namespace {

// STREAM of host memory over its peak (channels times rate). The best published figures on the
// hosts of the profiles are 348 of 384 GB/s (GH200), 390 of 460.8 (EPYC 9004), 175 of 204.8 (EPYC
// 7003) and 231.8 of 273 (GB10): 0.91, 0.85, 0.85 and 0.85. The best and not the middle, since a
// trainer can bind its threads too.
constexpr double kStreamOfPeak = 0.85;

// GB/s that host work and copies share on the H200 machine; its other host rates scale by it.
constexpr double kH200Shared = 177;

/// GB/s of DRAM traffic that one optimizer thread moves on the H200 machine: 0.955 Gparam/s x 26 B.
constexpr double kAdamThread = 24.8;

/// DRAM traffic of a parameter: fp32 master in two planes, bf16 gradient, fp32 moments.
constexpr double kAdamBytes = 26;

Bytes host_capacity(SpecReader& reader) {
    constexpr const char* kPath = "host.memory_capacity_gb";
    if (const auto capacity = reader.take(kPath, Trust::as_given))
        return static_cast<Bytes>(*capacity * kGiga);
    const Quantity* null = reader.profile().find(kPath);
    throw InputError(
        fmt::format("{}: {} is not known ({}); give --host-memory, as in --host-memory 1TB",
                    reader.profile().file, kPath, null != nullptr ? null->note : "missing"));
}

/// Bytes/s of host memory traffic, the most of all that were measured: STREAM, or lanes beside each
/// other.
double most_traffic(const HostSpec& host, const LinkSpec& link, double stream) {
    double most = stream;
    for (const Contention* contention :
         {&host.contention, &host.contention_8_byte, &host.contention_6_byte}) {
        for (const auto& [active, shares] : contention->points()) {
            most = std::max({most, active.work,
                             active.work * shares.work +
                                 (active.in ? shares.in * link.host_to_device : 0) +
                                 (active.out ? shares.out * link.device_to_host : 0)});
        }
    }
    return most;
}

/// GB/s that host memory gives. Where contention is measured, no step rests on it.
double stream_gb_per_s(SpecReader& reader, bool contention_measured) {
    if (contention_measured) {
        const Quantity* stream = reader.profile().find("host.memory_bandwidth_stream_gb_per_s");
        if (stream != nullptr && stream->value) return *stream->value;
    }
    if (const auto fitted = reader.take("host.memory_bandwidth_shared_gb_per_s")) return *fitted;
    if (const auto measured = reader.take("host.memory_bandwidth_stream_gb_per_s"))
        return *measured;
    const double peak = reader.required("host.memory_bandwidth_gb_per_s", Trust::measured);
    reader.transfer(
        fmt::format("host memory reaches {:.2f} of its {:g} GB/s", kStreamOfPeak, peak));
    return kStreamOfPeak * peak;
}

/// DRAM traffic that a byte copied over the link counts as.
double copy_weight(SpecReader& reader, bool unified_memory, bool contention_measured) {
    if (contention_measured) return 1;
    if (const auto weight = reader.take("host.copy_traffic_weight")) return *weight;
    if (unified_memory) return 2;  // a copy within one pool reads and writes
    reader.transfer("a byte copied over the link takes as much of host memory as one of host work");
    return 1;
}

/// As measured: lanes, work, and the share that each keeps.
Contention contention(SpecReader& reader, const char* path) {
    std::vector<ContentionPoint> points;
    for (const auto& row : reader.take_rows(path)) {
        points.push_back({{row[0] != 0, row[1] != 0, row[2] != 0, row[3] * kGiga},
                          {row[4], row[5], row[6], row[7]}});
    }
    return Contention(std::move(points));
}

/// Bytes/s of AdamW by threads.
std::vector<std::pair<double, double>> adam_by_threads(SpecReader& reader, double stream,
                                                       double cores) {
    auto points = reader.take_curve("host.adam_gparams_per_s_by_threads");
    const bool rate_known = !points.empty() || reader.knows("host.adam_gparams_per_s");
    const double traffic =
        (rate_known ? reader.take("host.adam_bytes_per_parameter") : std::nullopt)
            .value_or(kAdamBytes);
    for (auto& [threads, rate] : points) rate *= kGiga * traffic;
    if (!points.empty()) return points;
    double full = stream * kGiga;
    if (const auto rate = reader.take("host.adam_gparams_per_s")) full = *rate * kGiga * traffic;
    reader.transfer(fmt::format(
        "the optimizer moves {:.1f} GB/s a thread, as on the H200 machine, up to the {:.0f} GB/s "
        "that host memory or its own rate gives",
        kAdamThread, full / kGiga));
    for (double threads = 1;; ++threads) {
        const double rate = std::min(full, threads * kAdamThread * kGiga);
        points.emplace_back(threads, rate);
        if (rate == full || threads + 1 > cores) return points;
    }
}

/// Bytes/s with smaller moments; where that is not measured, memory moves as fast as with fp32.
Interpolated smaller_states(SpecReader& reader, int state_bytes, const Interpolated& fp32) {
    auto points =
        reader.take_curve(fmt::format("host.adam_{}_byte_gparams_per_s_by_threads", state_bytes));
    if (points.empty()) return fp32;
    for (auto& [threads, rate] : points) rate *= kGiga * adam_traffic(state_bytes);
    return Interpolated(std::move(points));
}

void resolve_adam(SpecReader& reader, double stream, HostSpec& host) {
    auto points = adam_by_threads(reader, stream, host.cores);
    const auto best =
        std::max_element(points.begin(), points.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    // As sluice-train does: 12 of 16 threads trained fastest on the H200 machine, although 16 are
    // faster when nothing else runs.
    constexpr double kOtherThreads = 4;
    host.best_adam_threads =
        static_cast<int>(std::min(best->first, std::max(1.0, host.cores - kOtherThreads)));
    host.adam_bytes_per_s = Interpolated(std::move(points));
    auto call = reader.take_curve("host.optimizer_call_us_by_threads");
    for (auto& [threads, us] : call) us /= kMega;
    host.adam_call = Interpolated(std::move(call));
    host.adam_8_byte_bytes_per_s = smaller_states(reader, 8, host.adam_bytes_per_s);
    host.adam_6_byte_bytes_per_s = smaller_states(reader, 6, host.adam_bytes_per_s);
}

/// How host work that no one measured on a machine goes with its host memory.
enum class HostRate { scaled_by_memory, as_on_h200 };

/// Rates of host work: measured here, or the H200 machine's. Those that move bytes are scaled by
/// memory bandwidth. First touch and release are not: the kernel maps and unmaps pages there, and
/// how fast that is does not follow from what the memory gives (a node with an MI355X and memory
/// 2.8 times as fast does both at less than half the H200 machine's rate: validation/published).
void resolve_host_work(SpecReader& reader, double stream, HostSpec& host) {
    std::string scaled, unscaled;
    const auto rate = [&](const char* name, double h200_gb_per_s,
                          HostRate kind = HostRate::scaled_by_memory, bool others = true) {
        const std::string path = fmt::format("host.work.{}_gb_per_s", name);
        if (const auto own = others ? reader.take_for_others(path) : reader.take(path))
            return *own * kGiga;
        const bool scale = kind == HostRate::scaled_by_memory;
        std::string& missing = scale ? scaled : unscaled;
        missing += fmt::format("{}{}", missing.empty() ? "" : ", ", name);
        return h200_gb_per_s * kGiga * (scale ? stream / kH200Shared : 1);
    };
    const auto missing_so_far = [](std::string& names, const char* how) {
        return names.empty() ? ""
                             : fmt::format("host work ({}) goes at the H200 machine's rates{}",
                                           std::exchange(names, ""), how);
    };
    constexpr const char* kScaled = ", scaled by host memory bandwidth";
    host.memory_copy = rate("copy", 52, HostRate::scaled_by_memory, false);
    if (const auto what = missing_so_far(scaled, kScaled); !what.empty()) reader.transfer(what);
    host.first_touch = rate("first_touch_copy", 26.2, HostRate::as_on_h200);
    host.zero = rate("zero", 78.6);
    host.release = rate("release", 44.3, HostRate::as_on_h200);
    host.scale = rate("scale", 60.7);
    host.norm_and_scale = rate("norm_and_scale", 7.37);
    host.eager_adam_bytes_per_s = rate("bf16_master_adam", 176.9);
    for (const auto& [names, how] : {std::pair{&scaled, kScaled}, std::pair{&unscaled, ""}})
        if (const auto what = missing_so_far(*names, how); !what.empty())
            reader.transfer_for_others(what);
}

}  // namespace

std::string impossible_memory(const HostSpec& host) {
    if (host.memory_capacity_most == 0 || host.memory_capacity <= host.memory_capacity_most)
        return "";
    return fmt::format("host memory of {} is more than the {} that such a machine can have",
                       format_bytes(static_cast<double>(host.memory_capacity)),
                       format_bytes(static_cast<double>(host.memory_capacity_most)));
}

HostSpec resolve_host(SpecReader& reader, const LinkSpec& link, bool unified_memory) {
    HostSpec host;
    host.memory_capacity = host_capacity(reader);
    constexpr const char* kMost = "host.memory_capacity_most_gb";
    if (const auto most = reader.take(kMost, Trust::as_given))
        host.memory_capacity_most = static_cast<Bytes>(*most * kGiga);
    if (const std::string words = impossible_memory(host); !words.empty())
        reader.say_first(fmt::format("{} ({})", words, reader.profile().find(kMost)->note));
    host.cores = reader.required("host.cores", Trust::as_given);
    const auto size = [&](const char* path, double h200_gb) {
        return static_cast<Bytes>(reader.constant(path, h200_gb, Trust::as_given) * kGiga);
    };
    host.process_base = size("host.process_base_gb", 1.0);
    host.system_reserve = size("host.system_reserve_gb", 3.3);
    host.contention = contention(reader, "host.contention");
    host.contention_8_byte = contention(reader, "host.contention_8_byte");
    if (host.contention_8_byte.empty()) host.contention_8_byte = host.contention;
    host.contention_6_byte = contention(reader, "host.contention_6_byte");
    if (host.contention_6_byte.empty()) host.contention_6_byte = host.contention;
    const bool measured = !host.contention.empty();
    const double stream = stream_gb_per_s(reader, measured);
    host.dram_bandwidth = most_traffic(host, link, stream * kGiga);
    // A copy engine can reach more than STREAM does (GH200: 380 against 348 GB/s). In one pool it
    // cannot: the link's rate is the memory's peak there.
    if (!unified_memory)
        host.dram_bandwidth =
            std::max({host.dram_bandwidth, link.host_to_device, link.device_to_host});
    host.copy_weight = copy_weight(reader, unified_memory, measured);
    resolve_adam(reader, stream, host);
    resolve_host_work(reader, stream, host);
    return host;
}

}  // namespace sluice
