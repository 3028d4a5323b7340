#include <vector>

#include "calibrate/measurement/measurements.h"
#include "tests/catch.h"

using namespace sluice;

TEST_CASE("statistics: quantiles are linear between the values in order", "[measurement]") {
    const std::vector<double> values = {4, 1, 3, 2};
    CHECK(quantile(values, 0) == 1);
    CHECK(quantile(values, 0.25) == Approx(1.75));  // position 0.75 between 1 and 2
    CHECK(quantile(values, 0.5) == Approx(2.5));
    CHECK(quantile(values, 1) == 4);
    CHECK(values == std::vector<double>{4, 1, 3, 2});
    CHECK(quantile(std::vector<double>{7}, 0.3) == 7);
}

TEST_CASE("statistics: a sample is the median and the 5th to 95th percentile", "[measurement]") {
    std::vector<double> values;
    for (int i = 100; i >= 0; --i) values.push_back(i);  // 0 to 100: percentiles are the values
    const Sample sample = summarize(values);
    CHECK(sample.median == Approx(50));
    CHECK(sample.low == Approx(5));
    CHECK(sample.high == Approx(95));
    CHECK(sample.count == 101);
    CHECK(sample.spread() == Approx(1.8));
}

TEST_CASE("statistics: one measurement has no spread, nor has a median of 0", "[measurement]") {
    const Sample one = summarize(std::vector<double>{3});
    CHECK(one.median == 3);
    CHECK(one.low == 3);
    CHECK(one.high == 3);
    CHECK(one.spread() == 0);
    CHECK(summarize(std::vector<double>{-1, 0, 1}).spread() == 0);
}

TEST_CASE("statistics: the slowest time is the lowest rate", "[measurement]") {
    const Sample rate = rate_of(100, {.median = 2, .low = 1, .high = 4, .count = 9});
    CHECK(rate.median == Approx(50));
    CHECK(rate.low == Approx(25));
    CHECK(rate.high == Approx(100));
    CHECK(rate.count == 9);
}
