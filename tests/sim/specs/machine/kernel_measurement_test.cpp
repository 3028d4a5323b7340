// Are measured times of kernels read as they stand, and is what cannot be true refused with how to
// measure it again?
#include "sim/specs/machine/kernel_measurement.h"

#include <cmath>

#include "sim/specs/machine/kernel_time.h"
#include "tests/sim/specs/machine/measured_kernels.h"
#include "tests/sim/specs/model/input_error_of.h"

namespace sluice {
namespace {

using nlohmann::json;

struct KernelMistake {
    const char* at;    ///< below the kernels section: /rotary/points
    const char* text;  ///< JSON put there
    std::vector<const char*> parts;
};

void check_refused(const std::vector<KernelMistake>& mistakes) {
    for (const KernelMistake& mistake : mistakes) {
        CAPTURE(mistake.at, mistake.text);
        json profile = profile_with_kernels();
        profile["kernels"][json::json_pointer(mistake.at)] = json::parse(mistake.text);
        const std::string message = input_error_of([&] { parse_profile(profile); });
        CHECK_THAT(message, ContainsSubstring("my/machine.json: kernels."));
        for (const char* part : mistake.parts) CHECK_THAT(message, ContainsSubstring(part));
    }
}

}  // namespace

TEST_CASE("kernel measurement: a profile without any table has none", "[machine]") {
    CHECK(parse_profile(small_profile()).kernels.empty());
    for (const KernelTable& table : resolve(small_profile()).gpu.tables) CHECK(table.empty());
}

TEST_CASE("kernel measurement: points, trend, length and held-out error are read", "[machine]") {
    const MachineProfile profile = parse_profile(profile_with_kernels());
    REQUIRE(profile.kernels.size() == kKernelTables);
    for (const KernelEntry& entry : profile.kernels) {
        const KernelMeasurement& measured = entry.measured;
        CAPTURE(entry.path);
        CHECK(entry.path == std::string("kernels.") + kernel_table_name(measured.id));
        CHECK(entry.method == Method::measured);
        CHECK(entry.source == "measured by me");
        CHECK(entry.date == "2026-01-02");
        REQUIRE(measured.points.size() == 1);
        CHECK(measured.points[0].row == row_of_512(measured.id));
        CHECK(measured.points[0].us == 2000);
        CHECK(measured.points[0].us_low == 1990);
        CHECK(measured.points[0].us_high == 2020);
        CHECK(measured.points[0].weight == 0.5);
        CHECK(measured.trend.size() == kernel_feature_names(measured.id).size());
        CHECK(measured.trend[0] == 1000);
        CHECK(measured.length_doublings == 2);
        CHECK(measured.held_out.shapes == 3);
        CHECK(measured.held_out.mean_percent == 1.5);
        CHECK(measured.held_out.worst_percent == 4);
        CHECK(measured.held_out.low_percent == -3);
        CHECK(measured.held_out.high_percent == 4);
    }
}

TEST_CASE("kernel measurement: the machine's kernels take the times of the tables", "[machine]") {
    const GpuSpec gpu = resolve(profile_with_kernels()).gpu;
    const Kernel there = gemm("test", GemmRole::forward, 512, 512, 512);
    // 1 ms by the trend, times exp(0.5) where it was measured; one doubling away, half a length:
    // exp(0.5 exp(-0.5)).
    CHECK(kernel_time(gpu, there, KernelStyle::fused) == Approx(1e-3 * std::exp(0.5)));
    const Kernel twice = gemm("test", GemmRole::forward, 1024, 512, 512);
    CHECK(kernel_time(gpu, twice, KernelStyle::fused) ==
          Approx(1e-3 * std::exp(0.5 * std::exp(-0.5))));
}

TEST_CASE("kernel measurement: weights may be of any sign", "[machine]") {
    json profile = profile_with_kernels();
    for (const double weight : {-0.5, 0.0}) {
        profile["kernels"]["rotary"]["points"][0].back() = weight;
        CHECK(resolve(profile).gpu.tables[9].weight == std::vector<double>{weight});
    }
}

TEST_CASE("kernel measurement: a table that is missing among the others is named", "[machine]") {
    for (int i = 0; i < kKernelTables; ++i) {
        const auto id = static_cast<KernelTableId>(i);
        json profile = profile_with_kernels();
        profile["kernels"].erase(kernel_table_name(id));
        CHECK_THAT(
            input_error_of([&] { parse_profile(profile); }),
            ContainsSubstring("my/machine.json: kernels." + std::string(kernel_table_name(id)) +
                              " is missing") &&
                ContainsSubstring("sluice-calibrate --only " + std::string(kernel_table_case(id))));
    }
}

TEST_CASE("kernel measurement: a shape or time that cannot be is refused", "[machine]") {
    const char* const only = "sluice-calibrate --only memory_bound";
    check_refused({
        {"/rotary/columns",
         R"(["rows", "us", "us_low", "us_high", "weight"])",
         {"rotary.columns is [rows, us,", "expected [rows, columns, us,", only}},
        {"/rotary/points/0/2", "0", {"rotary.points: 512 x 512 takes 0 us", "expected", only}},
        {"/rotary/points/0/2", "-7", {"rotary.points: 512 x 512 takes -7 us", only}},
        {"/rotary/points/0/2", "1e10", {"512 x 512 takes 1e+10 us", only}},
        {"/rotary/points/0/3", "2001", {"2000 us of 2001 to 2020", "low <= median", only}},
        {"/rotary/points/0/4", "1999", {"2000 us of 1990 to 1999", "median <= high", only}},
    });
}

TEST_CASE("kernel measurement: sizes are whole numbers, up to 1e8, of matrices up to 1e12",
          "[machine]") {
    const char* const whole = "expected a whole number from 1 to 1e+12";
    const char* const only = "sluice-calibrate --only memory_bound";
    check_refused({
        {"/rotary/points/0/0", "0", {"rotary.points: 0 x 512 has the size 0", whole, only}},
        {"/rotary/points/0/0", "-512", {"has the size -512", whole}},
        {"/rotary/points/0/0", "512.5", {"has the size 512.5", whole}},
        {"/rotary/points/0/1", "1e13", {"has the size 1e+13", whole}},
        {"/rotary/points/0/1",
         "1000000000000",
         {"512 x 1e+12 has 5.12e+14 elements", "expected at most 1e+12", only}},
        {"/gemm_forward/points/0/2",
         "1.5",
         {"512 x 512 x 1.5 x 0 has the size 1.5", "expected a whole number from 1 to 1e+08",
          "--only gemm"}},
        {"/gemm_forward/points/0/0", "200000000", {"has the size 2e+08", "from 1 to 1e+08"}},
        {"/attention_forward/points/0/1",
         "200000000",
         {"has the size 2e+08", "from 1 to 1e+08", "--only attention"}},
    });
    for (const auto& [at, size] : std::vector<std::pair<const char*, double>>{
             {"/gemm_forward/points/0/0", 1e8}, {"/rotary/points/0/1", 1e12 / 512}}) {
        json profile = profile_with_kernels();
        profile["kernels"][json::json_pointer(at)] = size;
        CHECK_NOTHROW(parse_profile(profile));
    }
}

TEST_CASE("kernel measurement: a table without points is refused", "[machine]") {
    check_refused({{"/rotary/points",
                    "[]",
                    {"kernels.rotary.points is empty", "sluice-calibrate --only memory_bound"}}});
}

TEST_CASE("kernel measurement: more than 1e18 FLOP/s is refused", "[machine]") {
    // 2 x (1e6)^3 = 2e18 FLOPs in one second; in three it would be 0.67e18 a second.
    const char* const row = "[1e6, 1e6, 1e6, 0, 1e6, 1e6, 1e6, 0]";
    check_refused({{"/gemm_forward/points/0",
                    row,
                    {"1e+06 x 1e+06 x 1e+06 x 0 takes 1e+06 us", "2e+06 TFLOPS",
                     "sluice-calibrate --only gemm"}}});
    json profile = profile_with_kernels();
    profile["kernels"]["gemm_forward"]["points"][0] = {1e6, 1e6, 1e6, 0, 3e6, 3e6, 3e6, 0};
    profile["kernels"]["gemm_forward"]["trend"]["us"] = 3e6;
    CHECK(parse_profile(profile).kernels.size() == kKernelTables);
    // 1000 sequences of 1e6 tokens: 1e15 / 2 scores, 4 x 1e3 FLOPs each: 2e18, in a second too.
    check_refused({{"/attention_forward/points/0",
                    "[1000, 1e6, 1, 1, 1000, 1e6, 1e6, 1e6, 0]",
                    {"2e+06 TFLOPS", "sluice-calibrate --only attention"}}});
}

TEST_CASE("kernel measurement: a larger shape takes no less than half of a smaller one's time",
          "[machine]") {
    check_refused({{"/swiglu/points",
                    "[[1024, 512, 100, 90, 110, 0], [1024, 1024, 49, 40, 50, 0]]",
                    {"1024 x 1024 takes 49 us", "less than half of the 100 us of 1024 x 512",
                     "sluice-calibrate --only memory_bound"}}});
    json profile = profile_with_kernels();
    json& points = profile["kernels"]["swiglu"]["points"];
    profile["kernels"]["swiglu"]["trend"]["us"] = 35;  // within a factor of 4 of all of these
    points = json::parse("[[1024, 512, 100, 90, 110, 0], [1024, 1024, 51, 40, 60, 0]]");
    CHECK_NOTHROW(parse_profile(profile));
    // Neither of these is the larger one.
    points = json::parse("[[2048, 512, 100, 90, 110, 0], [1024, 1024, 10, 10, 10, 0]]");
    CHECK_NOTHROW(parse_profile(profile));
}

TEST_CASE("kernel measurement: a trend of zeros or of unknown names is refused", "[machine]") {
    const char* const only = "sluice-calibrate --only memory_bound";
    check_refused({
        {"/rotary/trend",
         R"({"us": 0, "us_per_thousand_rows": 0, "us_per_million_elements": 0})",
         {"kernels.rotary.trend is all zeros", only}},
        {"/rotary/trend/us_per_row", "1", {"kernels.rotary.trend: unknown key \"us_per_row\""}},
        {"/rotary/trend/us", "-1", {"kernels.rotary.trend.us is -1"}},
        {"/rotary/length_doublings", "0", {"kernels.rotary.length_doublings is 0"}},
        {"/rotary/held_out/shapes", "-1", {"kernels.rotary.held_out.shapes is -1"}},
        {"/rotary", "5", {"kernels.rotary is 5", "columns, points and trend"}},
    });
}

TEST_CASE("kernel measurement: an unknown trend name and a negative one say how to measure again",
          "[machine]") {
    const char* const only = "sluice-calibrate --only memory_bound";
    check_refused({{"/rotary/trend/us_per_row", "1", {only}}, {"/rotary/trend/us", "-1", {only}}});
    // Names of another kind's trend, one that is missing, and a text.
    check_refused({
        {"/gemm_forward/trend/us_per_idle_gflop",
         "1",
         {"gemm_forward.trend: unknown key \"us_per_idle_gflop\"", "--only gemm"}},
        {"/attention_forward/trend", R"({"us": 1})", {"trend.us_per_gflop", "--only attention"}},
        {"/rotary/trend/us", R"("fast")", {"trend.us is \"fast\"", only}},
    });
}

TEST_CASE("kernel measurement: a product has something added or not, nothing between",
          "[machine]") {
    for (const char* added : {"0.5", "2", "-1"}) {
        check_refused({{"/gemm_forward/points/0/3",
                        added,
                        {"gemm_forward.points: 512 x 512 x 512 x ", added, "has added ",
                         "expected 0 or 1", "sluice-calibrate --only gemm"}}});
    }
    json profile = profile_with_kernels();
    profile["kernels"]["gemm_forward"]["points"][0][3] = 1;
    CHECK(resolve(profile).gpu.tables[0].at[0] == std::vector<double>{9, 9, 9, 3});
}

TEST_CASE("kernel measurement: a correction that gives no finite time is refused", "[machine]") {
    // exp(1000) is no number; exp(-1000) would be no time at all.
    for (const char* weight : {"1000", "-1000", "100.5", "-100.5"}) {
        check_refused({{"/rotary/points/0/5",
                        weight,
                        {"rotary.points: 512 x 512 has the weight ", weight, "expected -100 to 100",
                         "sluice-calibrate --only memory_bound"}}});
    }
    // At most a factor of exp(3) is left of it: 100 exp(3) = 2009 us, of 2000.
    json profile = profile_with_kernels();
    profile["kernels"]["rotary"]["points"][0].back() = 100;
    profile["kernels"]["rotary"]["trend"]["us"] = 100;
    CHECK_NOTHROW(parse_profile(profile));
}

TEST_CASE("kernel measurement: a table gives back what was measured, within a factor of 4",
          "[machine]") {
    // Measured 2000 us; the trend's time times exp(0.5) = 1.648721.
    check_refused({
        {"/rotary/trend/us",
         "5",
         {"kernels.rotary: 512 x 512 took 2000 us, which trend and weights predict as 8.244 us",
          "sluice-calibrate --only memory_bound --out FILE"}},
        {"/rotary/trend/us", "10000", {"512 x 512 took 2000 us", "predict as 1.649e+04 us"}},
        {"/attention_backward/trend/us", "5", {"kernels.attention_backward: ", "--only attention"}},
        {"/gemm_forward/trend/us", "5", {"kernels.gemm_forward: ", "--only gemm"}},
    });
    for (const double limit : {2000 / 4.0, 2000 * 4.0}) {
        CAPTURE(limit);
        const double inside = limit < 2000 ? 1.01 * limit : limit / 1.01;
        const double outside = limit < 2000 ? limit / 1.01 : 1.01 * limit;
        json profile = profile_with_kernels();
        json& us = profile["kernels"]["rotary"]["trend"]["us"];
        us = inside / std::exp(0.5);
        CHECK_NOTHROW(parse_profile(profile));
        us = outside / std::exp(0.5);
        CHECK_THROWS_AS(parse_profile(profile), InputError);
    }
}

TEST_CASE("kernel measurement: a product is predicted on the profile's multiprocessors",
          "[machine]") {
    // 512 x 512 x 512 in tiles of 128 x 256: 8 of 2 x 128 x 256 x 512 = 0.033554432 GFLOP each; a
    // wave of 132 is 4.429 GFLOP. At 300 us a GFLOP and exp(0.5) that is 2191 us of 2000; the 8
    // tiles one after the other, which are 0.268 GFLOP, would be 132.8 us.
    json profile = profile_with_kernels();
    json& trend = profile["kernels"]["gemm_forward"]["trend"];
    trend["us"] = 0;
    trend["us_per_gflop_in_waves_of_128x256"] = 300;
    CHECK_THAT(input_error_of([&] { parse_profile(profile); }),
               ContainsSubstring("kernels.gemm_forward: 512 x 512 x 512 x 0 took 2000 us, which "
                                 "trend and weights predict as 132.8 us"));
    profile["gpu"]["multiprocessors"] = measured_number(132);
    CHECK_NOTHROW(parse_profile(profile));
}

TEST_CASE("kernel measurement: times taken over from another machine weaken the confidence",
          "[machine]") {
    json profile = profile_with_kernels();
    profile["kernels"]["swiglu"]["method"] = "transferred";
    profile["kernels"]["swiglu"]["note"] = "scaled from the bigger one";
    const MachineSpec machine = resolve(profile);
    CHECK(machine.confidence == Confidence::transferred);
    CHECK(assumes(machine, "times of kernels is scaled from the bigger one"));
    profile["kernels"]["swiglu"].erase("note");
    CHECK(assumes(resolve(profile), "times of kernels is measured by me"));  // its source instead
}

}  // namespace sluice
