#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "calibrate/profile/machine_fits.h"
#include "calibrate/profile/sections.h"
#include "sim/base/units.h"

namespace sluice {
namespace {

/// Quantities of a profile are above 0: a megabyte stands for none.
constexpr double kLeastGb = 1e-3;

void add_sizes(const Measurements& m, ProfileJson& profile) {
    const MachineFacts& facts = m.facts;
    profile.set_text("host.name",
                     fmt::format("{}, {:g} CPUs, {:g} physical cores, {:g} NUMA node{}",
                                 facts.cpu_name.empty() ? "processor not known" : facts.cpu_name,
                                 facts.cpus, facts.physical_cores, std::max(1.0, facts.numa_nodes),
                                 facts.numa_nodes > 1 ? "s" : ""));
    profile.set_flag("host.unified_memory", !facts.has_gpu);
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

/// threads, rate, low, high; of rows with `state_bytes`, where the table has that column.
std::vector<std::vector<double>> by_threads(const Table& table, const char* rate,
                                            double state_bytes = 0) {
    std::vector<std::vector<double>> points;
    for (const std::size_t row : ascending(table, "threads")) {
        if (state_bytes > 0 && table.at(row, "state_bytes") != state_bytes) continue;
        points.push_back({table.at(row, "threads"), table.at(row, rate), table.at(row, "low"),
                          table.at(row, "high")});
    }
    return points;
}

void add_memory_rates(const Measurements& m, ProfileJson& profile) {
    if (const Table* triad = find_rows(m, "host_triad")) {
        const std::size_t best = row_of_largest(*triad, "gb_per_s");
        const MeasuredRate rate = rate_at(*triad, best, "gb_per_s", "low", "high");
        profile.set_number("host.memory_bandwidth_stream_gb_per_s", rate.value, rate.range,
                           measured_here(m, *triad,
                                         fmt::format("{:g} threads, the best; {}",
                                                     triad->at(best, "threads"), triad->method)));
    }
    for (const char* work : {"read", "write", "triad", "copy", "first_touch"}) {
        const Table* table = find_rows(m, fmt::format("host_{}", work));
        if (table == nullptr) continue;
        profile.set_curve(fmt::format("host.other.{}_gb_per_s_by_threads", work),
                          {"threads", "gb_per_s", "low", "high"}, by_threads(*table, "gb_per_s"),
                          measured_here(m, *table, table->method));
    }
}

/// Gparam/s in the windows, not held out, in which Adam ran alone with so many threads.
std::vector<double> adam_windows(const Table& mixed, double state_bytes, double threads) {
    std::vector<double> rates;
    for (std::size_t row = 0; row < mixed.rows.size(); ++row) {
        const auto is = [&](const char* column) { return mixed.at(row, column) != 0; };
        if (is("compute") || is("in") || is("out") || is("held_out")) continue;
        if (mixed.at(row, "state_bytes") == state_bytes && mixed.at(row, "threads") == threads)
            rates.push_back(mixed.at(row, "adam_gparams_per_s"));
    }
    return rates;
}

/// Gparam/s of Adam alone, with its range, by threads: of its own case and, where the same threads
/// are fitted there, of the windows of mixed load in which it ran alone. The mean of the case and
/// of these windows' mean: shares under mixed load are of the latter, and a virtual machine is not
/// the same for a minute.
std::vector<std::vector<double>> adam_by_threads(const Measurements& m, double state_bytes) {
    const Table* adam = find_rows(m, "adam");
    if (adam == nullptr) return {};
    auto points = by_threads(*adam, "gparams_per_s", state_bytes);
    const Table* mixed = find_rows(m, "mixed_load");
    if (mixed == nullptr) return points;
    for (auto& point : points) {
        const std::vector<double> rates = adam_windows(*mixed, state_bytes, point[0]);
        if (rates.empty()) continue;
        const auto [least, most] = std::minmax_element(rates.begin(), rates.end());
        const double sum = std::accumulate(rates.begin(), rates.end(), 0.0);
        point[1] = (point[1] + sum / static_cast<double>(rates.size())) / 2;
        point[2] = std::min(point[2], *least);
        point[3] = std::max(point[3], *most);
    }
    return points;
}

/// Threads at which Adam with fp32 state is fastest, which is what training takes; 0: not measured.
double best_adam_threads(const Measurements& m) {
    double threads = 0, best = 0;
    for (const auto& point : adam_by_threads(m, 12)) {
        if (point[1] <= best) continue;
        best = point[1];
        threads = point[0];
    }
    return threads;
}

void add_adam(const Measurements& m, ProfileJson& profile) {
    const Table* adam = find_rows(m, "adam");
    if (adam == nullptr) return;
    const std::optional<UpdateCost> cost = fit_update_cost(m);
    if (cost) {
        const Table& sizes = *m.find("adam_by_size");
        profile.set_curve("host.optimizer_call_us_by_threads", {"threads", "us", "low", "high"},
                          cost->points, measured_here(m, sizes, sizes.method));
    }
    for (const int state_bytes : {12, 8, 6}) {
        auto points = adam_by_threads(m, state_bytes);
        if (points.empty()) continue;
        for (auto& point : points) {
            for (std::size_t i = 1; cost && i < point.size(); ++i)
                point[i] = cost->long_rate(point[0], point[i]);
        }
        const std::string state = state_bytes == 12 ? "" : fmt::format("{}_byte_", state_bytes);
        profile.set_curve(fmt::format("host.adam_{}gparams_per_s_by_threads", state),
                          {"threads", "gparams_per_s", "low", "high"}, std::move(points),
                          measured_here(m, *adam,
                                        fmt::format("{} bytes of state a parameter; {}",
                                                    state_bytes, adam->method)));
    }
    profile.set_number("host.adam_bytes_per_parameter", adam_bytes_per_parameter(12), {},
                       measured_here(m, *adam,
                                     "traffic with 12 bytes of state: bf16 gradient read, fp32 "
                                     "master and moments read and written"));
}

/// Host work that the engine does beside Adam, with as many threads.
void add_work(const Measurements& m, ProfileJson& profile) {
    const Table* copies = find_rows(m, "host_copy");
    if (copies == nullptr) return;
    const double threads = best_adam_threads(m);
    std::size_t nearest = row_of_largest(*copies, "gb_per_s");
    if (threads > 0) {
        for (std::size_t row = 0; row < copies->rows.size(); ++row) {
            const auto distance = [&](std::size_t r) {
                return std::abs(copies->at(r, "threads") - threads);
            };
            if (distance(row) < distance(nearest)) nearest = row;
        }
    }
    const MeasuredRate rate = rate_at(*copies, nearest, "gb_per_s", "low", "high");
    profile.set_number("host.work.copy_gb_per_s", rate.value, rate.range,
                       measured_here(m, *copies,
                                     fmt::format("{:g} threads; {}", copies->at(nearest, "threads"),
                                                 copies->method)));
}

void add_contention(const Measurements& m, int state_bytes, const ContentionFit& fit,
                    ProfileJson& profile) {
    const Table& mixed = *m.find("mixed_load");
    std::vector<std::vector<double>> points;
    for (const ContentionPoint& point : fit.points) {
        const ActiveLanes& active = point.active;
        const LaneShares& shares = point.shares;
        points.push_back({active.compute ? 1.0 : 0.0, active.in ? 1.0 : 0.0, active.out ? 1.0 : 0.0,
                          active.work / kGiga, shares.compute, shares.in, shares.out, shares.work});
    }
    std::sort(points.begin(), points.end());
    const auto error = [](const char* name, const FitError& e) {
        return e.shapes == 0 ? std::string()
                             : fmt::format(" {} {:.1f}% mean, {:.1f}% worst of {};", name,
                                           e.mean_percent, e.worst_percent, e.shapes);
    };
    profile.set_curve(
        state_bytes == 12 ? "host.contention" : fmt::format("host.contention_{}_byte", state_bytes),
        {"compute", "in", "out", "work_gb_per_s", "compute_share", "in_share", "out_share",
         "work_share"},
        std::move(points),
        measured_here(
            m, mixed,
            fmt::format("shares of the rates alone; errors on loads not fitted:{}{}{}{} "
                        "{}",
                        error("Adam", fit.adam), error("in", fit.in), error("out", fit.out),
                        error("compute", fit.compute), mixed.method)));
}

void add_numa_nodes(const Measurements& m, ProfileJson& profile) {
    const Table* nodes = find_rows(m, "numa");
    if (nodes == nullptr) return;
    const Origin origin = measured_here(m, *nodes, nodes->method);
    for (std::size_t row = 0; row < nodes->rows.size(); ++row) {
        const auto set = [&](const char* name, const char* column) {
            if (const double rate = nodes->at(row, column); rate > 0)
                profile.set_number(
                    fmt::format("host.other.numa_node_{:g}_{}", nodes->at(row, "node"), name), rate,
                    {}, origin);
        };
        set("host_to_device_gb_per_s", "in_gb_per_s");
        set("device_to_host_gb_per_s", "out_gb_per_s");
        set("adam_gparams_per_s", "adam_gparams_per_s");
    }
}

}  // namespace

void add_host(const Measurements& measurements, const MachineFits& fits, ProfileJson& profile) {
    add_sizes(measurements, profile);
    add_memory_rates(measurements, profile);
    add_adam(measurements, profile);
    add_work(measurements, profile);
    for (const auto& [state_bytes, fit] : fits.contention)
        add_contention(measurements, state_bytes, fit, profile);
    add_numa_nodes(measurements, profile);
}

}  // namespace sluice
