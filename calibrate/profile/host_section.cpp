#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "calibrate/profile/make_profile.h"
#include "calibrate/profile/sections.h"
#include "sim/base/units.h"
#include "sim/specs/scenario/state_precision.h"

namespace sluice {
namespace {

/// Quantities of a profile are above 0, so a megabyte stands for none.
constexpr double kLeastGb = 1e-3;

void add_host_sizes(const Measurements& m, ProfileJson& profile) {
    const MachineFacts& facts = m.facts;
    profile.set_text("host.name",
                     fmt::format("{}, {:g} CPUs, {:g} physical cores, {:g} NUMA node{}",
                                 facts.cpu_name.empty() ? "processor not known" : facts.cpu_name,
                                 facts.cpus, facts.physical_cores, std::max(1.0, facts.numa_nodes),
                                 facts.numa_nodes > 1 ? "s" : ""));
    if (!facts.is_host_only()) profile.set_flag("host.unified_memory", !facts.has_gpu);
    const Origin system = measured_here(m, "as the system says: what this process may use");
    profile.set_number("host.cores", facts.cpus, {}, system);
    profile.set_number("host.memory_capacity_gb", facts.host_memory_bytes / kGiga, {}, system);
    profile.set_number(
        "host.system_reserve_gb", std::max(kLeastGb, facts.system_reserve_bytes / kGiga), {},
        {Method::estimated, kCalibrationSource, m.date,
         "left to the operating system; none where a limit on this process leaves it enough"});
    if (facts.process_base_bytes > 0)
        profile.set_number("host.process_base_gb", facts.process_base_bytes / kGiga, {},
                           measured_here(m,
                                         "resident with device and libraries loaded, before any "
                                         "buffer"));
}

void add_memory_rates(const Measurements& m, ProfileJson& profile) {
    if (const MeasuredRows triad(m, "host_triad"); triad) {
        const std::size_t best = triad.largest("gb_per_s");
        profile.set_number(
            "host.memory_bandwidth_stream_gb_per_s", triad.at(best, "gb_per_s"), triad.range(best),
            triad.origin(fmt::format("{:g} threads, the best", triad.at(best, "threads"))));
    }
    for (const char* work : {"read", "write", "triad", "copy", "first_touch"}) {
        const MeasuredRows rows(m, fmt::format("host_{}", work));
        if (!rows) continue;
        const std::vector<std::string> columns = {"threads", "gb_per_s", "low", "high"};
        profile.set_curve(fmt::format("host.other.{}_gb_per_s_by_threads", work), columns,
                          rows.points(columns), rows.origin());
    }
}

/// Gparam/s in windows that are not held out in which Adam ran alone with that many threads.
std::vector<double> adam_windows(const MeasuredRows& mixed, double state_bytes, double threads) {
    std::vector<double> rates;
    for (std::size_t row = 0; mixed && row < mixed.size(); ++row) {
        const auto is = [&](const char* column) { return mixed.at(row, column) != 0; };
        if (is("compute") || is("in") || is("out") || is("held_out")) continue;
        if (mixed.at(row, "state_bytes") == state_bytes && mixed.at(row, "threads") == threads)
            rates.push_back(mixed.at(row, "adam_gparams_per_s"));
    }
    return rates;
}

/// Gparam/s of Adam alone, with its range, by threads: from its own case, and, if the same threads
/// are fitted there, from the windows of mixed load in which it ran alone. It is the mean of the
/// case and of these windows' mean, since shares under mixed load refer to the latter, and a
/// virtual machine changes from one minute to the next.
std::vector<std::vector<double>> adam_by_threads(const Measurements& m, double state_bytes) {
    const MeasuredRows adam(m, "adam"), mixed(m, "mixed_load");
    if (!adam) return {};
    std::vector<std::vector<double>> points;
    for (const auto& row : adam.points({"state_bytes", "threads", "gparams_per_s", "low", "high"}))
        if (row[0] == state_bytes) points.emplace_back(row.begin() + 1, row.end());
    for (auto& point : points) {
        const std::vector<double> rates = adam_windows(mixed, state_bytes, point[0]);
        if (rates.empty()) continue;
        const auto [least, most] = std::minmax_element(rates.begin(), rates.end());
        const double sum = std::accumulate(rates.begin(), rates.end(), 0.0);
        point[1] = (point[1] + sum / static_cast<double>(rates.size())) / 2;
        point[2] = std::min(point[2], *least);
        point[3] = std::max(point[3], *most);
    }
    return points;
}

void add_adam(const Measurements& m, ProfileJson& profile) {
    const MeasuredRows adam(m, "adam");
    if (!adam) return;
    const std::optional<UpdateCost> cost = fit_update_cost(m);
    if (cost)
        profile.set_curve("host.optimizer_call_us_by_threads", {"threads", "us", "low", "high"},
                          cost->points, MeasuredRows(m, "adam_by_size").origin());
    for (const auto& [state_bytes, low, moments, words] : kStatePrecisions) {
        auto points = adam_by_threads(m, state_bytes);
        if (points.empty()) continue;
        for (auto& point : points)
            for (std::size_t i = 1; cost && i < point.size(); ++i)
                point[i] = cost->long_rate(point[0], point[i]);
        const std::string state = state_bytes == 12 ? "" : fmt::format("{}_byte_", state_bytes);
        profile.set_curve(fmt::format("host.adam_{}gparams_per_s_by_threads", state),
                          {"threads", "gparams_per_s", "low", "high"}, std::move(points),
                          adam.origin(fmt::format("{} bytes of state a parameter", state_bytes)));
    }
    profile.set_number("host.adam_bytes_per_parameter", adam_bytes_per_parameter(12), {},
                       adam.noted("traffic with 12 bytes of state: bf16 gradient read, fp32 master "
                                  "and moments read and written"));
}

/// Host work that the trainer does at the same time as Adam, with the number of threads at which
/// Adam with fp32 state is fastest, as in training; if that was not measured, with the best number.
void add_work(const Measurements& m, ProfileJson& profile) {
    const MeasuredRows copies(m, "host_copy");
    if (!copies) return;
    std::size_t nearest = copies.largest("gb_per_s");
    const auto adam = adam_by_threads(m, 12);
    const auto best =
        std::max_element(adam.begin(), adam.end(), [](auto& a, auto& b) { return a[1] < b[1]; });
    for (std::size_t row = 0; best != adam.end() && row < copies.size(); ++row) {
        const auto distance = [&](std::size_t of) {
            return std::abs(copies.at(of, "threads") - best->front());
        };
        if (distance(row) < distance(nearest)) nearest = row;
    }
    profile.set_number("host.work.copy_gb_per_s", copies.at(nearest, "gb_per_s"),
                       copies.range(nearest),
                       copies.origin(fmt::format("{:g} threads", copies.at(nearest, "threads"))));
}

void add_contention(const Measurements& m, int state_bytes, const ContentionFit& fit,
                    ProfileJson& profile) {
    std::vector<std::vector<double>> points;
    for (const ContentionPoint& point : fit.points) {
        const ActiveLanes& active = point.active;
        const LaneShares& shares = point.shares;
        points.push_back({active.compute ? 1.0 : 0.0, active.in ? 1.0 : 0.0, active.out ? 1.0 : 0.0,
                          active.work / kGiga, shares.compute, shares.in, shares.out, shares.work});
    }
    std::sort(points.begin(), points.end());
    std::string errors;
    for (const auto& [lane, name] :
         {std::pair(kWork, "Adam"), {kIn, "in"}, {kOut, "out"}, {kCompute, "compute"}})
        if (const FitError& e = fit.errors[lane]; e.shapes > 0)
            errors += fmt::format(" {} {:.1f}% mean, {:.1f}% worst of {};", name, e.mean_percent,
                                  e.worst_percent, e.shapes);
    const MeasuredRows mixed(m, "mixed_load");
    profile.set_curve(
        state_bytes == 12 ? "host.contention" : fmt::format("host.contention_{}_byte", state_bytes),
        {"compute", "in", "out", "work_gb_per_s", "compute_share", "in_share", "out_share",
         "work_share"},
        std::move(points),
        mixed.noted(fmt::format("shares of the rates alone; errors on loads not fitted:{} {}",
                                errors, m.find("mixed_load")->method)));
}

void add_numa_nodes(const Measurements& m, ProfileJson& profile) {
    const MeasuredRows nodes(m, "numa");
    for (std::size_t row = 0; nodes && row < nodes.size(); ++row)
        for (const auto& [name, column] : {std::pair("host_to_device_gb_per_s", "in_gb_per_s"),
                                           {"device_to_host_gb_per_s", "out_gb_per_s"},
                                           {"adam_gparams_per_s", "adam_gparams_per_s"}})
            if (const double rate = nodes.at(row, column); rate > 0)
                profile.set_number(
                    fmt::format("host.other.numa_node_{:g}_{}", nodes.at(row, "node"), name), rate,
                    {}, nodes.origin());
}

}  // namespace

void add_host(const Measurements& measurements, const MachineFits& fits, ProfileJson& profile) {
    add_host_sizes(measurements, profile);
    add_memory_rates(measurements, profile);
    add_adam(measurements, profile);
    add_work(measurements, profile);
    for (const auto& [state_bytes, fit] : fits.contention)
        add_contention(measurements, state_bytes, fit, profile);
    add_numa_nodes(measurements, profile);
}

}  // namespace sluice
