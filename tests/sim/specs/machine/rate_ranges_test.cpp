#include "sim/specs/machine/machine_spec.h"
#include "tests/catch.h"
#include "tests/sim/specs/machine/measured_kernels.h"

using namespace sluice;

namespace {

RateRanges ranges_of(const nlohmann::json& profile) {
    return resolve_ranges(parse_profile(profile));
}

nlohmann::json number(double value, const char* method) {
    nlohmann::json number = measured_number(value);
    number["method"] = method;
    return number;
}

nlohmann::json with_range(nlohmann::json number, double low, double high) {
    number["low"] = low;
    number["high"] = high;
    return number;
}

nlohmann::json adam_curve(double low, double high) {
    nlohmann::json curve = measured_points({{1, 2, 2 * low, 2 * high}, {8, 4, 4 * low, 4 * high}});
    curve["columns"] = {"threads", "gparams_per_s", "low", "high"};
    return curve;
}

double width(const RateRange& range) { return range.high - range.low; }

}  // namespace

TEST_CASE("rate ranges: a table's are what was held out, wider where that is little", "[machine]") {
    nlohmann::json profile = profile_with_kernels();  // 3 shapes, -3 to +4%
    const auto forward = static_cast<std::size_t>(KernelTableId::gemm_forward);
    RateRange range = ranges_of(profile).tables[forward];
    CHECK(range.low == Approx(1.005 - 0.035 * 5 / 3));
    CHECK(range.high == Approx(1.005 + 0.035 * 5 / 3));
    CHECK(ranges_of(profile).tables_measured);

    profile["kernels"]["gemm_forward"]["held_out"]["shapes"] = 200;
    range = ranges_of(profile).tables[forward];
    CHECK(range.low == Approx(1.005 - 0.035 * 1.01));
    CHECK(range.high == Approx(1.005 + 0.035 * 1.01));

    profile["kernels"]["gemm_forward"]["method"] = "transferred";
    CHECK(!ranges_of(profile).tables_measured);
}

TEST_CASE("rate ranges: a measured number has less of one than any other", "[machine]") {
    nlohmann::json profile = small_profile();
    const double unknown = width(ranges_of(profile).formulas);
    for (const char* method : {"estimated", "datasheet", "transferred"}) {
        INFO(method);
        profile["kernels"]["gemm_sustained_tflops"] = number(600, method);
        CHECK(width(ranges_of(profile).formulas) == Approx(unknown));
    }
    profile["kernels"]["gemm_sustained_tflops"] = number(600, "measured");
    CHECK(width(ranges_of(profile).formulas) < unknown / 2);
}

TEST_CASE("rate ranges: what a profile states counts where it is wider", "[machine]") {
    nlohmann::json profile = small_profile();
    profile["link"]["device_to_host_gb_per_s"] = measured_number(50);
    const auto link_with = [&](nlohmann::json rate) {
        profile["link"]["host_to_device_gb_per_s"] = std::move(rate);
        return ranges_of(profile).link;
    };
    const RateRange least = link_with(measured_number(50));
    CHECK(least.low < 1);
    CHECK(least.high > 1);
    const RateRange steady = link_with(with_range(measured_number(50), 49.99, 50.01));
    CHECK(steady.low == least.low);
    CHECK(steady.high == least.high);
    const RateRange wide = link_with(with_range(measured_number(50), 40, 55));
    CHECK(wide.low == Approx(0.8));
    CHECK(wide.high == Approx(1.1));
    const RateRange transferred = link_with(with_range(number(50, "transferred"), 35, 60));
    CHECK(transferred.low == Approx(0.7));
    CHECK(transferred.high == Approx(1.2));
}

TEST_CASE("rate ranges: Adam's are the mean of its curve's, at least how hosts differ",
          "[machine]") {
    nlohmann::json profile = small_profile();
    const double unknown = width(ranges_of(profile).optimizer);
    CHECK(ranges_of(profile).optimizer_by_memory);
    profile["host"]["adam_gparams_per_s_by_threads"] = adam_curve(0.99, 1.01);
    CHECK(!ranges_of(profile).optimizer_by_memory);
    const RateRange least = ranges_of(profile).optimizer;
    CHECK(least.low < 0.95);
    CHECK(least.high > 1.05);
    CHECK(width(least) < unknown / 2);
    profile["host"]["adam_gparams_per_s_by_threads"] = adam_curve(0.7, 1.3);
    const RateRange wide = ranges_of(profile).optimizer;
    CHECK(wide.low == Approx(0.7));
    CHECK(wide.high == Approx(1.3));
    profile["host"]["adam_gparams_per_s_by_threads"] = measured_points({{1, 2}, {8, 4}});
    CHECK(ranges_of(profile).optimizer.low == Approx(least.low));
}

TEST_CASE("rate ranges: measured contention is at least as uncertain as copies both ways",
          "[machine]") {
    nlohmann::json profile = small_profile();
    profile["host"]["contention"] = contention_entry();
    const RateRange least = ranges_of(profile).host_memory;
    CHECK(least.low < 1);
    CHECK(least.high > 1);
    profile["link"]["both_ways_host_to_device_gb_per_s"] = with_range(measured_number(40), 26, 60);
    const RateRange wide = ranges_of(profile).host_memory;
    CHECK(wide.low == Approx(0.65));
    CHECK(wide.high == Approx(1.5));
}

TEST_CASE("rate ranges: no range is beyond a factor of two", "[machine]") {
    nlohmann::json profile = small_profile();
    profile["host"]["adam_gparams_per_s_by_threads"] = adam_curve(0.01, 50);
    CHECK(ranges_of(profile).optimizer.low == Approx(0.5));
    CHECK(ranges_of(profile).optimizer.high == Approx(2));
}

TEST_CASE("rate ranges: every machine of the library has some around the rate taken", "[machine]") {
    for (const std::string& id : library_machines()) {
        const RateRanges ranges = resolve_ranges(read_machine_profile(id));
        for (const RateRange& range : {ranges.formulas, ranges.clock, ranges.optimizer,
                                       ranges.host_memory, ranges.link, ranges.host_work}) {
            INFO(id);
            CHECK(range.low < 1);
            CHECK(range.high > 1);
        }
    }
}
