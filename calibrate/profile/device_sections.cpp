#include <fmt/format.h>

#include <algorithm>

#include "calibrate/fit/regression.h"
#include "calibrate/profile/sections.h"
#include "sim/base/units.h"
#include "sim/specs/model/kernel.h"

namespace sluice {
namespace {

void add_device_sizes(const Measurements& m, ProfileJson& profile) {
    const MachineFacts& facts = m.facts;
    if (facts.has_gpu) {
        const Origin driver = measured_here(m, "as the driver says");
        profile.set_text("gpu.maker", "NVIDIA");  // kernels are measured with CUDA only
        profile.set_text("gpu.name", facts.gpu_name);
        profile.set_text("gpu.driver_name", facts.gpu_name);
        profile.set_number("gpu.memory_capacity_gb", facts.gpu_memory_bytes / kGiga, {}, driver);
        if (facts.multiprocessors > 0)
            profile.set_number("gpu.multiprocessors", facts.multiprocessors, {}, driver);
        if (facts.gpu_context_bytes > 0)
            profile.set_number(
                "gpu.context_gb", facts.gpu_context_bytes / kGiga, {},
                measured_here(m, "driver and libraries, after all kernels have run"));
        return;
    }
    if (facts.is_host_only()) return;
    profile.set_text("gpu.name", "CPU (no GPU)");
    profile.set_number("gpu.memory_capacity_gb",
                       (facts.host_memory_bytes - facts.system_reserve_bytes) / kGiga, {},
                       measured_here(m, "host memory less what the system keeps; one pool"));
    // Quantities of a profile are above 0, so one byte stands for none.
    profile.set_number("gpu.context_gb", 1 / kGiga, {},
                       measured_here(m, "none: no GPU, so no driver's memory"));
    profile.set_number("gpu.multiprocessors", 1, {},
                       measured_here(m, "no GPU: products of any size keep the processor busy"));
}

void add_memory_bandwidth(const Measurements& m, ProfileJson& profile) {
    const MeasuredRows copies(m, "device_copy");
    if (!copies) return;
    const std::size_t row = copies.largest("bytes");
    const double bytes = copies.at(row, "bytes");
    const auto rate = [&](const char* us) { return gb_per_s(2 * bytes, copies.at(row, us)); };
    profile.set_number(
        "gpu.memory_bandwidth_achieved_gb_per_s", rate("us"),
        RateRange{rate("us_high"), rate("us_low")},
        copies.origin(fmt::format("read plus written; copies of {:.4g} GB", bytes / kGiga)));
    auto points = copies.points({"bytes", "us"});
    for (auto& point : points) point[1] = gb_per_s(2 * point[0], point[1]);
    profile.set_curve("gpu.other.device_copy_gb_per_s_by_bytes", {"bytes", "gb_per_s"},
                      std::move(points),
                      copies.noted("read plus written; small copies stay in the caches"));
}

/// The fastest of all products whose time was steady.
void add_best_product(const Measurements& m, ProfileJson& profile) {
    constexpr double kSteady = 1.03;
    double best = 0;
    RateRange range;
    Origin origin;
    for (const char* role : {"forward", "input_gradient", "weight_gradient"}) {
        const MeasuredRows rows(m, fmt::format("gemm_{}", role));
        for (std::size_t i = 0; rows && i < rows.size(); ++i) {
            const double sizes[] = {rows.at(i, "m"), rows.at(i, "n"), rows.at(i, "k")};
            const auto tflops = [&](const char* us) {
                return 2 * sizes[0] * sizes[1] * sizes[2] / rows.at(i, us) * kMega / kTera;
            };
            // A product whose speed changed during the measurement did not run at one clock.
            if (tflops("us_low") > kSteady * tflops("us_high") || tflops("us") <= best) continue;
            best = tflops("us");
            range = {tflops("us_high"), tflops("us_low")};
            origin = rows.origin(fmt::format("{} x {} x {} ({}), activations in {}", sizes[0],
                                             sizes[1], sizes[2], role, m.facts.activations));
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
    origin.date = m.date_of("gemm_forward");  // all products belong to one case
    // The tables are for the highest clock.
    const MeasuredRows after_rest(m, "clock_after_rest");
    if (const auto clock = after_rest ? fit_clock(*m.find("clock_after_rest")) : std::nullopt) {
        const auto tflops = [&](double us) { return after_rest.at(0, "tflop") * kMega / us; };
        profile.set_number("kernels.gemm_sustained_tflops", tflops(clock->limit_us),
                           RateRange{tflops(clock->limit_us_high), tflops(clock->limit_us_low)},
                           after_rest.origin("large products at the power limit"));
    } else {
        profile.set_number("kernels.gemm_sustained_tflops", line.tflops,
                           RateRange{line.tflops_low, line.tflops_high}, origin);
    }
    profile.set_number("kernels.gemm_overhead_us", line.overhead_us,
                       RateRange{line.overhead_low, line.overhead_high}, origin);
}

void add_fp8_products(const Measurements& m, ProfileJson& profile) {
    const MeasuredRows products(m, "fp8_products");
    if (!products) return;
    const auto tflops = [&](const char* us) {
        return products.at(0, "tflop") * kMega / products.at(0, us);
    };
    profile.set_number("kernels.fp8_gemm_sustained_tflops", tflops("us"),
                       RateRange{tflops("us_high"), tflops("us_low")},
                       products.origin("large products of e4m3 at the power limit"));
}

/// Bytes as the kernels of predictions count them.
void add_fp8_casts(const Measurements& m, ProfileJson& profile) {
    const MeasuredRows casts(m, "fp8_casts"), launch(m, "launch");
    if (!casts) return;
    const double launch_us = launch ? launch.at(0, "kernel_us") : 0;
    const auto rate = [&](const char* us) {
        double bytes = 0, all_us = 0;
        for (std::size_t i = 0; i < casts.size(); ++i) {
            const auto orders = casts.at(i, "by_rows") + casts.at(i, "by_columns");
            const Kernel kernel = cast_to_fp8(casts.at(i, "rows") * casts.at(i, "columns"),
                                              static_cast<int>(orders), casts.at(i, "sought") != 0);
            bytes += kernel.bytes;
            const double one_us = casts.at(i, us);
            const double launches_us = launch_us * static_cast<double>(kernel.launches);
            all_us += std::max(one_us / 2, one_us - launches_us);
        }
        return gb_per_s(bytes, all_us);
    };
    profile.set_number("kernels.fp8_cast_gb_per_s", rate("us"),
                       RateRange{rate("us_high"), rate("us_low")},
                       casts.origin("all casts together"));
}

void add_launches(const Measurements& m, ProfileJson& profile) {
    const MeasuredRows launch(m, "launch");
    if (!launch) return;
    for (const auto& [path, column] : {std::pair("kernels.launch_us", "kernel_us"),
                                       {"kernels.other.event_us", "event_us"},
                                       {"kernels.other.host_launch_us", "host_us"}}) {
        // An event may cost less than the noise of the two times that it is the difference of.
        const auto range = launch.range(0, fmt::format("{}_", column));
        if (const double us = launch.at(0, column); us > 0)
            profile.set_number(path, us, range && range->low > 0 ? range : std::nullopt,
                               launch.origin());
    }
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
    profile.set_kernel_table(entry, MeasuredRows(m, kernel_table_name(id)).origin());
}

}  // namespace

void add_gpu(const Measurements& measurements, const MachineFits& fits, ProfileJson& profile) {
    add_device_sizes(measurements, profile);
    add_memory_bandwidth(measurements, profile);
    add_best_product(measurements, profile);
    if (fits.gemm_line) add_gemm_line(measurements, *fits.gemm_line, profile);
    add_fp8_products(measurements, profile);
    add_fp8_casts(measurements, profile);
    add_launches(measurements, profile);
    for (const auto& [id, fit] : fits.kernels) add_kernel_table(measurements, id, fit, profile);
}

namespace {

/// Chunks from this size on reach the full rate, like the trainer's.
constexpr double kLargeChunk = 64 << 20;

/// bytes, GB/s, low, high. Times are made to rise with size, since more bytes take no less time.
std::vector<std::vector<double>> copy_curve(const MeasuredRows& copies) {
    auto points = copies.points({"bytes", "us", "us_high", "us_low"});
    std::vector<double> us;
    for (const auto& point : points) us.push_back(point[1]);
    std::vector<double> weights = relative_weights(us);
    for (double& weight : weights) weight *= weight;
    const std::vector<double> rising = isotonic(us, weights, Monotone::increasing);
    for (std::size_t i = 0; i < points.size(); ++i) {
        std::vector<double>& point = points[i];
        point = {point[0], gb_per_s(point[0], rising[i]),
                 gb_per_s(point[0], std::max(rising[i], point[2])),
                 gb_per_s(point[0], std::min(rising[i], point[3]))};
    }
    return points;
}

void add_direction(const Measurements& m, const std::string& direction, ProfileJson& profile) {
    const MeasuredRows copies(m, "copy_" + direction);
    if (!copies) return;
    auto points = copy_curve(copies);
    const std::vector<double> largest = points.back();
    const RateRange range{largest[2], largest[3]};
    profile.set_number(fmt::format("link.{}_gb_per_s", direction), largest[1], range,
                       copies.origin(fmt::format("copies of {:.4g} MB", largest[0] / kMega)));
    profile.set_curve(fmt::format("link.curve.{}_gb_per_s_by_bytes", direction),
                      {"bytes", "gb_per_s", "low", "high"}, std::move(points), copies.origin());
    // Without a GPU no memory is registered, so every copy is one of pageable memory.
    if (!m.facts.has_gpu)
        profile.set_number(fmt::format("link.other.pageable_{}_gb_per_s", direction), largest[1],
                           range, copies.noted("without a GPU as from any other memory"));
}

void add_latency(const Measurements& m, ProfileJson& profile) {
    const MeasuredRows copies(m, "copy_host_to_device");
    if (!copies) return;
    const std::vector<double> least = copies.points({"bytes", "us", "us_low", "us_high"}).front();
    profile.set_number("link.copy_latency_us", least[1], RateRange{least[2], least[3]},
                       copies.noted(fmt::format("a copy of {} bytes to the device", least[0])));
}

void add_both_ways(const Measurements& m, ProfileJson& profile) {
    const MeasuredRows both(m, "copy_both_ways");
    if (!both) return;
    for (const auto& [way, direction] :
         {std::pair<std::string, const char*>("in", "host_to_device"), {"out", "device_to_host"}}) {
        auto points = both.points({"bytes", way + "_gb_per_s", way + "_low", way + "_high"});
        const std::vector<double> largest = points.back();
        std::erase_if(points, [](const auto& point) { return point[0] < kLargeChunk; });
        if (points.empty()) points = {largest};
        double sum = 0;
        RateRange range{1e300, 0};
        for (const auto& point : points) {
            sum += point[1];
            range = {std::min(range.low, point[2]), std::max(range.high, point[3])};
        }
        profile.set_number(
            fmt::format("link.both_ways_{}_gb_per_s", direction),
            sum / static_cast<double>(points.size()), range,
            both.origin(fmt::format("while the other way runs, chunks of {:.4g} MB or more",
                                    points.front()[0] / kMega)));
    }
}

void add_pageable(const Measurements& m, const std::string& direction, ProfileJson& profile) {
    const MeasuredRows copies(m, "copy_pageable_" + direction);
    if (!copies) return;
    const std::size_t row = copies.largest("bytes");
    profile.set_number(fmt::format("link.other.pageable_{}_gb_per_s", direction),
                       copies.at(row, "gb_per_s"), copies.range(row), copies.origin());
}

}  // namespace

void add_link(const Measurements& measurements, ProfileJson& profile) {
    for (const char* direction : {"host_to_device", "device_to_host"}) {
        add_direction(measurements, direction, profile);
        add_pageable(measurements, direction, profile);
    }
    if (!measurements.facts.has_gpu && !measurements.facts.is_host_only())
        profile.set_text("link.type", "none: copies within host memory, by the processor");
    add_latency(measurements, profile);
    add_both_ways(measurements, profile);
}

}  // namespace sluice
