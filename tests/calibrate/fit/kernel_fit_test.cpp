#include "calibrate/fit/kernel_fit.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "sim/base/input_error.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

constexpr double kGpuProcessors = 132;
constexpr auto kFittedNorm = KernelTableId::rms_norm;
constexpr auto kProduct = KernelTableId::gemm_forward;

CaseTable empty_table(KernelTableId id) {
    CaseTable table{kernel_table_name(id), "synthetic", kernel_columns(id), {}};
    for (const char* column : {"us", "us_low", "us_high", "held_out"})
        table.columns.push_back(column);
    return table;
}

void add(CaseTable& table, std::vector<double> shape, double us, bool held_out = false,
         double spread = 0.002) {
    shape.insert(shape.end(), {us, us * (1 - spread), us * (1 + spread), held_out ? 1.0 : 0.0});
    table.add(shape);
}

/// 4 us, 5 us for each million elements, and up to 15% more or less by a wave over the sizes.
double wavy_us(double rows, double columns) {
    const double wave = 0.15 * std::sin(std::log2(rows) / 1.5) * std::cos(std::log2(columns) / 2);
    return (4 + 5 * rows * columns / 1e6) * (1 + wave);
}

double straight_us(double rows, double columns) { return 4 + 5 * rows * columns / 1e6; }

/// Powers of two are fitted; sizes between them are held out.
CaseTable norm_table(const std::function<double(double, double)>& us) {
    CaseTable table = empty_table(kFittedNorm);
    for (double rows = 512; rows <= 32768; rows *= 2) {
        for (double columns = 1024; columns <= 16384; columns *= 2) {
            add(table, {rows, columns}, us(rows, columns));
            add(table, {1.5 * rows, 1.25 * columns}, us(1.5 * rows, 1.25 * columns), true);
        }
    }
    return table;
}

double predicted_us(const KernelFit& fit, KernelTableId id, const std::vector<double>& shape) {
    const Kernel kernel = kernel_of_row(id, shape);
    return 1e6 * fit.table.time(kernel_features(id, kernel, kGpuProcessors),
                                kernel_coordinates(id, kernel));
}

std::vector<std::vector<double>> fitted_shapes(const KernelFit& fit) {
    std::vector<std::vector<double>> shapes;
    for (const FittedKernel& kernel : fit.fitted) shapes.push_back(kernel.shape);
    return shapes;
}

}  // namespace

TEST_CASE("fit error: mean and worst without sign, range with it", "[fit]") {
    const FitError error =
        fit_error(std::vector<double>{110, 95, 100}, std::vector<double>{100, 100, 100});
    CHECK(error.shapes == 3);
    CHECK(error.mean_percent == Approx(5));
    CHECK(error.worst_percent == Approx(10));
    CHECK(error.low_percent == Approx(-4.5));  // a tenth of the way from -5 to 0
    CHECK(error.high_percent == Approx(9));
    CHECK(fit_error({}, {}).shapes == 0);
}

TEST_CASE("kernel fit: what is linear in the features is found exactly", "[fit]") {
    const KernelFit fit = fit_kernel_table(kFittedNorm, norm_table(straight_us), kGpuProcessors);
    CHECK(fit.fitted.size() == 35);
    CHECK(fit.held_out.shapes == 35);
    CHECK(fit.held_out.worst_percent < 0.01);
    CHECK(predicted_us(fit, kFittedNorm, {100000, 8192}) == Approx(straight_us(100000, 8192)));
}

TEST_CASE("kernel fit: a smooth surface off the trend is followed between its points", "[fit]") {
    const KernelFit fit = fit_kernel_table(kFittedNorm, norm_table(wavy_us), kGpuProcessors);
    CHECK(fit.held_out.mean_percent < 3);
    CHECK(fit.held_out.worst_percent < 8);
    CHECK(fit.leave_one_out.shapes == 35);
    CHECK(fit.leave_one_out.mean_percent < 5);
    // Without the residuals the wave would be missed.
    KernelFit trend = fit;
    trend.table.weight.assign(trend.table.weight.size(), 0);
    double missed = 0;
    for (const FittedKernel& kernel : fit.fitted) {
        const double us = predicted_us(trend, kFittedNorm, kernel.shape);
        missed += std::abs(us / kernel.us - 1) / static_cast<double>(fit.fitted.size());
    }
    CHECK(100 * missed > 2 * fit.held_out.mean_percent);
}

TEST_CASE("kernel fit: rows held out change errors only", "[fit]") {
    const CaseTable table = norm_table(wavy_us);
    CaseTable absurd = table;
    for (auto& row : absurd.rows) {
        if (row[5] == 1) row[2] *= 10;
    }
    const KernelFit fit = fit_kernel_table(kFittedNorm, table, kGpuProcessors);
    const KernelFit other = fit_kernel_table(kFittedNorm, absurd, kGpuProcessors);
    CHECK(fit.table.trend == other.table.trend);
    CHECK(fit.table.weight == other.table.weight);
    CHECK(other.held_out.mean_percent == Approx(90).margin(2));  // a tenth of what is measured
    CHECK_THAT(other.worst_shape, ContainsSubstring("rows ") && ContainsSubstring("measured "));
}

