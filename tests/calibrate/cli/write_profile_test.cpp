#include "calibrate/cli/write_profile.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>

#include "calibrate/cli/fit_command.h"
#include "calibrate/profile/make_profile.h"
#include "sim/base/input_error.h"
#include "sim/base/json_object.h"
#include "sim/command_line/scenario.h"
#include "sim/specs/machine/machine_spec.h"
#include "tests/calibrate/profile/synthetic_machine.h"
#include "tests/catch.h"

using namespace sluice;
namespace fs = std::filesystem;

namespace {

using Names = std::vector<std::string>;

/// Removed at the end.
struct TemporaryFolder {
    fs::path path;
    TemporaryFolder() {
        std::string name = (fs::temp_directory_path() / "sluice-test-XXXXXX").string();
        path = mkdtemp(name.data());
    }
    ~TemporaryFolder() { fs::remove_all(path); }
    std::string file(const char* name) const { return (path / name).string(); }
};

}  // namespace

TEST_CASE("measurements file: in measurements/ in the folder of the profile") {
    CHECK(measurements_file("hwprofiles/h200.json") == "hwprofiles/measurements/h200.json");
    CHECK(measurements_file("h200.json") == "measurements/h200.json");
}

TEST_CASE("write profile: what is written is read back by its path") {
    const TemporaryFolder folder;
    const std::string file = folder.file("mine.json");
    write_profile(synthetic::gpu_machine(), file, "h200-sxm-pcie5");
    const MachineProfile profile = read_machine_profile(file);
    CHECK(profile.id == "mine");
    CHECK(resolve_machine(profile).link.host_to_device == Approx(49.972e9).epsilon(1e-4));
    CHECK_NOTHROW(check_profile_file(file, {}));  // one of this program: replaced
    write_profile(synthetic::gpu_machine(), file, "h200-sxm-pcie5");
}

TEST_CASE("write profile: says the confidence, and how much was measured here") {
    const Measurements m = synthetic::gpu_machine();
    const MachineProfile library = read_machine_profile("h200-sxm-pcie5");
    const std::string nothing = confidence_text(library, calibration_source(m));
    CHECK_THAT(nothing,
               ContainsSubstring("confidence of predictions: datasheet, the weakest origin"));
    CHECK_THAT(nothing, ContainsSubstring("; 0 of the profile's"));
    const TemporaryFolder folder;
    write_profile(m, folder.file("mine.json"), "h200-sxm-pcie5");
    const std::string some =
        confidence_text(read_machine_profile(folder.file("mine.json")), calibration_source(m));
    CHECK_THAT(some, !ContainsSubstring("; 0 of the profile's"));
}

TEST_CASE("write profile: another machine's is not overwritten, unless it is the base") {
    const TemporaryFolder folder;
    const std::string file = folder.file("mine.json");
    write_profile(synthetic::gpu_machine(), file, "h200-sxm-pcie5");
    CHECK_THROWS_WITH(write_profile(synthetic::cpu_machine(), file, {}),
                      ContainsSubstring("mine.json") && ContainsSubstring("NVIDIA H200") &&
                          ContainsSubstring("no GPU") && ContainsSubstring("name another file"));
    CHECK_FALSE(resolve_machine(read_machine_profile(file)).unified_memory);
    write_profile(synthetic::cpu_machine(), file, file);
    CHECK(resolve_machine(read_machine_profile(file)).unified_memory);
}

TEST_CASE("write profile: one that nothing can be predicted from names the cases that it lacks") {
    const TemporaryFolder folder;
    const std::string file = folder.file("mine.json");
    for (const Measurements& all : {synthetic::gpu_machine(), synthetic::cpu_machine()}) {
        Names needed;
        for (const CaseRecord& left_out : all.cases) {
            Measurements m = all;
            std::erase_if(m.cases,
                          [&](const CaseRecord& record) { return record.name == left_out.name; });
            try {
                write_profile(m, file, {});
                fs::remove(file);
            } catch (const MissingCases& missing) {
                CHECK(missing.cases == Names{left_out.name});
                CHECK_THAT(std::string(missing.what()), ContainsSubstring(left_out.name));
                CHECK_FALSE(fs::exists(file));
                needed.push_back(left_out.name);
            }
        }
        CHECK(needed == Names{"copies", "host_memory", "device_copy", "gemm"});
    }
    Measurements m = synthetic::gpu_machine();
    std::erase_if(m.cases, [](const CaseRecord& record) { return record.name != "gemm"; });
    CHECK_THROWS_WITH(write_profile(m, file, {}),
                      ContainsSubstring("needs the cases device_copy, host_memory, copies"));
    CHECK_NOTHROW(write_profile(m, file, "h200-sxm-pcie5"));  // a base has what they measure
}

TEST_CASE("example model: one that fits the machine") {
    const auto machine = [](const Measurements& m) {
        return resolve_machine(
            parse_machine_profile(make_profile(m, fit_machine(m), {}), "x.json", "x"));
    };
    Measurements m = synthetic::gpu_machine();
    CHECK(example_model(machine(m)) == "qwen2.5-3b");
    m.facts.host_memory_bytes = 32e9;
    CHECK(example_model(machine(m)) == "qwen2.5-0.5b");
    CHECK(example_model(machine(synthetic::cpu_machine())) == "qwen2.5-0.5b");
}

TEST_CASE("check profile file: another's profile is not overwritten, unless it is the base") {
    const TemporaryFolder folder;
    const std::string file = folder.file("hand-made.json");
    write_file(file, R"({"schema": "sluice-machine/1", "name": "x", "sources": {"sheet": "y"}})");
    CHECK_THROWS_WITH(check_profile_file(file, {}),
                      ContainsSubstring(file) && ContainsSubstring("--base " + file));
    CHECK_NOTHROW(check_profile_file(file, file));
    write_file(file, R"({"schema": "sluice-machine/1", "name": "x", "sources": {"t": "y"}, "power":
        {"w": {"value": 1, "method": "transferred", "source": "t", "date": "2026"}}})");
    CHECK_NOTHROW(check_profile_file(file, {}));
    CHECK_THROWS_WITH(check_profile_file(folder.file("no/x.json"), {}),
                      ContainsSubstring("no does not exist"));
    CHECK_THROWS_WITH(check_profile_file(folder.file("x.txt"), {}),
                      ContainsSubstring("ends with .json"));
}

TEST_CASE("fit: writes the program's own profile where none is named") {
    const TemporaryFolder folder;
    const std::string measured = folder.file("measured.json"), own = folder.file("own.json");
    std::ofstream(measured) << measurements_json(synthetic::gpu_machine());
    CLI::App app;
    Command chosen;
    add_fit(app, chosen, own);
    app.parse("fit " + measured);
    CHECK(chosen() == 0);
    CHECK(fs::exists(own));
    CLI::App without;
    add_fit(without, chosen);
    CHECK_THROWS_AS(without.parse("fit " + measured), CLI::RequiredError);
}
