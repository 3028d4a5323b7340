#include "calibrate/measurement/measurements.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/base/input_error.h"
#include "sim/base/json_text.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

Measurements some_measurements() {
    Measurements m;
    m.id = "machine";
    m.date = "2026-11-21";
    m.facts.has_gpu = true;
    m.facts.gpu_name = "GPU \"one\"";
    m.facts.cpu_name = "CPU";
    m.facts.driver = "580.1";
    m.facts.activations = "bf16";
    m.facts.multiprocessors = 132;
    m.facts.gpu_memory_bytes = 150109749248;
    m.facts.host_memory_bytes = 137438953472;
    m.facts.cpus = 16;
    CaseTable table;
    table.name = "mixed_load";
    table.method = "windows";
    table.columns = {"threads", "gb_per_s"};
    // A third and the next double after 1 show whether all digits survive.
    table.rows = {{0, 1.0 / 3}, {16, std::nextafter(1.0, 2.0)}, {-1, 4096}};
    m.cases = {{"mixed_load", "2026-11-23", 12.25, true, {table}, {"one", "two"}},
               {"numa", "2026-11-21", 0.1, false, {}, {}}};
    return m;
}

nlohmann::json as_json() { return nlohmann::json::parse(measurements_json(some_measurements())); }

void check_refused(const nlohmann::json& json, const std::vector<std::string>& parts) {
    try {
        parse_measurements(json.dump(), "m/x.json");
        FAIL("accepted");
    } catch (const InputError& error) {
        INFO(error.what());
        for (const std::string& part : parts)
            CHECK_THAT(std::string(error.what()), ContainsSubstring(part));
    }
}

}  // namespace

TEST_CASE("measurements: written and read again they are the same to the last bit") {
    const Measurements before = some_measurements();
    const Measurements after = parse_measurements(measurements_json(before), "x.json");
    CHECK(after.id == before.id);
    CHECK(after.date == before.date);
    CHECK(after.facts.has_gpu);
    CHECK(after.facts.gpu_name == before.facts.gpu_name);
    CHECK(after.facts.driver == before.facts.driver);
    CHECK(after.facts.multiprocessors == 132);
    CHECK(after.facts.gpu_memory_bytes == before.facts.gpu_memory_bytes);
    CHECK(after.facts.cpus == 16);
    REQUIRE(after.cases.size() == 2);
    CHECK(after.cases[0].name == "mixed_load");
    CHECK(after.cases[0].date == "2026-11-23");
    CHECK(after.cases[0].seconds == 12.25);
    CHECK(after.cases[0].quick);
    CHECK(after.cases[0].warnings == before.cases[0].warnings);
    CHECK_FALSE(after.cases[1].quick);
    REQUIRE(after.find("mixed_load") != nullptr);
    CHECK(after.find("mixed_load")->columns == before.cases[0].tables[0].columns);
    CHECK(after.find("mixed_load")->rows == before.cases[0].tables[0].rows);
    CHECK(after.find("gemm_forward") == nullptr);
    CHECK(measurements_json(after) == measurements_json(before));
}

TEST_CASE("measurements: a case measured on another day keeps its own date") {
    Measurements m = some_measurements();
    CHECK(m.date_of("mixed_load") == "2026-11-23");
    CHECK(m.date_of("gemm_forward") == "2026-11-21");  // not measured
    CHECK(m.days() == "2026-11-21 to 2026-11-23");
    m.cases.erase(m.cases.begin());
    CHECK(m.days() == "2026-11-21");
    m.cases.clear();
    CHECK(m.days() == "2026-11-21");
    nlohmann::json json = as_json();
    json["cases"][0].erase("date");
    CHECK(parse_measurements(json.dump(), "x.json").cases[0].date == "2026-11-21");
    json["cases"][0]["date"] = 20261121;
    check_refused(json, {"m/x.json: cases[0].date", "20261121"});
}

TEST_CASE("measurements: a row stands on a line, whole numbers without a point") {
    const std::string text = measurements_json(some_measurements());
    CHECK_THAT(text, ContainsSubstring("\n            [-1, 4096]\n"));
    CHECK_THAT(text, ContainsSubstring("\"host_memory_bytes\": 137438953472"));
}

TEST_CASE("measurements: what is wrong in a file is refused with file, field and value") {
    nlohmann::json json = as_json();
    json["schema"] = "sluice-machine/1";
    check_refused(json, {"m/x.json", "schema", "sluice-machine/1", "sluice-measurements/1"});
    json = as_json();
    json["cases"][0]["tables"][0]["rows"][1] = {1, 2, 3};
    check_refused(json, {"m/x.json: cases[0].tables[0].rows is [1,2,3]", "mixed_load",
                         "rows of 2 numbers", "--only"});
    json["cases"][0]["tables"][0]["rows"][1] = {1, "fast"};
    check_refused(json, {"rows is [1,\"fast\"]"});
    json["cases"][0]["tables"][0]["rows"] = 7;
    check_refused(json, {"cases[0].tables[0].rows is 7", "rows of 2 numbers"});
    json = as_json();
    json["machine"]["cpus"] = -1;
    check_refused(json, {"machine.cpus", "-1"});
    json = as_json();
    json["machine"]["cpu"] = 1;
    check_refused(json, {"unknown key \"cpu\""});
    json = as_json();
    json["machine"].erase("has_gpu");
    check_refused(json, {"machine.has_gpu", "missing"});
    CHECK_THROWS_WITH(parse_measurements("{", "m/x.json"), ContainsSubstring("truncated"));
}

TEST_CASE("readable json: plain rows and objects below the second level stand on one line") {
    const nlohmann::ordered_json value = {
        {"name", "x"},
        {"numbers", {1, 2.5}},
        {"gpu",
         {{"memory", {{"value", 3}, {"note", "a\"b"}}}, {"empty", nlohmann::json::object()}}},
        {"tables", {{{"rows", {{1, 2}, {3, 4}}}}}}};
    CHECK(readable_json(value) == R"({
  "name": "x",
  "numbers": [
    1,
    2.5
  ],
  "gpu": {
    "memory": {"value": 3, "note": "a\"b"},
    "empty": {}
  },
  "tables": [
    {
      "rows": [
        [1, 2],
        [3, 4]
      ]
    }
  ]
}
)");
}

TEST_CASE("rounded: significant digits, exactly as their decimal text reads") {
    CHECK(rounded(55.33333, 5) == 55.333);
    CHECK(rounded(0.000123456, 3) == 0.000123);
    CHECK(rounded(-987654, 3) == -988000);
    CHECK(rounded(0, 5) == 0);
    CHECK_THROWS_AS(json_number(std::nan("")), InternalError);
}
