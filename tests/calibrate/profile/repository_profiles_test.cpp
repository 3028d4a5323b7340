// The calibrated profiles that are kept here are what their measurements, fitted today, make.
#include <filesystem>
#include <nlohmann/json.hpp>

#include "calibrate/measurement/measurements.h"
#include "calibrate/profile/make_profile.h"
#include "calibrate/profile/sections.h"
#include "sim/base/json_object.h"
#include "tests/catch.h"

using namespace sluice;
namespace fs = std::filesystem;

namespace {

const fs::path kFolder = fs::path(SLUICE_SOURCE_DIR) / "hwprofiles";

/// "...; measurements/a.json, measurements/b.json" -> a.json, b.json, read.
std::vector<MeasurementsFile> files_of(const std::string& source) {
    constexpr std::string_view kBefore = "measurements/", kAfter = ".json";
    std::vector<MeasurementsFile> files;
    for (std::size_t at = source.find(kBefore); at != std::string::npos;
         at = source.find(kBefore, at + 1)) {
        const std::size_t end = source.find(kAfter, at) + kAfter.size();
        const std::string file = (kFolder / source.substr(at, end - at)).string();
        files.push_back({parse_measurements(read_text_file(file), file), file});
    }
    return files;
}

}  // namespace

TEST_CASE("profiles kept here: their measurements make them again, to the byte") {
    int calibrated = 0;
    for (const auto& entry : fs::directory_iterator(kFolder)) {
        if (entry.path().extension() != ".json") continue;
        const BaseProfile profile = read_base_profile(entry.path().string(), "--base");
        const auto sources = nlohmann::json::parse(profile.text).at("sources");
        if (!sources.contains(kCalibrationSource)) continue;
        INFO(entry.path());
        ++calibrated;
        const auto files = files_of(sources.at(kCalibrationSource));
        REQUIRE(!files.empty());
        const Measurements measurements = pool_measurements(files);
        // Numbers that were not measured are taken from the profile itself.
        const std::string again = make_profile(measurements, fit_machine(measurements), profile);
        CHECK(again == profile.text);
    }
    CHECK(calibrated >= 1);
}
