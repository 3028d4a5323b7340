#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "calibrate/profile/sections.h"
#include "sim/base/units.h"

namespace sluice {
namespace {

void add_sizes(const Measurements& m, ProfileJson& profile) {
    const MachineFacts& facts = m.facts;
    if (facts.has_gpu) {
        const Origin driver = measured_here(m, "as the driver says");
        profile.set_text("gpu.name", facts.gpu_name);
        profile.set_number("gpu.memory_capacity_gb", facts.gpu_memory_bytes / kGiga, {}, driver);
        if (facts.multiprocessors > 0)
            profile.set_number("gpu.multiprocessors", facts.multiprocessors, {}, driver);
        if (facts.gpu_context_bytes > 0)
            profile.set_number(
                "gpu.context_gb", facts.gpu_context_bytes / kGiga, {},
                measured_here(m, "driver and libraries, after all kernels have run"));
        return;
    }
    profile.set_text("gpu.name", "CPU (no GPU)");
    profile.set_number("gpu.memory_capacity_gb",
                       (facts.host_memory_bytes - facts.system_reserve_bytes) / kGiga, {},
                       measured_here(m, "host memory less what the system keeps; one pool"));
    // Quantities of a profile are above 0: one byte stands for none.
    profile.set_number("gpu.context_gb", 1 / kGiga, {},
                       measured_here(m, "none: no GPU, so no driver's memory"));
    profile.set_number("gpu.multiprocessors", 1, {},
                       measured_here(m, "no GPU: products of any size keep the processor busy"));
}

void add_memory_bandwidth(const Measurements& m, ProfileJson& profile) {
    const Table* copies = find_rows(m, "device_copy");
    if (copies == nullptr) return;
    const std::size_t row = row_of_largest(*copies, "bytes");
    const double traffic = 2 * copies->at(row, "bytes");
    profile.set_number("gpu.memory_bandwidth_achieved_gb_per_s",
                       gb_per_s(traffic, copies->at(row, "us")),
                       Range{gb_per_s(traffic, copies->at(row, "us_high")),
                             gb_per_s(traffic, copies->at(row, "us_low"))},
                       measured_here(m, *copies,
                                     fmt::format("read plus written; copies of {:.4g} GB; {}",
                                                 traffic / 2 / kGiga, copies->method)));
    std::vector<std::vector<double>> points;
    for (std::size_t i = 0; i < copies->rows.size(); ++i) {
        const double bytes = copies->at(i, "bytes");
        points.push_back({bytes, gb_per_s(2 * bytes, copies->at(i, "us"))});
    }
    std::sort(points.begin(), points.end());
    profile.set_curve(
        "gpu.other.device_copy_gb_per_s_by_bytes", {"bytes", "gb_per_s"}, std::move(points),
        measured_here(m, *copies, "read plus written; small copies stay in the caches"));
}

/// The fastest of all products whose time was steady.
void add_best_product(const Measurements& m, ProfileJson& profile) {
    constexpr double kSteady = 1.03;
    double best = 0;
    Range range;
    Origin origin;
    for (const char* role : {"forward", "input_gradient", "weight_gradient"}) {
        const Table* table = find_rows(m, fmt::format("gemm_{}", role));
        if (table == nullptr) continue;
        for (std::size_t i = 0; i < table->rows.size(); ++i) {
            const double sizes[] = {table->at(i, "m"), table->at(i, "n"), table->at(i, "k")};
            const auto tflops = [&](const char* us) {
                return 2 * sizes[0] * sizes[1] * sizes[2] / table->at(i, us) * kMega / kTera;
            };
            // A product that got quicker or slower meanwhile did not run at one clock.
            if (tflops("us_low") > kSteady * tflops("us_high")) continue;
            if (tflops("us") <= best) continue;
            best = tflops("us");
            range = {tflops("us_high"), tflops("us_low")};
            origin = measured_here(
                m, *table,
                fmt::format("{} x {} x {} ({}), activations in {}; {}", sizes[0], sizes[1],
                            sizes[2], role, m.facts.activations, table->method));
        }
    }
    if (best > 0) profile.set_number("gpu.bf16_achieved_gemm_tflops", best, range, origin);
}

void add_gemm_line(const Measurements& m, const GemmLine& line, ProfileJson& profile) {
    Origin origin = measured_here(
        m, fmt::format("fit to {} products, microseconds = overhead + FLOPs / rate: mean error "
                       "{:.1f}%, worst {:.0f}%; predictions take the tables; what is scaled to "
                       "other machines takes this",
                       line.products, line.mean_error_percent, line.worst_error_percent));
    origin.date = m.date_of("gemm_forward");  // all products are of one case
    // The tables are of the highest clock.
    const Table* const after_rest = find_rows(m, "clock_after_rest");
    const auto clock = after_rest == nullptr ? std::nullopt : fit_clock(*after_rest);
    if (clock) {
        const double at_limit = after_rest->at(0, "tflop") * kMega / clock->limit_us;
        profile.set_number(
            "kernels.gemm_sustained_tflops", at_limit,
            Range{after_rest->at(0, "tflop") * kMega / clock->limit_us_high,
                  after_rest->at(0, "tflop") * kMega / clock->limit_us_low},
            measured_here(m, *after_rest,
                          "large products at the power limit; " + after_rest->method));
    } else {
        profile.set_number("kernels.gemm_sustained_tflops", line.tflops,
                           Range{line.tflops_low, line.tflops_high}, origin);
    }
    profile.set_number("kernels.gemm_overhead_us", line.overhead_us,
                       Range{line.overhead_low, line.overhead_high}, origin);
}

void add_launches(const Measurements& m, ProfileJson& profile) {
    const Table* launch = find_rows(m, "launch");
    if (launch == nullptr) return;
    const Origin origin = measured_here(m, *launch, launch->method);
    const auto set = [&](const char* path, const std::string& column) {
        // An event can cost less than the noise of what it is the difference of.
        const auto range = range_at(*launch, 0, column + "_low", column + "_high");
        if (const double us = launch->at(0, column); us > 0)
            profile.set_number(path, us, range && range->low > 0 ? range : std::nullopt, origin);
    };
    set("kernels.launch_us", "kernel_us");
    set("kernels.other.event_us", "event_us");
    set("kernels.other.host_launch_us", "host_us");
}

void add_kernel_table(const Measurements& m, KernelTableId id, const KernelFit& fit,
                      ProfileJson& profile) {
    KernelMeasurement entry;
    entry.id = id;
    entry.trend = fit.table.trend;
    entry.length_doublings = fit.table.length;
    entry.held_out = fit.held_out;
    for (std::size_t i = 0; i < fit.fitted.size(); ++i) {
        const FittedKernel& kernel = fit.fitted[i];
        entry.points.push_back(
            {kernel.shape, kernel.us, kernel.us_low, kernel.us_high, fit.table.weight[i]});
    }
    const Table& table = *m.find(kernel_table_name(id));
    profile.set_kernel_table(entry, measured_here(m, table, table.method));
}

}  // namespace

void add_gpu(const Measurements& measurements, const MachineFits& fits, ProfileJson& profile) {
    add_sizes(measurements, profile);
    add_memory_bandwidth(measurements, profile);
    add_best_product(measurements, profile);
    if (fits.gemm_line) add_gemm_line(measurements, *fits.gemm_line, profile);
    add_launches(measurements, profile);
    for (const auto& [id, fit] : fits.kernels) add_kernel_table(measurements, id, fit, profile);
}

}  // namespace sluice
