// The rows of `host` and `host.work`, and the rules for numbers that a profile lacks.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "sim/base/format.h"
#include "sim/base/input_error.h"
#include "sim/specs/machine/adam_rule.h"
#include "sim/specs/machine/spec_reader.h"

namespace sluice {
namespace {

using Row = const MachineNumber&;

// Bandwidth of copies and host work together over STREAM's: they move 181 and 169 GB/s on two H200
// machines whose memory has 0.85 x 281.6 GB/s; copies alone of four GPUs there 137 to 167.
constexpr double kSharedOfStream = 0.74;

constexpr const char* kStream = "host.memory_bandwidth_stream_gb_per_s";
constexpr const char* kPeak = "host.memory_bandwidth_gb_per_s";
constexpr const char* kShared = "host.memory_bandwidth_shared_gb_per_s";
constexpr const char* kAdamRate = "host.adam_gparams_per_s";
constexpr const char* kAdamByThreads = "host.adam_gparams_per_s_by_threads";
/// For 12, 8 and 6 bytes of state.
constexpr std::array kContention = {"host.contention", "host.contention_8_byte",
                                    "host.contention_6_byte"};

double capacity(Row row, SpecReader& reader, const MachineSpec&) {
    const Quantity* const memory = reader.profile().find(row.path);
    if (const auto gb = reader.take(row.path)) {
        if (memory->method == Method::estimated && !memory->what_if)
            reader.say(
                fmt::format("host memory is {} ({})", format_bytes(*gb * kGiga), memory->note));
        return *gb * kGiga;
    }
    throw InputError(
        fmt::format("{}: {} is not known ({}); give --host-memory, as in --host-memory 1TB",
                    reader.profile().file, row.path, memory != nullptr ? memory->note : "missing"));
}

double most_capacity(Row row, SpecReader& reader, const MachineSpec& so_far) {
    const double most = reader.take(row.path).value_or(0) * kGiga;
    HostSpec host = so_far.host;
    host.memory_capacity_most = static_cast<Bytes>(most);
    if (const std::string words = impossible_memory(host); !words.empty())
        reader.say_first(fmt::format("{} ({})", words, reader.profile().find(row.path)->note));
    return most;
}

bool is_contention_measured(const SpecReader& reader) {
    return reader.profile().find_curve(kContention[0]) != nullptr;
}

/// The measured points: active lanes, work, and the share of each lane.
Contention read_contention(SpecReader& reader, std::string_view path) {
    std::vector<ContentionPoint> points;
    for (const auto& row : reader.take_rows(path)) {
        points.push_back({{row[0] != 0, row[1] != 0, row[2] != 0, row[3] * kGiga},
                          {row[4], row[5], row[6], row[7]}});
    }
    return Contention(std::move(points));
}

/// If contention was not measured with smaller states, it is taken to be as with 12 bytes.
Contention contention(Row row, SpecReader& reader, const MachineSpec& so_far) {
    Contention own = read_contention(reader, row.path);
    return own.empty() ? so_far.host.contention : own;
}

/// The largest measured host memory traffic in bytes/s: STREAM, or several lanes together.
double most_traffic(SpecReader& reader, const LinkSpec& link, double stream) {
    double most = stream;
    for (const char* path : kContention) {
        const Contention contention = read_contention(reader, path);
        for (const auto& [active, shares] : contention.points()) {
            most = std::max({most, active.work,
                             active.work * shares.work +
                                 (active.in ? shares.in * link.host_to_device : 0) +
                                 (active.out ? shares.out * link.device_to_host : 0)});
        }
    }
    return most;
}

double dram_bandwidth(Row, SpecReader& reader, const MachineSpec& so_far) {
    const LinkSpec& link = so_far.link;
    const double most = most_traffic(reader, link, host_memory_gb_per_s(reader) * kGiga);
    // A copy engine can be faster than STREAM (GH200: 380 against 348 GB/s). With unified memory it
    // cannot: the link's rate is the memory's peak.
    return so_far.unified_memory ? most
                                 : std::max({most, link.host_to_device, link.device_to_host});
}

double stream_gb_per_s(SpecReader& reader) {
    if (const auto measured = reader.take(kStream)) return *measured;
    const double peak = reader.required(kPeak);
    reader.assume(Trust::measured,
                  fmt::format("host memory reaches {:.2f} of its {:g} GB/s", kStreamOfPeak, peak));
    return kStreamOfPeak * peak;
}

/// Bytes of host memory traffic that a byte copied over the link counts as.
double copy_weight(Row row, SpecReader& reader, const MachineSpec& so_far) {
    if (is_contention_measured(reader)) return 1;
    if (const auto weight = reader.take(row.path)) return *weight;
    if (so_far.unified_memory) return 2;  // a copy within one pool reads and writes
    reader.assume(
        row.trust,
        "a byte copied over the link uses as much host memory bandwidth as a byte of host work");
    return 1;
}

AdamRule adam_rule(Row row, SpecReader& reader, const MachineSpec& so_far) {
    AdamRule rule{.cores = so_far.host.cores};
    if (const auto rate = reader.take(kAdamRate))
        rule.known =
            *rate * kGiga * reader.take("host.adam_bytes_per_parameter").value_or(adam_traffic(12));
    else
        rule.memory = stream_gb_per_s(reader) * kGiga;
    reader.assume(row.trust, rule.sentence());
    return rule;
}

/// Bytes/s of AdamW by threads. With smaller states than 6 bytes, a processor that 8-bit moments
/// keep busy updates no more parameters.
template <int StateBytes>
Interpolated adam_by_threads(Row row, SpecReader& reader, const MachineSpec& so_far) {
    auto points = reader.take_curve(row.path);
    if (points.empty() && StateBytes < 6) {
        points = so_far.host.adam_6_byte_bytes_per_s.points();
        for (auto& [threads, rate] : points) rate *= adam_traffic(StateBytes) / adam_traffic(6);
        return Interpolated(std::move(points));
    }
    if (points.empty()) {
        if (reader.profile().find_curve(kAdamByThreads) != nullptr)
            return so_far.host.adam_bytes_per_s;
        return adam_rule(row, reader, so_far).by_threads(StateBytes);
    }
    const double traffic =
        StateBytes == 12 ? reader.take("host.adam_bytes_per_parameter").value_or(adam_traffic(12))
                         : adam_traffic(StateBytes);
    for (auto& [threads, rate] : points) rate *= kGiga * traffic;
    return Interpolated(std::move(points));
}

template <auto Field>
constexpr MachineNumber size(std::string_view path, double h200) {
    return row(path, Trust::as_given, fill<&MachineSpec::host, Field>, OnH200{h200},
               Transfer::as_measured);
}
/// A memory rate that is known for the machine as a whole.
constexpr MachineNumber memory_rate(std::string_view path, const char* measured_by = nullptr) {
    return row(path, Trust::measured, MeasuredBy{measured_by}, Transfer::host_memory);
}
template <auto Field>
constexpr MachineNumber adam(std::string_view path, Rule<Interpolated> rule) {
    return row(path, ValueKind::curve, CurveShape::by_threads, Trust::measured,
               fill<&MachineSpec::host, Field>, rule, MeasuredBy{"adam"},
               Judges{RateGroup::optimizer}, GainsFrom{part::processor | part::memory_work},
               Transfer::adam);
}
template <auto Field>
constexpr MachineNumber lanes(std::string_view path) {
    return row(path, ValueKind::curve, CurveShape::contention, Trust::measured,
               fill<&MachineSpec::host, Field>, &contention, MeasuredBy{"mixed_load"},
               RateGroup::host_memory, GainsFrom{part::shared_memory}, Transfer::contention);
}
// GB/s of host memory on the H200 machine: STREAM by its datasheet, as calibrated on 16 CPUs, and
// what copies and host work share. Its other host rates scale with it.
constexpr double kH200Stream = 239, kH200Calibrated = 102, kH200Shared = 177;

// Rates of host work: measured here, or the H200 machine's. Those that move bytes are scaled by
// memory bandwidth. First touch and release are not: there the kernel maps and unmaps pages, and
// that rate does not follow memory bandwidth. (A node with an MI355X and memory 2.8 times as fast
// does both at less than half the H200 machine's rate: validation/published.)
double work(Row row, SpecReader& reader, double scale, const char* how) {
    if (const auto own = reader.take(row.path)) return *own * kGiga;
    constexpr std::string_view kStart = "host.work.", kEnd = "_gb_per_s";
    std::string_view name = row.path.substr(kStart.size());
    name.remove_suffix(kEnd.size());
    reader.assume_of(row.trust, "host work (", name, how);
    return row.h200 * kGiga * scale;
}
double byte_work(Row row, SpecReader& reader, const MachineSpec&) {
    const bool calibrated = is_contention_measured(reader), fitted = reader.knows(kShared);
    const double memory =
        calibrated || fitted ? host_memory_gb_per_s(reader) : stream_gb_per_s(reader);
    const double h200 = calibrated ? kH200Calibrated : fitted ? kH200Shared : kH200Stream;
    return work(row, reader, memory / h200,
                ") runs at the H200 machine's rates, scaled by host memory bandwidth");
}
double page_work(Row row, SpecReader& reader, const MachineSpec&) {
    return work(row, reader, 1, ") runs at the H200 machine's rates");
}

template <auto Field>
constexpr MachineNumber host_work(std::string_view path, double h200, Rule<double> rule,
                                  Parts parts, RateGroup group = RateGroup::host_work) {
    return row(path, Trust::others, fill<&MachineSpec::host, Field>, rule, OnH200{h200}, group,
               GainsFrom{parts}, Transfer::host_memory);
}

constexpr Parts kMovesBytes = part::processor | part::memory_work;

constexpr std::array kHostRows = {
    row("host.name", ValueKind::text),
    row("host.unified_memory", ValueKind::flag),
    row("host.cores", Trust::as_given, fill<&MachineSpec::host, &HostSpec::cores>, Required{},
        AtLeast{1}, Transfer::as_measured),
    row("host.gpus", Trust::as_given, fill<&MachineSpec::host, &HostSpec::gpus>, AtLeast{1}),
    row("host.sockets", Trust::as_given, fill<&MachineSpec::host, &HostSpec::sockets>, OnH200{1},
        AtLeast{1}),
    row("host.memory_capacity_gb", Trust::as_given,
        fill<&MachineSpec::host, &HostSpec::memory_capacity>, &capacity, Transfer::as_measured,
        Shown{"host memory", "memory of the host, in 10^9 bytes"}),
    row("host.memory_capacity_most_gb", Trust::as_given,
        fill<&MachineSpec::host, &HostSpec::memory_capacity_most>, &most_capacity,
        Transfer::as_measured),
    size<&HostSpec::system_reserve>("host.system_reserve_gb", 3.3),
    size<&HostSpec::process_base>("host.process_base_gb", 1.0),
    row(kPeak, Trust::measured, Transfer::host_memory,
        Shown{"host memory rate", "of the datasheet"}),
    memory_rate(kStream, "host_memory"),
    row(kShared, Trust::measured, fill<&MachineSpec::host, &HostSpec::dram_bandwidth>,
        &dram_bandwidth, ReplacedBy{kContention[0]}, Judges{RateGroup::host_memory},
        GainsFrom{part::shared_memory}, Transfer::host_memory),
    row("host.copy_traffic_weight", Trust::measured,
        fill<&MachineSpec::host, &HostSpec::copy_weight>, &copy_weight, ReplacedBy{kContention[0]},
        Transfer::as_measured),
    row(kAdamRate, Trust::measured, ReplacedBy{kAdamByThreads}, RateGroup::optimizer,
        Transfer::adam),
    adam<&HostSpec::adam_bytes_per_s>(kAdamByThreads, &adam_by_threads<12>),
    adam<&HostSpec::adam_8_byte_bytes_per_s>("host.adam_8_byte_gparams_per_s_by_threads",
                                             &adam_by_threads<8>),
    row("host.optimizer_call_us_by_threads", ValueKind::curve, CurveShape::by_threads,
        Trust::measured, fill<&MachineSpec::host, &HostSpec::adam_call>, MeasuredBy{"adam"},
        RateGroup::optimizer, Transfer::as_measured),
    adam<&HostSpec::adam_6_byte_bytes_per_s>("host.adam_6_byte_gparams_per_s_by_threads",
                                             &adam_by_threads<6>),
    adam<&HostSpec::adam_5_byte_bytes_per_s>("host.adam_5_byte_gparams_per_s_by_threads",
                                             &adam_by_threads<5>),
    adam<&HostSpec::adam_4_byte_bytes_per_s>("host.adam_4_byte_gparams_per_s_by_threads",
                                             &adam_by_threads<4>),
    lanes<&HostSpec::contention>(kContention[0]),
    lanes<&HostSpec::contention_8_byte>(kContention[1]),
    lanes<&HostSpec::contention_6_byte>(kContention[2]),
    row("host.adam_bytes_per_parameter", Trust::measured, MeasuredBy{"adam"},
        Transfer::as_measured),
    row("host.work.copy_gb_per_s", Trust::measured,
        fill<&MachineSpec::host, &HostSpec::memory_copy>, &byte_work, OnH200{52},
        MeasuredBy{"host_memory"}, Judges{RateGroup::host_work}, GainsFrom{kMovesBytes},
        Transfer::host_memory),
    host_work<&HostSpec::first_touch>("host.work.first_touch_copy_gb_per_s", 26.2, &page_work,
                                      part::processor),
    host_work<&HostSpec::zero>("host.work.zero_gb_per_s", 78.6, &byte_work, kMovesBytes),
    host_work<&HostSpec::release>("host.work.release_gb_per_s", 44.3, &page_work, part::processor),
    host_work<&HostSpec::scale>("host.work.scale_gb_per_s", 60.7, &byte_work, kMovesBytes),
    host_work<&HostSpec::norm_and_scale>("host.work.norm_and_scale_gb_per_s", 7.37, &byte_work,
                                         part::processor),
    host_work<&HostSpec::eager_adam_bytes_per_s>("host.work.bf16_master_adam_gb_per_s", 176.9,
                                                 &byte_work, kMovesBytes, RateGroup::optimizer),
};

}  // namespace

std::span<const MachineNumber> host_numbers() { return kHostRows; }

double host_memory_gb_per_s(SpecReader& reader) {
    if (is_contention_measured(reader))
        if (const auto stream = reader.profile().number(kStream)) return *stream;
    if (const auto fitted = reader.take(kShared)) return *fitted;
    const double stream = stream_gb_per_s(reader);
    if (reader.profile().flag("host.unified_memory")) return stream;
    reader.assume(
        Trust::measured,
        fmt::format("copies and host work share {:.2f} of the {:.0f} GB/s of host memory, "
                    "as on the H200 machine",
                    kSharedOfStream, stream));
    return kSharedOfStream * stream;
}

std::string impossible_memory(const HostSpec& host) {
    if (host.memory_capacity_most == 0 || host.memory_capacity <= host.memory_capacity_most)
        return "";
    return fmt::format("host memory of {} is more than the {} that such a machine can have",
                       format_bytes(static_cast<double>(host.memory_capacity)),
                       format_bytes(static_cast<double>(host.memory_capacity_most)));
}

}  // namespace sluice