TEST_CASE("kernel fit: products on a GPU of 132 multiprocessors", "[fit]") {
    // 3 us, 1.45 us a GFLOP, 5% more by a wave over the sizes, and 1% of noise.
    std::mt19937 random(5);
    std::normal_distribution<double> noise(0, 0.01);
    CaseTable table = empty_table(kProduct);
    bool held_out = false;
    for (double m = 512; m <= 32768; m *= 2) {
        for (double n = 1024; n <= 16384; n *= 2) {
            for (double k = 1024; k <= 16384; k *= 2) {
                const double us = (3 + 1.45 * 2 * m * n * k / 1e9) *
                                  (1 + 0.05 * std::sin(std::log2(k)) + noise(random));
                add(table, {m, n, k, 0}, us, held_out, 0.01);
                held_out = !held_out;
            }
        }
    }
    const KernelFit fit = fit_kernel_table(kProduct, table, kGpuProcessors);
    CHECK(fit.held_out.shapes == 87);
    CHECK(fit.held_out.mean_percent < 2);
    CHECK(fit.held_out.worst_percent < 7);
    CHECK(fit.held_out.low_percent < 0);
    CHECK(fit.held_out.high_percent > 0);
}

TEST_CASE("kernel fit: products that go by waves are found, between their sizes too", "[fit]") {
    // 2 us, 0.5 us a wave of 128 x 256 and 1.2 us a GFLOP in waves of 128 x 128: a last wave with
    // few tiles takes as long as a full one, so that times jump between these sizes.
    const std::vector<std::string>& names = kernel_feature_names(kProduct);
    const auto of = [&](const std::vector<double>& features, const char* name) {
        const auto found = std::find(names.begin(), names.end(), name);
        return features.at(static_cast<std::size_t>(found - names.begin()));
    };
    CaseTable table = empty_table(kProduct);
    bool held_out = false;
    for (const double m : {256, 700, 1500, 2048, 5000, 9000}) {
        for (const double n : {512, 1100, 3000, 4096, 7000}) {
            for (const double k : {512, 2048, 8192}) {
                const std::vector<double> shape = {m, n, k, 0};
                const auto features =
                    kernel_features(kProduct, kernel_of_row(kProduct, shape), kGpuProcessors);
                add(table, shape,
                    2 + 0.5 * of(features, "us_per_wave_of_128x256") +
                        1.2 * of(features, "us_per_gflop_in_waves_of_128x128"),
                    held_out);
                held_out = !held_out;
            }
        }
    }
    const KernelFit fit = fit_kernel_table(kProduct, table, kGpuProcessors);
    CHECK(fit.held_out.shapes == 45);
    CHECK(fit.held_out.worst_percent < 0.1);
}

TEST_CASE("kernel fit: a shape of wide range counts less", "[fit]") {
    const auto outlier_us = [](double spread) {
        CaseTable table = norm_table(wavy_us);
        add(table, {6000, 6000}, 1.3 * wavy_us(6000, 6000), false, spread);
        return predicted_us(fit_kernel_table(kFittedNorm, table, kGpuProcessors), kFittedNorm,
                            {6000, 6000});
    };
    CHECK(outlier_us(0.5) < 1.1 * wavy_us(6000, 6000));
    CHECK(outlier_us(0.002) > 1.15 * wavy_us(6000, 6000));
}

TEST_CASE("kernel fit: repeated shapes are one, with their mean and widest range", "[fit]") {
    CaseTable table = empty_table(kFittedNorm);
    add(table, {1024, 1024}, 10, false, 0.1);
    add(table, {1024, 1024}, 12, false, 0.1);
    add(table, {2048, 1024}, 20);
    const KernelFit fit = fit_kernel_table(kFittedNorm, table, kGpuProcessors);
    REQUIRE(fit.fitted.size() == 2);
    CHECK(fit.fitted[0].us == Approx(11));
    CHECK(fit.fitted[0].us_low == Approx(9));
    CHECK(fit.fitted[0].us_high == Approx(13.2));
}

TEST_CASE("kernel fit: few shapes give a trend only", "[fit]") {
    CaseTable table = empty_table(kFittedNorm);
    add(table, {1024, 4096}, 25);
    const KernelFit one = fit_kernel_table(kFittedNorm, table, kGpuProcessors);
    CHECK(predicted_us(one, kFittedNorm, {1024, 4096}) == Approx(25));
    CHECK(predicted_us(one, kFittedNorm, {2048, 4096}) == Approx(50));
    CHECK(one.table.weight == std::vector<double>{0});

    add(table, {2048, 4096}, 45);
    const KernelFit two = fit_kernel_table(kFittedNorm, table, kGpuProcessors);
    CHECK(predicted_us(two, kFittedNorm, {4096, 4096}) ==
          Approx(85));  // 5 us and 20 for each 1024 rows
}

