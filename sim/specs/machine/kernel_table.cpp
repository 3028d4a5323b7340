#include "sim/specs/machine/kernel_table.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/specs/machine/kernel_time.h"

namespace sluice {
namespace {

// `added` is not a size: a product with another epilogue is as far away as one eight times as
// large.
constexpr double kAddedDistance = 3;

// Neighbours change the trend by a factor of 20 at most, either way. Weights are sums of measured
// residuals of some percent; with a damaged file's weights, times stay finite.
constexpr double kMostResidual = 3;

// The last tables are the ones of MemoryBoundWork.
constexpr int kFirstMemoryBound = static_cast<int>(KernelTableId::rms_norm);
KernelTableId table_of_work(MemoryBoundWork work) {
    return static_cast<KernelTableId>(kFirstMemoryBound + static_cast<int>(work) - 1);
}
MemoryBoundWork work_of_table(KernelTableId id) {
    return static_cast<MemoryBoundWork>(static_cast<int>(id) - kFirstMemoryBound + 1);
}

double log2_of(std::int64_t size) {
    return std::log2(static_cast<double>(std::max<std::int64_t>(size, 1)));
}

/// Waves of a product whose output is cut into tiles, with one tile per multiprocessor at a time.
double waves_of(const Kernel& k, double multiprocessors, double rows, double columns) {
    const double tiles = static_cast<double>(k.count) * std::ceil(static_cast<double>(k.m) / rows) *
                         std::ceil(static_cast<double>(k.n) / columns);
    return std::ceil(tiles / std::max(1.0, multiprocessors));
}

/// GFLOPs, if the last wave takes as long as a full one.
double gflop_in_waves(const Kernel& k, double multiprocessors, double rows, double columns) {
    return waves_of(k, multiprocessors, rows, columns) * std::max(1.0, multiprocessors) * rows *
           columns * 2 * static_cast<double>(k.k) / kGiga;
}

std::vector<double> gemm_features(const Kernel& k, double multiprocessors) {
    const double count = static_cast<double>(k.count);
    const double m = static_cast<double>(k.m), n = static_cast<double>(k.n),
                 depth = static_cast<double>(k.k);
    const auto waves = [&](double rows, double columns) {
        return gflop_in_waves(k, multiprocessors, rows, columns);
    };
    const double gflop = 2 * count * m * n * depth / kGiga;
    const double in = count * kBf16 * (m + n) * depth / kMega;
    const double out = count * kBf16 * m * n / kMega;
    const double added = k.added_bytes / kMega;
    // The larger of the times for bytes and for computing, on a machine with that many FLOPs per
    // byte.
    const auto longer = [&](double flops_a_byte) {
        return std::max(in + out + added, gflop * kKilo / flops_a_byte);
    };
    return {count,
            waves_of(k, multiprocessors, 128, 256),
            gflop,
            waves(128, 128),
            waves(128, 256),
            waves(256, 128),
            in,
            out,
            added,
            longer(100),
            longer(200),
            longer(400)};
}

std::vector<double> attention_features(const Kernel& k) {
    const double tokens = static_cast<double>(k.sequences * k.sequence);
    const double scores = k.flops / (4 * static_cast<double>(k.head_dim)) / kGiga;
    const double query = tokens * static_cast<double>(k.heads * k.head_dim) / kMega;
    const double key = tokens * static_cast<double>(k.kv_heads * k.head_dim) / kMega;
    return {1, k.flops / kGiga, scores, query, key};
}

}  // namespace

std::optional<KernelTableId> kernel_table_of(const Kernel& kernel) {
    switch (kernel.kind) {
        case KernelKind::gemm:
            if (kernel.fp8) return std::nullopt;  // not measured by shape
            return static_cast<KernelTableId>(kernel.role);
        case KernelKind::attention_forward:
            return KernelTableId::attention_forward;
        case KernelKind::attention_backward:
            return KernelTableId::attention_backward;
        case KernelKind::memory_bound:
            break;
    }
    if (kernel.work == MemoryBoundWork::other) return std::nullopt;
    return table_of_work(kernel.work);
}

const std::vector<std::string>& kernel_columns(KernelTableId id) {
    static const std::vector<std::string> gemm_columns = {"m", "n", "k", "added"};
    static const std::vector<std::string> attention_columns = {"sequences", "sequence", "heads",
                                                               "kv_heads", "head_dim"};
    static const std::vector<std::string> matrix_columns = {"rows", "columns"};
    if (is_gemm(id)) return gemm_columns;
    return is_attention(id) ? attention_columns : matrix_columns;
}

Kernel kernel_of_row(KernelTableId id, std::span<const double> row) {
    const auto size = [&](std::size_t i) { return static_cast<std::int64_t>(row[i]); };
    if (is_gemm(id)) {
        const Kernel plain =
            gemm(kernel_table_name(id), static_cast<GemmRole>(id), size(0), size(1), size(2));
        return row[3] != 0 ? with_addend(plain) : plain;
    }
    if (is_attention(id)) {
        const AttentionSize shape = {size(0), size(1), size(2), size(3), size(4), size(4)};
        return id == KernelTableId::attention_forward ? attention_forward(shape)
                                                      : attention_backward(shape);
    }
    Kernel kernel;
    kernel.work = work_of_table(id);
    kernel.rows = size(0);
    kernel.columns = size(1);
    return kernel;
}

const std::vector<std::string>& kernel_feature_names(KernelTableId id) {
    static const std::vector<std::string> gemm_names = {"us",
                                                        "us_per_wave_of_128x256",
                                                        "us_per_gflop",
                                                        "us_per_gflop_in_waves_of_128x128",
                                                        "us_per_gflop_in_waves_of_128x256",
                                                        "us_per_gflop_in_waves_of_256x128",
                                                        "us_per_mb_in",
                                                        "us_per_mb_out",
                                                        "us_per_mb_added",
                                                        "us_per_mb_or_100_mflop",
                                                        "us_per_mb_or_200_mflop",
                                                        "us_per_mb_or_400_mflop"};
    static const std::vector<std::string> attention_names = {
        "us", "us_per_gflop", "us_per_giga_scores", "us_per_million_query_elements",
        "us_per_million_key_elements"};
    static const std::vector<std::string> matrix_names = {"us", "us_per_thousand_rows",
                                                          "us_per_million_elements"};
    if (is_gemm(id)) return gemm_names;
    return is_attention(id) ? attention_names : matrix_names;
}

std::vector<double> kernel_features(KernelTableId id, const Kernel& kernel,
                                    double multiprocessors) {
    if (is_gemm(id)) return gemm_features(kernel, multiprocessors);
    if (is_attention(id)) return attention_features(kernel);
    const double rows = static_cast<double>(kernel.rows);
    return {1, rows / kKilo, rows * static_cast<double>(kernel.columns) / kMega};
}

std::vector<double> kernel_coordinates(KernelTableId id, const Kernel& kernel) {
    if (is_gemm(id)) {
        return {log2_of(kernel.m), log2_of(kernel.n), log2_of(kernel.k),
                kernel.added ? kAddedDistance : 0};
    }
    if (is_attention(id)) {
        return {log2_of(kernel.sequences), log2_of(kernel.sequence), log2_of(kernel.heads),
                log2_of(kernel.kv_heads), log2_of(kernel.head_dim)};
    }
    return {log2_of(kernel.rows), log2_of(kernel.columns)};
}

double KernelTable::closeness(std::span<const double> a, std::span<const double> b, double length) {
    double squares = 0;
    for (std::size_t i = 0; i < a.size(); ++i) squares += (a[i] - b[i]) * (a[i] - b[i]);
    return std::exp(-std::sqrt(squares) / length);
}

double KernelTable::residual(std::span<const double> coordinates) const {
    double sum = 0;
    for (std::size_t i = 0; i < weight.size(); ++i)
        sum += weight[i] * closeness(coordinates, at[i], length);
    return std::clamp(sum, -kMostResidual, kMostResidual);
}

Seconds KernelTable::time(std::span<const double> features,
                          std::span<const double> coordinates) const {
    double trend_us = 0;
    for (std::size_t i = 0; i < trend.size(); ++i) trend_us += trend[i] * features[i];
    return trend_us / kMega * std::exp(residual(coordinates));
}

}  // namespace sluice
