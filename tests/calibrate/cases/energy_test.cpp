#include "calibrate/cases/energy.h"

#include <filesystem>
#include <fstream>

#include "engine/machine/nvml.h"
#include "tests/catch.h"
#include "tests/engine/data/temp_folder.h"

namespace sluice {

TEST_CASE("energy: a counter that steps every 0.1 s is read between its steps", "[cases]") {
    // 200 W, seen every 10 ms from 0.05 s on; the counter holds what it was at the last 0.1 s.
    std::vector<EnergySample> samples;
    for (int i = 5; i < 155; ++i)
        samples.push_back({0.01 * i, 20.0 * (i / 10), 3.0 * i});  // 300 of work a second
    const auto reading = energy_reading(samples);
    REQUIRE(reading);
    CHECK(reading->seconds == Approx(1.4));  // first step at 0.1, last at 1.5
    CHECK(reading->watts == Approx(200));
    CHECK(reading->done_per_s == Approx(300));
    CHECK(reading->watts_low == Approx(200));
    CHECK(reading->watts_high == Approx(200));
}

TEST_CASE("energy: uneven power shows in the range, not in the mean", "[cases]") {
    std::vector<EnergySample> samples;
    double joules = 0;
    for (int i = 0; i <= 100; ++i) {
        samples.push_back({0.02 * i, joules, 0});
        joules += 0.02 * (i < 50 ? 100 : 300);  // 100 W for a second, then 300 W for one
    }
    const auto reading = energy_reading(samples);
    REQUIRE(reading);
    CHECK(reading->watts == Approx(200).epsilon(0.02));
    CHECK(reading->watts_low == Approx(100).epsilon(0.05));
    CHECK(reading->watts_high == Approx(300).epsilon(0.05));
}

TEST_CASE("energy: a counter that stands still says nothing", "[cases]") {
    CHECK_FALSE(energy_reading({}));
    const std::vector<EnergySample> still = {{0, 5, 0}, {1, 5, 1}, {2, 5, 2}};
    CHECK_FALSE(energy_reading(still));
    const std::vector<EnergySample> one_step = {{0, 5, 0}, {1, 7, 1}, {2, 7, 2}};
    CHECK_FALSE(energy_reading(one_step));
}

TEST_CASE("energy: packages are summed and their counters may start again", "[cases]") {
    const TempFolder root;
    const auto write = [&](int package, const char* name, const char* text) {
        const auto folder = std::filesystem::path(root.path()) /
                            ("sys/class/powercap/intel-rapl:" + std::to_string(package));
        std::filesystem::create_directories(folder);
        std::ofstream(folder / name) << text << "\n";
    };
    for (int package = 0; package < 2; ++package) {
        write(package, "name", package == 0 ? "package-0" : "package-1");
        write(package, "max_energy_range_uj", "262143328850");
        write(package, "energy_uj", "262143000000");
    }
    write(2, "name", "psys");
    write(2, "max_energy_range_uj", "262143328850");
    write(2, "energy_uj", "0");
    auto energy = PackageEnergy::open(SystemFiles(root.path()));
    REQUIRE(energy);
    CHECK(energy->joules() == Approx(0));
    write(0, "energy_uj", "262143328850");  // 0.32885 J more
    write(1, "energy_uj", "1671150");       // past the end: 0.32885 J and 1.67115 J
    write(2, "energy_uj", "99000000");
    CHECK(energy->joules() == Approx(0.32885 + 2.0));
    CHECK(energy->joules() == Approx(0.32885 + 2.0));
}

TEST_CASE("energy: a machine without counters has none", "[cases]") {
    const TempFolder root;
    CHECK_FALSE(PackageEnergy::open(SystemFiles(root.path())));
}

}  // namespace sluice