TEST_CASE("kernel fit: features that are constant over the table do no harm", "[fit]") {
    CaseTable table = empty_table(kFittedNorm);  // one width: rows and elements are collinear
    for (double rows = 1024; rows <= 32768; rows *= 2)
        add(table, {rows, 4096}, straight_us(rows, 4096));
    const KernelFit fit = fit_kernel_table(kFittedNorm, table, kGpuProcessors);
    CHECK(predicted_us(fit, kFittedNorm, {6000, 4096}) ==
          Approx(straight_us(6000, 4096)).epsilon(1e-3));

    CaseTable same = empty_table(kProduct);
    for (int i = 0; i < 5; ++i) add(same, {1024, 1024, 1024, 0}, 7 + 0.1 * i);
    CHECK(predicted_us(fit_kernel_table(kProduct, same, kGpuProcessors), kProduct,
                       {1024, 1024, 1024, 0}) == Approx(7.2));
}

TEST_CASE("kernel fit: doubling a size makes a kernel faster by noise only", "[fit]") {
    // Short kernels with 15% of noise: the time of 16 rows may be measured longer than that of 32.
    int smoothed = 0;
    for (unsigned seed = 1; seed <= 14; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        std::normal_distribution<double> noise(0, 0.15);
        CaseTable table = empty_table(kFittedNorm);
        for (double rows = 16; rows <= 4096; rows *= 2) {
            for (double columns = 256; columns <= 8192; columns *= 2)
                add(table, {rows, columns}, straight_us(rows, columns) * std::exp(noise(random)));
        }
        const KernelFit fit = fit_kernel_table(kFittedNorm, table, kGpuProcessors);
        smoothed += fit.noise_doublings > 0;
        CHECK(check_monotone(kFittedNorm, fit.table, fitted_shapes(fit), kGpuProcessors).empty());
        CHECK(predicted_us(fit, kFittedNorm, {4096, 8192}) ==
              Approx(straight_us(4096, 8192)).epsilon(0.15));
    }
    CHECK(smoothed >= 5);  // else this tests nothing
}

TEST_CASE("kernel fit: one shape that is wrong does not flatten the others", "[fit]") {
    CaseTable table = norm_table(wavy_us);
    add(table, {32, 1024}, 1.25 * straight_us(32, 1024));  // longer than with twice the rows
    add(table, {64, 1024}, straight_us(64, 1024));
    const KernelFit fit = fit_kernel_table(kFittedNorm, table, kGpuProcessors);
    CHECK(fit.noise_doublings > 0);
    CHECK(fit.noise_doublings <= 12);  // so many of the noise of these shapes alone
    CHECK(check_monotone(kFittedNorm, fit.table, fitted_shapes(fit), kGpuProcessors).empty());
    CHECK(predicted_us(fit, kFittedNorm, {8192, 8192}) ==
          Approx(wavy_us(8192, 8192)).epsilon(0.04));
    CHECK(predicted_us(fit, kFittedNorm, {16384, 2048}) ==
          Approx(wavy_us(16384, 2048)).epsilon(0.04));
}

TEST_CASE("kernel fit: errors of leaving one out are negative where others predict too little",
          "[fit]") {
    CaseTable table = empty_table(kFittedNorm);
    for (double rows = 1024; rows <= 16384; rows *= 2)
        add(table, {rows, 4096}, straight_us(rows, 4096) * (rows == 4096 ? 1.5 : 1));
    const FitError error = fit_kernel_table(kFittedNorm, table, kGpuProcessors).leave_one_out;
    CHECK(error.shapes == 5);
    CHECK(error.low_percent < -20);
    CHECK(error.worst_percent < 40);  // predicted / measured is 1 / 1.5
}

TEST_CASE("kernel fit: a time or size that none is names table, row and value", "[fit]") {
    const double infinite = std::numeric_limits<double>::infinity();
    for (const double us : {0.0, -3.0, infinite}) {
        CaseTable table = norm_table(straight_us);
        table.rows[7][2] = us;
        REQUIRE_THROWS_AS(fit_kernel_table(kFittedNorm, table, kGpuProcessors), InputError);
        REQUIRE_THROWS_WITH(fit_kernel_table(kFittedNorm, table, kGpuProcessors),
                            ContainsSubstring("table rms_norm, row 7: us is ") &&
                                ContainsSubstring("expected a time > 0") &&
                                ContainsSubstring("--only memory_bound"));
    }
    CaseTable table = empty_table(kProduct);
    add(table, {0, 1024, 1024, 0}, 5);
    REQUIRE_THROWS_WITH(fit_kernel_table(kProduct, table, kGpuProcessors),
                        ContainsSubstring("row 0: m is 0, expected 1 to 1e+08"));
    CaseTable all_held_out = empty_table(kProduct);
    add(all_held_out, {1024, 1024, 1024, 0}, 5, true);
    REQUIRE_THROWS_WITH(fit_kernel_table(kProduct, all_held_out, kGpuProcessors),
                        ContainsSubstring("1 rows, of which none is to be fitted"));
}
