#include <filesystem>
#include <functional>

#include "calibrate/cli/calibration_plan.h"
#include "sim/base/input_error.h"
#include "sim/base/json_object.h"
#include "sim/command_line/scenario.h"
#include "tests/catch.h"

using namespace sluice;
namespace fs = std::filesystem;

namespace {

using Names = std::vector<std::string>;

const Names kAllCases = {"launch", "gemm", "storage", "adam"};

/// Cases that store themselves in a file, as the program does; `gemm` does what it is told.
struct Run {
    fs::path folder;
    std::string file;
    MeasureFlags flags;
    std::function<void()> gemm = [] {};
    Measurements measurements;

    Run() {
        std::string name = (fs::temp_directory_path() / "sluice-test-XXXXXX").string();
        folder = mkdtemp(name.data());
        file = (folder / "m.json").string();
        flags.out = "my.json";
    }
    ~Run() { fs::remove_all(folder); }

    std::size_t run(
        const Names& cases, const std::function<bool()>& stop = [] { return false; }) {
        return run_cases(
            flags, file, cases,
            [this](const std::string& name) {
                if (name == "gemm") gemm();
                CaseRecord record;
                record.name = name;
                store_case(measurements, record, "2026-11-21", kAllCases);
                write_file(file, measurements_json(measurements));
            },
            stop);
    }
    Names on_disk() const {
        Names out;
        for (const CaseRecord& record : parse_measurements(read_text_file(file), file).cases)
            out.push_back(record.name);
        return out;
    }
};

}  // namespace

TEST_CASE("run cases: one after another, until the user stops") {
    Run run;
    CHECK(run.run(kAllCases) == 4);
    CHECK(run.on_disk() == kAllCases);
    Run stopped;
    int asked = 0;
    CHECK(stopped.run(kAllCases, [&] { return ++asked > 2; }) == 2);
    CHECK(stopped.on_disk() == Names{"launch", "gemm"});
}

TEST_CASE("run cases: a case that throws loses no other, and both ways on are stated") {
    Run run;
    run.flags.quick = true;
    run.gemm = [] { throw std::runtime_error("cuda_device.cpp:88: out of memory"); };
    CHECK_THROWS_WITH(
        run.run(kAllCases),
        "the case gemm failed: cuda_device.cpp:88: out of memory (earlier measurements are kept "
        "in " +
            run.file +
            "; continue with: sluice-calibrate --out my.json --resume --quick; leave gemm out "
            "with: sluice-calibrate --out my.json --only storage,adam --quick)");
    CHECK(run.on_disk() == Names{"launch"});
    // As the second command has it.
    run.flags.only = {"storage", "adam"};
    CHECK(run.run(run.flags.only) == 2);
    CHECK(run.on_disk() == Names{"launch", "storage", "adam"});
}

TEST_CASE("run cases: an error stays of its kind, which decides the exit status") {
    Run run;
    run.gemm = [] { throw InternalError("NaN"); };
    CHECK_THROWS_AS(run.run(kAllCases), InternalError);
    run.gemm = [] { throw std::out_of_range("index"); };
    CHECK_THROWS_AS(run.run(kAllCases), InternalError);
    run.gemm = [] { throw InputError("no memory left"); };
    CHECK_THROWS_AS(run.run(kAllCases), InputError);
    run.gemm = [] { throw std::bad_alloc(); };
    CHECK_THROWS_WITH(run.run(kAllCases), ContainsSubstring("gemm failed: std::bad_alloc"));
}

TEST_CASE("run cases: the last one is left out by a fit, where there is something to fit") {
    Run run;
    run.flags.only = {"gemm"};
    run.flags.base = "h200-sxm-pcie5";
    run.gemm = [] { throw std::runtime_error("broken"); };
    CHECK_THROWS_WITH(
        run.run({"gemm"}),
        "the case gemm failed: broken (there are no earlier measurements; continue with: "
        "sluice-calibrate --out my.json --only gemm --base h200-sxm-pcie5)");
    run.run({"launch"});
    CHECK_THROWS_WITH(run.run({"gemm"}),
                      ContainsSubstring("leave gemm out with: sluice-calibrate fit " + run.file +
                                        " --out my.json --base h200-sxm-pcie5)"));
}

TEST_CASE("command to go on: measures in the same way as before") {
    MeasureFlags flags;
    flags.out = "x.json";
    flags.device = "cuda:1";
    flags.cpu_threads = 3;
    flags.storage = "/disk";
    const std::string how = " --device cuda:1 --cpu-threads 3 --storage /disk";
    CHECK(command_to_go_on(flags, {"adam"}) == "sluice-calibrate --out x.json --resume" + how);
    flags.only = {"gemm", "adam"};
    CHECK(command_to_go_on(flags, {"adam"}) == "sluice-calibrate --out x.json --only adam" + how);
}
