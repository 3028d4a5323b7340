#include <algorithm>
#include <numeric>

#include "calibrate/transfer/transfer_rules.h"
#include "tests/calibrate/transfer/synthetic_profile.h"
#include "tests/catch.h"

namespace sluice {
namespace {

constexpr KernelTableId kForward = KernelTableId::gemm_forward;

/// m doubles from row to row; times bent by weights of both signs.
KernelMeasurement doubling_products() {
    KernelMeasurement measured;
    measured.id = kForward;
    measured.length_doublings = 2;
    measured.trend = {2, 0.3, 1.5, 0.5, 0.2, 0.1, 0.4, 0.3, 0.2, 0.05, 0.1, 0.15};
    const std::vector<double> weights = {0.1, -0.05, 0.2, -0.1};
    double m = 1024;
    for (const double weight : weights) {
        measured.points.push_back({{m, 2048, 2048, 0}, 1, 1, 1, weight});
        m *= 2;
    }
    const KernelTable table = measured.table();
    for (KernelPoint& point : measured.points) {
        const Kernel kernel = kernel_of_row(kForward, point.row);
        point.us = 1e6 * table.time(kernel_features(kForward, kernel, 100),
                                    kernel_coordinates(kForward, kernel));
        point.us_low = 0.98 * point.us;
        point.us_high = 1.03 * point.us;
    }
    return measured;
}

Scales equal_scales() {
    Scales scales;
    scales.old_multiprocessors = scales.new_multiprocessors = 100;
    return scales;
}

double trend_of(const KernelMeasurement& measured, std::size_t row, double multiprocessors) {
    const auto features = kernel_features(
        kForward, kernel_of_row(kForward, measured.points[row].row), multiprocessors);
    double sum = 0;
    for (std::size_t i = 0; i < features.size(); ++i) sum += measured.trend[i] * features[i];
    return sum;
}

std::size_t feature(const std::string& name) {
    const std::vector<std::string>& names = kernel_feature_names(kForward);
    const auto found = std::find(names.begin(), names.end(), name);
    REQUIRE(found != names.end());
    return static_cast<std::size_t>(found - names.begin());
}

}  // namespace

TEST_CASE("transfer: equal machines have equal tables", "[transfer]") {
    const KernelMeasurement before = doubling_products();
    const KernelMeasurement after = transfer_kernels(before, equal_scales());
    CHECK(after.trend == before.trend);
    for (std::size_t i = 0; i < before.points.size(); ++i) {
        CHECK(after.points[i].us == Approx(before.points[i].us));
        CHECK(after.points[i].us_low == Approx(before.points[i].us_low));
        CHECK(after.points[i].weight == before.points[i].weight);
    }
}

TEST_CASE("transfer: twice as many multiprocessors do twice the rows with the same efficiency",
          "[transfer]") {
    const KernelMeasurement before = doubling_products();
    Scales scales = equal_scales();
    scales.new_multiprocessors = 200;
    scales.multiprocessors = scales.compute = scales.memory = 2;
    const KernelMeasurement after = transfer_kernels(before, scales);
    // All parts of twice the rows at twice the rates take as long, but the weight matrix, which
    // does not grow: 2048 x 2048 x 2 bytes at 0.4 us a MB, half of it.
    const double less = 0.4 * 2 * 2048 * 2048 / 1e6 / 2;
    for (std::size_t i = 0; i + 1 < before.points.size(); ++i) {
        const double trend = trend_of(before, i, 100);
        CHECK(trend_of(after, i + 1, 200) == Approx(trend - less));
        CHECK(after.points[i + 1].us ==
              Approx(before.points[i].us * (trend - less) / trend).epsilon(1e-6));
    }
}

TEST_CASE("transfer: parts of a product's trend go by FLOPs or by bytes, constants stay",
          "[transfer]") {
    KernelMeasurement before = doubling_products();
    before.trend.assign(before.trend.size(), 0.5);
    Scales scales = equal_scales();
    scales.compute = 2;
    const std::vector<double> after = transfer_kernels(before, scales).trend;
    CHECK(after[feature("us")] == 0.5);
    CHECK(after[feature("us_per_wave_of_128x256")] == 0.5);
    CHECK(after[feature("us_per_gflop")] == 0.25);
    CHECK(after[feature("us_per_gflop_in_waves_of_128x128")] == 0.25);
    // Balances of 100 and 200 FLOPs a byte are now of 200 and 400; that of 400 is of 800, which is
    // halfway from 400 to bytes alone.
    CHECK(after[feature("us_per_mb_or_100_mflop")] == 0);
    CHECK(after[feature("us_per_mb_or_200_mflop")] == Approx(0.5));
    CHECK(after[feature("us_per_mb_or_400_mflop")] == Approx(0.75));
    for (const char* bytes : {"us_per_mb_in", "us_per_mb_out", "us_per_mb_added"})
        CHECK(after[feature(bytes)] == Approx(0.75));
}

TEST_CASE("transfer: what takes longer, bytes or FLOPs, goes by the rate of each", "[transfer]") {
    // 10000 FLOPs a byte, and 1: far from any balance.
    const Kernel much_work = kernel_of_row(kForward, std::vector<double>{30000, 30000, 30000, 0});
    const Kernel many_bytes = kernel_of_row(kForward, std::vector<double>{1e6, 16, 1, 0});
    for (const char* name :
         {"us_per_mb_or_100_mflop", "us_per_mb_or_200_mflop", "us_per_mb_or_400_mflop"}) {
        KernelMeasurement before = doubling_products();
        before.trend.assign(before.trend.size(), 0);
        before.trend[feature(name)] = 1;
        for (const double compute : {1.0, 1.5, 2.0, 2.5}) {
            INFO(name << ", compute " << compute);
            Scales scales = equal_scales();
            scales.compute = compute;
            scales.memory = 2;
            const KernelMeasurement after = transfer_kernels(before, scales);
            const auto ratio = [&](const Kernel& kernel) {
                const auto x = kernel_features(kForward, kernel, 100);
                return std::inner_product(x.begin(), x.end(), after.trend.begin(), 0.0) /
                       x[feature(name)];
            };
            CHECK(ratio(many_bytes) == Approx(1 / 2.0).epsilon(0.02));
            CHECK(ratio(much_work) == Approx(1 / compute).epsilon(0.02));
        }
    }
}

TEST_CASE("transfer: written weights predict written times", "[transfer]") {
    Scales scales = equal_scales();
    scales.new_multiprocessors = 112;
    scales.multiprocessors = 1.12;
    scales.compute = 2.1;
    scales.memory = 1.7;
    const KernelMeasurement after = transfer_kernels(doubling_products(), scales);
    const KernelTable table = after.table();
    for (const KernelPoint& point : after.points) {
        const Kernel kernel = kernel_of_row(kForward, point.row);
        CHECK(1e6 * table.time(kernel_features(kForward, kernel, 112),
                               kernel_coordinates(kForward, kernel)) ==
              Approx(point.us));
    }
}

TEST_CASE("transfer: ranges widen times and held-out errors by how far rates may be off",
          "[transfer]") {
    Scales scales = equal_scales();
    scales.compute_range = {0.8, 1.25};
    KernelMeasurement before = doubling_products();
    before.held_out = {10, 2, 6, -5, 4};
    const KernelMeasurement after = transfer_kernels(before, scales);
    CHECK(after.points[0].us_low == Approx(before.points[0].us_low / 1.25));
    CHECK(after.points[0].us_high == Approx(before.points[0].us_high / 0.8));
    CHECK(after.held_out.low_percent == Approx(100 * (0.95 * 0.8 - 1)));
    CHECK(after.held_out.high_percent == Approx(100 * (1.04 * 1.25 - 1)));
    CHECK(range_of_kernels(KernelTableId::swiglu, scales).low == 1);
}

}  // namespace sluice
