#include "calibrate/transfer/transfer_rules.h"

#include <algorithm>
#include <cmath>

#include "sim/specs/machine/machine_number.h"

namespace sluice {
namespace {

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

/// The rule for a key that no row of the table has, by its section and unit.
Transfer transfer_of_free_key(std::string_view path) {
    const bool is_rate = contains(path, "gb_per_s");
    if (path.starts_with("kernels.")) return is_rate ? Transfer::gpu_memory : Transfer::as_measured;
    if (path.starts_with("link.")) {
        if (!is_rate || contains(path, "pageable")) return Transfer::as_measured;
        return contains(path, "both_ways") ? Transfer::both_ways : Transfer::link;
    }
    if (path.starts_with("host.")) {
        if (contains(path, "adam") && contains(path, "gparams_per_s")) return Transfer::adam;
        return is_rate ? Transfer::host_memory : Transfer::as_measured;
    }
    if (!path.starts_with("power.") || contains(path, "cpu") || contains(path, "node"))
        return Transfer::left_out;  // specific to one machine: storage, network, other GPUs, prices
    if (contains(path, "joules_per_tflop")) return Transfer::joules_of_products;
    if (contains(path, "copy_joules")) return Transfer::joules_of_copies;
    return contains(path, "joules_per_gb") ? Transfer::joules_of_memory : Transfer::watts;
}

/// The power of the GPU scales by TDP, the energy of its work by TDP over its rate.
std::optional<TransferRule> by_power(const Scales& scales, double rate, const RateRange& range) {
    if (scales.power == 0) return std::nullopt;
    return TransferRule{
        scales.power / rate, {1 / range.high, 1 / range.low}, 0, "by TDP over the rate"};
}

/// Linear between points from (0, 0) on, constant after the last.
double value_at(const std::vector<std::vector<double>>& points, std::size_t column, double x) {
    double x0 = 0, y0 = 0;
    for (const auto& point : points) {
        if (x <= point[0]) return y0 + (point[column] - y0) * (x - x0) / (point[0] - x0);
        x0 = point[0];
        y0 = point[column];
    }
    return y0;
}

/// Each thread keeps its rate, up to a limit `factor` times as high: the curve is stretched in both
/// directions.
std::vector<std::vector<double>> stretched_by_threads(
    const std::vector<std::vector<double>>& points, double factor, double cores) {
    std::vector<std::vector<double>> out;
    for (const auto& point : points) {
        const double threads = std::clamp(std::round(point[0] * factor), 1.0, std::max(1.0, cores));
        if (!out.empty() && out.back()[0] >= threads) continue;
        std::vector<double>& row = out.emplace_back();
        row.push_back(threads);
        for (std::size_t column = 1; column < point.size(); ++column)
            row.push_back(factor * value_at(points, column, threads / factor));
    }
    return out;
}

void widen(std::vector<std::vector<double>>& points, const std::vector<std::string>& columns,
           const RateRange& range) {
    for (std::size_t column = 2; column < columns.size(); ++column) {
        const double factor = columns[column] == "low"    ? range.low
                              : columns[column] == "high" ? range.high
                                                          : 1;
        for (auto& point : points) point[column] *= factor;
    }
}

}  // namespace

std::optional<TransferRule> transfer_rule(std::string_view path, const Scales& scales) {
    const MachineNumber* const row = number_at(path);
    switch (row == nullptr ? transfer_of_free_key(path) : row->transfer) {
        case Transfer::left_out:
            return std::nullopt;
        case Transfer::as_measured:
            return TransferRule{1, {}, 0, "as measured there"};
        case Transfer::products:
            return TransferRule{scales.compute, scales.compute_range, 0,
                                "same share of the dense rate, by power per FLOP"};
        case Transfer::attention:
            return TransferRule{scales.compute, scales.attention_range, 0,
                                "same share of the dense rate"};
        case Transfer::gpu_memory:
            return TransferRule{scales.memory, scales.memory_range, 0, "by GPU memory bandwidth"};
        case Transfer::link:
            return TransferRule{scales.link, scales.link_range, scales.link_raw_gb_per_s,
                                "same share of the raw rate"};
        case Transfer::both_ways:
            return TransferRule{scales.link, scales.both_ways_range, scales.link_raw_gb_per_s,
                                "same share of the raw rate"};
        case Transfer::host_memory:
            return TransferRule{scales.host, scales.host_range, scales.host_peak_gb_per_s,
                                "by host memory bandwidth"};
        case Transfer::adam:
            return TransferRule{scales.host, scales.adam_range, 0,
                                "as much a thread, up to as much of the host memory's bandwidth"};
        case Transfer::contention:
            return TransferRule{1, {}, 0, "same shares, at as much of the host memory's bandwidth"};
        case Transfer::watts:
            if (scales.power == 0) return std::nullopt;
            return TransferRule{scales.power, {}, 0, "by TDP"};
        case Transfer::joules_of_products:
            return by_power(scales, scales.compute, scales.compute_range);
        case Transfer::joules_of_memory:
            return by_power(scales, scales.memory, scales.memory_range);
        case Transfer::joules_of_copies:
            return by_power(scales, scales.link, scales.link_range);
    }
    return std::nullopt;
}

std::vector<std::vector<double>> transfer_curve(std::string_view path,
                                                const std::vector<std::string>& columns,
                                                const std::vector<std::vector<double>>& points,
                                                const TransferRule& rule, const Scales& scales) {
    auto out = points;
    // A time of waking threads, which no bandwidth changes.
    if (path == "host.optimizer_call_us_by_threads") return out;
    if (path.ends_with("_by_threads")) {
        out = stretched_by_threads(points, scales.host, scales.new_cores);
    } else if (path.starts_with("host.contention")) {
        const auto work = std::find(columns.begin(), columns.end(), "work_gb_per_s");
        const auto column = static_cast<std::size_t>(work - columns.begin());
        for (auto& point : out)
            if (column < point.size()) point[column] *= scales.host;
        return out;
    } else {
        for (auto& point : out) {
            // Latency stays: a copy of twice the size at twice the rate takes as long.
            if (path.starts_with("link.")) point[0] *= rule.factor;
            for (std::size_t column = 1; column < point.size(); ++column)
                point[column] *= rule.factor;
        }
    }
    widen(out, columns, rule.range);
    if (rule.most > 0)
        for (auto& point : out)
            for (std::size_t column = 1; column < point.size(); ++column)
                point[column] = std::min(point[column], rule.most);
    return out;
}

}  // namespace sluice
