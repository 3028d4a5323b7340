// Which doubled sizes does a table predict to take less time? By hand.
#include <cmath>

#include "calibrate/fit/kernel_fit.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

constexpr double kMultiprocessors = 132;
constexpr auto kNorm = KernelTableId::rms_norm;

}  // namespace

TEST_CASE("check monotone: says which size, from what to what", "[fit]") {
    KernelTable table;
    table.trend = {10, 0, 0};  // a constant
    table.at = {kernel_coordinates(kNorm, kernel_of_row(kNorm, std::vector<double>{1024, 512}))};
    table.weight = {0.2};
    const auto decreases = check_monotone(kNorm, table, {{1024, 512}}, kMultiprocessors);
    REQUIRE(decreases.size() == 2);
    CHECK(decreases[0].size == "rows");
    CHECK(decreases[0].to == std::vector<double>{2048, 512});
    CHECK(decreases[0].us == Approx(10 * std::exp(0.2)));
    CHECK(decreases[0].doubled_us == Approx(10 * std::exp(0.2 * std::exp(-1))));
    CHECK(decreases[1].size == "columns");
    table.weight = {-0.2};
    CHECK(check_monotone(kNorm, table, {{1024, 512}}, kMultiprocessors).empty());
    // exp(-0.045 (1 - exp(-1))) = 0.972 is within the 3% of noise, exp(-0.05 ...) = 0.969 not.
    table.weight = {0.045};
    CHECK(check_monotone(kNorm, table, {{1024, 512}}, kMultiprocessors).empty());
    table.weight = {0.05};
    CHECK(check_monotone(kNorm, table, {{1024, 512}}, kMultiprocessors).size() == 2);
}

TEST_CASE("check monotone: keys have at most as many heads as queries", "[fit]") {
    constexpr auto kAttention = KernelTableId::attention_forward;
    const std::vector<double> grouped = {1, 1024, 16, 8, 128}, full = {1, 1024, 16, 16, 128};
    KernelTable table;
    table.trend.assign(kernel_feature_names(kAttention).size(), 0);
    table.trend[0] = 10;  // a constant
    const auto sizes_that_decrease = [&](const std::vector<double>& shape) {
        table.at = {kernel_coordinates(kAttention, kernel_of_row(kAttention, shape))};
        table.weight = {0.2};
        std::vector<std::string> sizes;
        for (const auto& decrease : check_monotone(kAttention, table, {shape}, kMultiprocessors))
            sizes.push_back(decrease.size);
        return sizes;
    };
    CHECK(sizes_that_decrease(grouped) ==
          std::vector<std::string>{"sequences", "sequence", "heads", "kv_heads", "head_dim"});
    CHECK(sizes_that_decrease(full) ==
          std::vector<std::string>{"sequences", "sequence", "heads", "head_dim"});
}
