// Several measurements of one machine become one: what is averaged, what is kept, what is refused.
#include "calibrate/measurement/measurements.h"
#include "sim/base/input_error.h"
#include "tests/calibrate/profile/synthetic_machine.h"
#include "tests/catch.h"

using namespace sluice;
using Rows = std::vector<std::vector<double>>;

namespace {

Measurements with_tables(const std::string& name, std::vector<CaseTable> tables,
                         const std::string& date = "2026-11-21") {
    Measurements m = synthetic::gpu_machine();
    m.date = date;
    m.cases = {{name, date, 5, false, std::move(tables), {}}};
    return m;
}

Measurements pool(std::vector<Measurements> all) {
    std::vector<MeasurementsFile> files;
    for (Measurements& m : all)
        files.push_back(
            {std::move(m), "m/" + std::string(1, static_cast<char>('a' + files.size())) + ".json"});
    return pool_measurements(files);
}

std::string refusal(const std::vector<Measurements>& all) {
    try {
        pool(all);
    } catch (const InputError& error) {
        return error.what();
    }
    return "accepted";
}

CaseTable adam(Rows rows) {
    return synthetic::table("adam", {"state_bytes", "threads", "gparams_per_s", "low", "high"},
                            std::move(rows));
}

}  // namespace

TEST_CASE("pool measurements: one is taken as it is") {
    const Measurements one = synthetic::gpu_machine();
    CHECK(measurements_json(pool({one})) == measurements_json(one));
    CHECK(pool({one}).pooled_files.empty());
}

TEST_CASE("pool measurements: a row is the mean of its values in the widest range") {
    const Measurements m = pool({
        with_tables("adam", {adam({{12, 4, 3, 2.5, 3.5}, {12, 8, 6, 5, 7}})}),
        with_tables("adam", {adam({{12, 8, 4, 3, 4.5}, {8, 4, 7, 6, 8}, {12, 4, 6, 5, 6.5}})}),
        with_tables("adam", {adam({{12, 4, 3, 2, 3.1}})}),
    });
    REQUIRE(m.find("adam") != nullptr);
    // State and threads are keys: rows join in whatever order they were measured.
    CHECK(m.find("adam")->rows == Rows{{12, 4, 4, 2, 6.5}, {12, 8, 5, 3, 7}, {8, 4, 7, 6, 8}});
    CHECK_THAT(m.find("adam")->method, ContainsSubstring("by formula; mean of 3 measurements"));
    CHECK(m.pooled_files == std::vector<std::string>{"a.json", "b.json", "c.json"});
}

TEST_CASE("pool measurements: times of a shape, and ends of ranges whose names have a prefix") {
    const auto product = [](double k, double us, double held_out) {
        return std::vector<double>{512, 512, k, 0, us, 0.9 * us, 1.1 * us, held_out};
    };
    const auto products = [](Rows rows) {
        return synthetic::table("gemm_forward",
                                {"m", "n", "k", "added", "us", "us_low", "us_high", "held_out"},
                                std::move(rows));
    };
    const CaseTable bursts =
        synthetic::table("power", {"watts", "watts_low", "watts_high"}, {{600, 590, 610}});
    CaseTable later = bursts;
    later.rows = {{640, 560, 650}};
    const Measurements m =
        pool({with_tables("gemm", {products({product(256, 10, 0), product(512, 20, 1)}), bursts}),
              with_tables("gemm", {products({product(512, 30, 1), product(256, 20, 0)}), later})});
    CHECK(m.find("gemm_forward")->rows ==
          Rows{{512, 512, 256, 0, 15, 9, 22, 0}, {512, 512, 512, 0, 25, 18, 33, 1}});
    CHECK(m.find("power")->rows == Rows{{620, 560, 650}});
}

TEST_CASE("pool measurements: rows of one key are told apart by their order") {
    const auto series = [](double first, double second) {
        return synthetic::table(
            "clock_after_rest", {"begin_s", "us", "us_low", "us_high", "tflop"},
            {{0, first, first, first, 1.1}, {0.1, second, second, second, 1.1}});
    };
    const Measurements m =
        pool({with_tables("clock", {series(10, 20)}), with_tables("clock", {series(12, 26)})});
    CHECK(m.find("clock_after_rest")->rows == Rows{{0, 11, 10, 12, 1.1}, {0.1, 23, 20, 26, 1.1}});
}

TEST_CASE("pool measurements: windows of load are all kept, and know their measurement") {
    const CaseTable windows = synthetic::mixed_load();
    const Measurements m =
        pool({with_tables("mixed_load", {windows}), with_tables("mixed_load", {windows})});
    const CaseTable& pooled = *m.find("mixed_load");
    REQUIRE(pooled.rows.size() == 2 * windows.rows.size());
    CHECK(pooled.columns.back() == kCalibrationColumn);
    CHECK(pooled.rows.front().back() == 0);
    CHECK(pooled.rows.back().back() == 1);
    CHECK(pooled.at(windows.rows.size(), "threads") == windows.at(0, "threads"));
}

TEST_CASE("pool measurements: cases of some files only, days, seconds and warnings") {
    Measurements later = with_tables("adam", {adam({{12, 4, 3, 2.5, 3.5}})}, "2026-11-23");
    later.cases[0].warnings = {"adam: noisy", "adam: others ran"};
    later.cases[0].quick = true;
    later.facts.gpu_context_bytes = 1;  // seen before all kernels ran
    const Measurements whole = synthetic::gpu_machine();
    const Measurements m = pool({whole, later});
    CHECK(m.cases.size() == whole.cases.size());
    CHECK(m.date == synthetic::kDate);
    CHECK(m.date_of("adam") == "2026-11-21 to 2026-11-23");
    CHECK(m.date_of("gemm_forward") == "2026-11-21");
    CHECK(m.days() == "2026-11-21 to 2026-11-23");
    CHECK(m.facts.gpu_context_bytes == whole.facts.gpu_context_bytes);
    for (const CaseRecord& record : m.cases) {
        CHECK(record.quick == (record.name == "adam"));
        if (record.name != "adam") continue;
        CHECK(record.seconds == 10);
        CHECK(record.warnings == std::vector<std::string>{"adam: noisy", "adam: others ran"});
    }
    CHECK(pool({later, whole}).cases.size() == whole.cases.size());
    CHECK(pool({later, whole}).days() == m.days());
}

TEST_CASE("pool measurements: another machine, another name or other columns are refused") {
    const Measurements one = synthetic::gpu_machine();
    Measurements other = one;
    other.facts.gpu_name = "NVIDIA H100";
    other.facts.cpus = 8;
    const std::string machine = refusal({one, one, other});
    for (const char* part :
         {"m/c.json: machine: ", "the GPU is \"NVIDIA H100\", was \"NVIDIA H200\"",
          "CPUs is 8, was 16 in m/a.json", "leave the file out"})
        CHECK_THAT(machine, ContainsSubstring(part));
    other = one;
    other.facts.host_memory_bytes *= 2;
    CHECK_THAT(refusal({one, other}), ContainsSubstring("host memory (GB) is 274, was 137"));
    other = one;
    other.id = "my-machine-2";
    CHECK_THAT(refusal({one, other}),
               ContainsSubstring(
                   "m/b.json: id is \"my-machine-2\", expected \"my-machine\" as in m/a.json"));
    other = with_tables("adam", {synthetic::table("adam", {"threads"}, {{1}})});
    CHECK_THAT(
        refusal({one, other}),
        ContainsSubstring("m/b.json: table adam: columns are threads, expected state_bytes") &&
            ContainsSubstring("--only adam"));
}
