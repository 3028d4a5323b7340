#include "calibrate/profile/profile_json.h"

#include <nlohmann/json.hpp>

#include "tests/catch.h"

using namespace sluice;

TEST_CASE("profile json: keys stand in the order of the schema, whatever the order of setting") {
    ProfileJson profile("machine");
    profile.add_source("me", "measured by me");
    const Origin origin{Method::measured, "me", "2026-11-21", ""};
    profile.set_number("host.cores", 8, {}, origin);
    profile.set_number("gpu.multiprocessors", 132, {}, origin);
    profile.set_number("gpu.memory_capacity_gb", 150.1097492, RateRange{149.123456, 151}, origin);
    const std::string text = profile.text();
    CHECK(text == R"({
  "schema": "sluice-machine/1",
  "name": "machine",
  "sources": {
    "me": "measured by me"
  },
  "gpu": {
    "memory_capacity_gb": {"value": 150.11, "low": 149.123, "high": 151, "method": "measured", "source": "me", "date": "2026-11-21"},
    "multiprocessors": {"value": 132, "method": "measured", "source": "me", "date": "2026-11-21"}
  },
  "host": {
    "cores": {"value": 8, "method": "measured", "source": "me", "date": "2026-11-21"}
  }
}
)");
}

TEST_CASE(
    "profile json: what is there is not taken from another profile, and paths can be left out") {
    ProfileJson profile("machine");
    profile.add_source("me", "measured by me");
    profile.set_number("gpu.tdp_w", 600, {}, {Method::measured, "me", "2026-11-21", "note"});
    const std::string other = R"({"schema": "sluice-machine/1", "name": "o",
        "sources": {"me": "someone else", "x": "unused"},
        "gpu": {"tdp_w": {"value": 700, "method": "datasheet", "source": "me", "date": "2025"},
                "release_year": {"value": 2024, "method": "datasheet", "source": "me", "date": "2025"}},
        "host": {"work": {"zero_gb_per_s": {"value": 1, "method": "measured", "source": "me", "date": "2025"}}}})";
    CHECK(profile.take_missing(other, "base", {"host.work"}) ==
          std::vector<std::string>{"gpu.release_year"});
    const auto json = nlohmann::json::parse(profile.text());
    CHECK(json["gpu"]["tdp_w"]["value"] == 600);
    CHECK(json["gpu"]["release_year"]["source"] == "me-base");
    CHECK(json["sources"] == nlohmann::json{{"me", "measured by me"}, {"me-base", "someone else"}});
    CHECK_FALSE(json.contains("host"));
    CHECK(profile.has("gpu.release_year"));
    CHECK_FALSE(profile.has("gpu.release_year.x.y"));
}

TEST_CASE("profile json: sizes of curves stay exact, rates have five digits") {
    ProfileJson profile("machine");
    profile.set_curve("link.curve.host_to_device_gb_per_s_by_bytes", {"bytes", "gb_per_s"},
                      {{262144, 34.653219}, {268435456, 55.364012}},
                      {Method::measured, "me", "2026-11-21", ""});
    const auto json = nlohmann::json::parse(profile.text());
    CHECK(json["link"]["curve"]["host_to_device_gb_per_s_by_bytes"]["points"] ==
          nlohmann::json{{262144, 34.653}, {268435456, 55.364}});
}

TEST_CASE("profile json: rounding never puts a value outside of its range") {
    ProfileJson profile("machine");
    profile.set_number("power.gemm_w", 575.4444, RateRange{575.4444, 575.4444},
                       {Method::measured, "me", "2026-11-21", ""});
    const auto json = nlohmann::json::parse(profile.text())["power"]["gemm_w"];
    CHECK(json["value"] == 575.444);
    CHECK(json["low"] == 575.444);
    CHECK(json["high"] == 575.444);
}
