// Is a measured curve that cannot be true refused, with how to measure it again?
#include "tests/sim/specs/machine/measured_kernels.h"
#include "tests/sim/specs/model/input_error_of.h"

namespace sluice {
namespace {

using nlohmann::json;

json with_curve(const char* pointer, const char* points) {
    json profile = small_profile();
    json curve = measured_points(json::parse(points));
    if (curve["points"][0].size() == 4) curve["columns"] = {"x", "y", "low", "high"};
    profile[json::json_pointer(pointer)] = std::move(curve);
    return profile;
}

struct CurveMistake {
    const char* pointer;
    const char* points;
    std::vector<const char*> parts;
};

void check_refused(const json& profile, const std::vector<const char*>& parts) {
    const std::string message = input_error_of([&] { parse_profile(profile); });
    for (const char* part : parts) CHECK_THAT(message, ContainsSubstring(part));
}

json with_row(std::size_t index, const char* row) {
    json profile = small_profile();
    profile["host"]["contention"] = contention_entry();
    profile["host"]["contention"]["points"][index] = json::parse(row);
    return profile;
}

constexpr const char* kIn = "/link/curve/host_to_device_gb_per_s_by_bytes";
constexpr const char* kOut = "/link/curve/device_to_host_gb_per_s_by_bytes";
constexpr const char* kAdam = "/host/adam_gparams_per_s_by_threads";
constexpr const char* kAdam8 = "/host/adam_8_byte_gparams_per_s_by_threads";
constexpr const char* kAdam6 = "/host/adam_6_byte_gparams_per_s_by_threads";
constexpr const char* kFlash = "/kernels/attention_flash_forward_tflops_by_sequence";

}  // namespace

TEST_CASE("curve checks: sizes and rates that no machine has are refused", "[machine]") {
    const std::vector<CurveMistake> mistakes = {
        {kIn,
         "[[1000, 2e6]]",
         {"curve.host_to_device_gb_per_s_by_bytes.points: 2e+06 at 1000", "at most 1e+06",
          "--only copies"}},
        {kOut,
         "[[1000, 2e6]]",
         {"curve.device_to_host_gb_per_s_by_bytes.points: 2e+06 at 1000", "at most 1e+06",
          "--only copies"}},
        {kIn, "[[2e15, 50]]", {"2e+15 : 50", "from 0 to 1e+15", "--only copies"}},
        {kAdam,
         "[[1, 2e6]]",
         {"host.adam_gparams_per_s_by_threads.points: 2e+06 at 1", "at most 1000", "--only adam"}},
        {kAdam, "[[1, 2], [1, 3]]", {"1 is given twice in the first column", "--only adam"}},
        {kAdam8,
         "[[1, 2, -1, 3]]",
         {"2 at 1 has the range -1 to 3", "expected low <= value <= high", "--only adam"}},
        {kOut,
         "[[1000, 2], [1000000, 50], [100000000, 5]]",
         {"5 GB/s at 1e+08 bytes is less than 0.3 of the 50 GB/s", "--only copies"}},
        {kIn, "[[1000, 2, 2.5, 3]]", {"2 at 1000 has the range 2.5 to 3", "--only copies"}},
        {kAdam, "[[2e5, 2]]", {"200000 : 2", "from 0 to 100000", "--only adam"}},
        {kAdam8, "[[2e5, 2]]", {"host.adam_8_byte_gparams_per_s_by_threads", "--only adam"}},
        {kAdam6, "[[1, 2e6]]", {"host.adam_6_byte_gparams_per_s_by_threads", "--only adam"}},
        {kFlash,
         "[[2e9, 300]]",
         {"kernels.attention_flash_forward_tflops_by_sequence.points: "
          "2e+09 : 300",
          "from 0 to 1e+09", "--only attention"}},
        {kFlash, "[[1024, 2e6]]", {"2e+06 at 1024", "at most 1e+06", "--only attention"}},
    };
    for (const auto& [pointer, points, parts] : mistakes) {
        CAPTURE(pointer, points);
        const json profile = with_curve(pointer, points);
        check_refused(profile, parts);
        check_refused(profile, {"my/machine.json: ", "sluice-calibrate --only ", " --out FILE"});
    }
}

TEST_CASE("curve checks: rates that are not positive are refused", "[machine]") {
    for (const char* pointer : {kIn, kOut, kAdam, kAdam8, kAdam6, kFlash}) {
        CAPTURE(pointer);
        check_refused(with_curve(pointer, "[[1000, -3]]"), {"my/machine.json: ", "points"});
        check_refused(with_curve(pointer, "[[1000, 0]]"), {"my/machine.json: ", "points"});
        check_refused(with_curve(pointer, "[[-1000, 3]]"), {"my/machine.json: ", "points"});
    }
}

TEST_CASE("curve checks: a curve that no prediction takes may have zeros", "[machine]") {
    json profile = small_profile();
    profile["link"]["other"]["by_bytes"] = measured_points({{0, 3}, {1024, 0}});
    CHECK(parse_profile(profile).find_curve("link.other.by_bytes")->points ==
          std::vector<std::vector<double>>{{0, 3}, {1024, 0}});
}

TEST_CASE("curve checks: more bytes take no less time, but for 2% of noise", "[machine]") {
    // 1 MB at 10 GB/s take 100 us; 2 MB at 25 take 80 us.
    for (const char* pointer : {kIn, kOut}) {
        check_refused(with_curve(pointer, "[[1e6, 10], [2e6, 25]]"),
                      {"2e+06 bytes at 25 GB/s take 80 us", "less than the 100 us of 1e+06 bytes",
                       "sluice-calibrate --only copies --out FILE"});
        // 97.5 us are less than 98; 98.5 us are within the noise.
        const auto us = [](double time) { return std::to_string(2e6 / time / 1e3); };
        check_refused(with_curve(pointer, ("[[1e6, 10], [2e6, " + us(97.5) + "]]").c_str()),
                      {"take 97.5 us"});
        const json fine = with_curve(pointer, ("[[1e6, 10], [2e6, " + us(98.5) + "]]").c_str());
        CHECK_NOTHROW(parse_profile(fine));
    }
}

TEST_CASE("curve checks: shares that lanes keep are read", "[machine]") {
    json profile = small_profile();
    profile["host"]["contention"] = contention_entry();
    const Contention contention = resolve(profile).host.contention;
    REQUIRE(contention.points().size() == 4);
    const LaneShares shares = contention.shares({false, true, false, 100e9});
    CHECK(shares.in == 0.5);
    CHECK(shares.work == 0.8);
    CHECK(resolve(profile).host.copy_weight == 1);  // the shares say all of it
    CHECK(resolve(small_profile()).host.contention.empty());
}

TEST_CASE("curve checks: shares, lanes or work that cannot be are refused", "[machine]") {
    struct Row {
        const char* row;
        std::vector<const char*> parts;
    };
    const std::vector<Row> mistakes = {
        {"[0, 0.5, 0, 100, 1, 0.5, 1, 0.8]", {"in is 0.5, expected 0 or 1"}},
        {"[0, 1, 2, 100, 1, 0.5, 1, 0.8]", {"out is 2, expected 0 or 1"}},
        {"[0, 1, 0, -5, 1, 0.5, 1, 0.8]", {"work_gb_per_s is -5, expected 0 to 1e+06"}},
        {"[0, 1, 0, 2e6, 1, 0.5, 1, 0.8]", {"work_gb_per_s is 2e+06"}},
        {"[0, 1, 0, 100, 1, 0, 1, 0.8]", {"a share is 0, expected more than 0 and at most 1.2"}},
        {"[0, 1, 0, 100, 1, -0.5, 1, 0.8]", {"a share is -0.5"}},
        {"[0, 1, 0, 100, 1, 0.5, 1, 1.3]", {"a share is 1.3"}},
    };
    for (const auto& [row, parts] : mistakes) {
        CAPTURE(row);
        check_refused(with_row(1, row), parts);
        check_refused(with_row(1, row), {"my/machine.json: host.contention.points",
                                         "sluice-calibrate --only mixed_load --out FILE"});
    }
    json profile = with_row(0, "[0, 0, 1, 100, 1, 1, 0.9, 0.7]");
    profile["host"]["contention"]["points"].push_back({2, 0, 1, 100, 1, 1, 0.9, 0.7});
    check_refused(profile, {"compute is 2, expected 0 or 1", "--only mixed_load"});
}

TEST_CASE("curve checks: other columns than those of shares are refused", "[machine]") {
    json profile = small_profile();
    profile["host"]["contention"] = measured_points({{1, 100}});
    check_refused(profile, {"host.contention.points: has 2 columns, expected 8",
                            "sluice-calibrate --only mixed_load --out FILE"});
}

TEST_CASE("curve checks: more work leaves copies in and kernels no more, but for noise",
          "[machine]") {
    json profile = small_profile();
    json& curve = profile["host"]["contention"];
    const auto with_more_work = [&](const char* row) {
        curve = contention_entry();
        curve["points"].push_back(json::parse(row));
        return profile;
    };
    check_refused(with_more_work("[0, 1, 0, 200, 1, 0.55, 1, 0.7]"),
                  {"in_share rises from 0.5 to 0.55 while work rises from 100 to 200 GB/s",
                   "--only mixed_load"});
    check_refused(with_more_work("[0, 1, 0, 50, 1, 0.4, 1, 0.9]"),
                  {"in_share rises from 0.4 to 0.5 while work rises from 50 to 100 GB/s"});
    curve = contention_entry();
    curve["points"].push_back({1, 1, 0, 200, 0.85, 0.5, 1, 0.8});
    curve["points"].push_back({1, 1, 0, 100, 0.8, 0.5, 1, 0.8});
    check_refused(profile,
                  {"compute_share rises from 0.8 to 0.85 while work rises from 100 to 200 GB/s",
                   "--only mixed_load"});
    check_refused(with_more_work("[0, 1, 0, 100, 1, 0.5, 1, 0.8]"),
                  {"100 GB/s of work is given twice for the same lanes", "--only mixed_load"});
    CHECK_NOTHROW(parse_profile(with_more_work("[0, 1, 0, 200, 1, 0.515, 1, 0.8]")));
    // Other lanes are another matter.
    CHECK_NOTHROW(parse_profile(with_more_work("[1, 1, 0, 200, 1, 0.9, 1, 0.9]")));
}

TEST_CASE("curve checks: more work may leave copies out and the work itself more", "[machine]") {
    // As on the measured H200, where copies in lose what the other two gain.
    json profile = small_profile();
    profile["host"]["contention"] = contention_entry();
    json& points = profile["host"]["contention"]["points"];
    points.push_back({0, 1, 0, 200, 1, 0.3, 1, 0.9});
    points.push_back({0, 1, 1, 200, 1, 0.3, 0.8, 0.7});
    const Contention contention = resolve(profile).host.contention;
    CHECK(contention.shares({false, true, false, 200e9}).work == 0.9);
    CHECK(contention.shares({false, true, true, 200e9}).out == 0.8);
}

TEST_CASE("curve checks: a gap among the lanes is refused", "[machine]") {
    for (const auto& [missing, sentence] : std::vector<std::pair<std::size_t, const char*>>{
             {0, "has no row with in 0, out 1 and some host work"},
             {1, "has no row with in 1, out 0 and some host work"},
             {2, "has no row with in 1, out 1 and no host work"},
             {3, "has no row with in 1, out 1 and some host work"}}) {
        json profile = small_profile();
        profile["host"]["contention"] = contention_entry();
        profile["host"]["contention"]["points"].erase(missing);
        check_refused(profile, {"my/machine.json: host.contention.points: ", sentence,
                                "sluice-calibrate --only mixed_load --out FILE"});
    }
}

}  // namespace sluice
