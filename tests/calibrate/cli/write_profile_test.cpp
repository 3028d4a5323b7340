#include "calibrate/cli/write_profile.h"

#include <filesystem>
#include <fstream>

#include "sim/cli/scenario.h"
#include "sim/input_error.h"
#include "sim/json_object.h"
#include "sim/machine/machine_spec.h"
#include "tests/calibrate/profile/synthetic_machine.h"
#include "tests/catch.h"

using namespace sluice;
namespace fs = std::filesystem;

namespace {

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

TEST_CASE("measurements file: in measurements/ beside the profile") {
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
    write_profile(synthetic::cpu_machine(), file, {});
    CHECK(resolve_machine(read_machine_profile(file)).unified_memory);
}

TEST_CASE("write profile: one that nothing can be predicted from is not written") {
    const TemporaryFolder folder;
    const std::string file = folder.file("mine.json");
    Measurements m = synthetic::gpu_machine();
    std::erase_if(m.cases, [](const CaseRecord& record) { return record.name == "device_copy"; });
    CHECK_THROWS_WITH(write_profile(m, file, {}),
                      ContainsSubstring("gpu.memory_bandwidth_gb_per_s is missing"));
    CHECK_FALSE(fs::exists(file));
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
