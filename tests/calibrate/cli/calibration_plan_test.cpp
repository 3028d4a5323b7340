#include "calibrate/cli/calibration_plan.h"

#include "sim/base/input_error.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

using Names = std::vector<std::string>;

const Names kAll = {"copies", "adam", "gemm"};

MachineFacts facts() {
    MachineFacts facts;
    facts.has_gpu = true;
    facts.gpu_name = "H200";
    facts.gpu_memory_bytes = 150e9;
    facts.host_memory_bytes = 137e9;
    facts.cpus = 16;
    return facts;
}

Measurements now() {
    Measurements m;
    m.id = "new";
    m.date = "2026-11-22";
    m.facts = facts();
    return m;
}

CaseRecord record(const std::string& name, bool quick = false) {
    CaseRecord out;
    out.name = name;
    out.quick = quick;
    return out;
}

FormerMeasurements former(std::vector<CaseRecord> cases) {
    FormerMeasurements out{now(), "measurements/x.json"};
    out.measurements.date = "2026-11-21";
    out.measurements.cases = std::move(cases);
    return out;
}

Names names(const Measurements& m) {
    Names out;
    for (const CaseRecord& one : m.cases) out.push_back(one.name);
    return out;
}

MeasureFlags only(Names cases) { return {.only = std::move(cases)}; }
const MeasureFlags kResume = {.resume = true};

}  // namespace

TEST_CASE("calibration plan: without earlier measurements everything is measured") {
    const CalibrationPlan plan = plan_calibration({}, now(), {}, kAll);
    CHECK(plan.cases == kAll);
    CHECK(plan.start.cases.empty());
    CHECK_FALSE(plan.keeps_former);
    CHECK(plan_calibration({}, now(), kResume, kAll).cases == kAll);
}

TEST_CASE("calibration plan: only takes names in any order and keeps the other cases") {
    CHECK(plan_calibration({}, now(), only({"gemm", "copies", "gemm"}), kAll).cases ==
          Names{"copies", "gemm"});
    const CalibrationPlan plan =
        plan_calibration(former({record("copies"), record("gemm")}), now(), only({"gemm"}), kAll);
    CHECK(plan.cases == Names{"gemm"});
    CHECK(names(plan.start) == Names{"copies", "gemm"});  // replaced once measured
    CHECK(plan.start.id == "new");
    CHECK(plan.start.date == "2026-11-21");
    CHECK_THROWS_WITH(plan_calibration({}, now(), only({"gem"}), kAll),
                      ContainsSubstring("--only: unknown case \"gem\"; did you mean \"gemm\"?"));
    CHECK_THROWS_WITH(plan_calibration({}, now(), only({"zzzzzz"}), kAll),
                      ContainsSubstring("\"zzzzzz\"; list them with --list"));
}

TEST_CASE("calibration plan: resume measures what is missing, and what was quick") {
    const auto before = former({record("copies"), record("adam", true)});
    const CalibrationPlan plan = plan_calibration(before, now(), kResume, kAll);
    CHECK(plan.cases == Names{"adam", "gemm"});
    CHECK(names(plan.start) == Names{"copies"});
    const MeasureFlags quick = {.quick = true, .resume = true};
    CHECK(plan_calibration(before, now(), quick, kAll).cases == Names{"gemm"});
    CHECK_THROWS_WITH(plan_calibration(before, now(), {.only = {"gemm"}, .resume = true}, kAll),
                      ContainsSubstring("--resume and --only together"));
}

TEST_CASE("calibration plan: nothing measured is lost where everything is measured again") {
    CHECK_THROWS_WITH(plan_calibration(former({record("copies"), record("adam")}), now(), {}, kAll),
                      ContainsSubstring("measurements/x.json holds 2 of 3 cases") &&
                          ContainsSubstring("--resume"));
    const CalibrationPlan plan = plan_calibration(
        former({record("copies"), record("adam"), record("gemm")}), now(), {}, kAll);
    CHECK(plan.keeps_former);
    CHECK(plan.start.cases.empty());
    CHECK(plan.start.date == "2026-11-22");
    CHECK(plan.cases == kAll);
}

TEST_CASE("calibration plan: measurements of another machine are never mixed in") {
    FormerMeasurements before = former({record("copies")});
    before.measurements.facts.gpu_name = "H100";
    before.measurements.facts.cpus = 8;
    for (const MeasureFlags& request : {kResume, only({"gemm"})})
        CHECK_THROWS_WITH(
            plan_calibration(before, now(), request, kAll),
            ContainsSubstring("measurements/x.json was measured on another machine") &&
                ContainsSubstring("the GPU is \"H200\", was \"H100\"") &&
                ContainsSubstring("the number of CPUs is 16, was 8") && ContainsSubstring("--out"));
    before = former({record("copies")});
    before.measurements.facts.host_memory_bytes = 136e9;  // grows a little
    CHECK(plan_calibration(before, now(), kResume, kAll).cases == Names{"adam", "gemm"});
    before.measurements.facts.host_memory_bytes = 64e9;
    CHECK_THROWS_WITH(plan_calibration(before, now(), kResume, kAll),
                      ContainsSubstring("host memory (GB) is 137, was 64"));
    before = former({record("copies")});
    before.measurements.facts.compute_threads = 3;  // of no meaning with a GPU
    CHECK_NOTHROW(plan_calibration(before, now(), kResume, kAll));
}

TEST_CASE("calibration plan: what context and libraries take is the most that was seen") {
    FormerMeasurements before = former({record("copies")});
    before.measurements.facts.gpu_context_bytes = 9e8;
    before.measurements.facts.process_base_bytes = 5e8;
    Measurements after = now();
    after.facts.gpu_context_bytes = 5e8;
    after.facts.process_base_bytes = 6e8;
    const CalibrationPlan plan = plan_calibration(before, after, kResume, kAll);
    CHECK(plan.start.facts.gpu_context_bytes == 9e8);
    CHECK(plan.start.facts.process_base_bytes == 6e8);
}

TEST_CASE("store case: in the order of cases, replaced where it is there, with the day's date") {
    Measurements m = now();
    store_case(m, record("gemm"), "2026-11-22", kAll);
    store_case(m, record("copies"), "2026-11-22", kAll);
    CHECK(names(m) == Names{"copies", "gemm"});
    CHECK(m.cases[1].date == "2026-11-22");
    CaseRecord again = record("gemm");
    again.seconds = 7;
    store_case(m, again, "2026-11-23", kAll);
    REQUIRE(names(m) == Names{"copies", "gemm"});
    CHECK(m.cases[1].seconds == 7);
    CHECK(m.cases[0].date == "2026-11-22");
    CHECK(m.cases[1].date == "2026-11-23");
    CHECK(m.cases[1].warnings.empty());
    CHECK(m.date == "2026-11-22");
    CHECK(missing_cases(m, kAll) == Names{"adam"});
}
