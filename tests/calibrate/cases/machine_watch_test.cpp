#include "calibrate/cases/machine_watch.h"

#include "tests/catch.h"

namespace sluice {
namespace {

constexpr const char* kBefore =
    "cpu  1000 0 500 8000 100 0 0 50 0 0\n"
    "cpu0 500 0 250 4000 50 0 0 25 0 0\n"
    "cpu1 400 0 200 3500 40 0 0 20 0 0\n"
    "cpu10 100 0 50 500 10 0 0 5 0 0\n"
    "intr 12345\n";

MachineLoad quiet() {
    MachineLoad load;
    load.cpu_busy_share = 0.02;
    load.cpu_stolen_share = 0;
    load.load_average = 0.3;
    load.cpus = 16;
    load.gpu_busy_share = 0;
    load.gpu_programs = OtherGpuPrograms{};
    load.gpu_temperature_c = 35;
    load.gpu_slowdown_temperature_c = 90;
    return load;
}

std::string only(const std::vector<std::string>& warnings) {
    REQUIRE(warnings.size() == 1);
    return warnings.front();
}

}  // namespace

TEST_CASE("machine watch: ticks are summed over the CPUs that the process may use", "[cases]") {
    const auto ticks = parse_cpu_ticks(kBefore, {0, 10});
    REQUIRE(ticks);
    CHECK(ticks->busy == Approx(500 + 250 + 100 + 50));
    CHECK(ticks->stolen == Approx(30));
    CHECK(ticks->total == Approx(900 + 30 + 4050 + 510));
}

TEST_CASE("machine watch: CPUs that the text does not list are not known", "[cases]") {
    CHECK_FALSE(parse_cpu_ticks(kBefore, {2, 3}));
    CHECK_FALSE(parse_cpu_ticks("", {0}));
    CHECK_FALSE(parse_cpu_ticks("cpu0 12 odd", {0}));
}

TEST_CASE("machine watch: a quiet machine gives no warning", "[cases]") {
    CHECK(load_warnings(quiet()).empty());
    CHECK(load_warnings(MachineLoad{}).empty());
}

TEST_CASE("machine watch: busy processors are stated in percent", "[cases]") {
    MachineLoad load = quiet();
    load.cpu_busy_share = 0.34;
    load.load_average = 15;  // says the same: one sentence
    CHECK_THAT(only(load_warnings(load)),
               ContainsSubstring("34% busy with other programs before the start"));
}

TEST_CASE("machine watch: a load that pauses is seen in the load average", "[cases]") {
    MachineLoad load = quiet();
    load.load_average = 12;
    CHECK_THAT(only(load_warnings(load)), ContainsSubstring("0.8 threads a processor"));
}

TEST_CASE("machine watch: what the host of a virtual machine takes is stated", "[cases]") {
    MachineLoad load = quiet();
    load.cpu_stolen_share = 0.07;
    CHECK_THAT(only(load_warnings(load)), ContainsSubstring("took 7% of the processors' time"));
}

TEST_CASE("machine watch: a GPU in use and a hot GPU are stated in numbers", "[cases]") {
    MachineLoad load = quiet();
    load.gpu_busy_share = 0.97;
    CHECK_THAT(only(load_warnings(load)), ContainsSubstring("GPU was 97% busy"));
    load = quiet();
    load.gpu_programs = OtherGpuPrograms{2, 12.34e9};
    CHECK_THAT(only(load_warnings(load)),
               ContainsSubstring("2 other programs use the GPU and hold 12.3 GB"));
    load.gpu_programs = OtherGpuPrograms{1, 0};
    CHECK_THAT(only(load_warnings(load)), ContainsSubstring("1 other program uses the GPU"));
    load = quiet();
    load.gpu_temperature_c = 86;
    CHECK_THAT(only(load_warnings(load)), ContainsSubstring("at 86 C before the start"));
}

TEST_CASE("machine watch: the power limit is stated in the summary and is no warning", "[cases]") {
    ClockRecord record;
    add_clock_sample(record, clock_events::kIdle, 345, 30);
    add_clock_sample(record, clock_events::kSoftwarePowerCap, 1467, 58);
    add_clock_sample(record, 0, 1980, 55);
    add_clock_sample(record, clock_events::kSoftwarePowerCap, 1500, 57);
    CHECK(clock_warnings(record).empty());
    CHECK(clock_summary(record) ==
          "SM clock 1467 to 1980 MHz, at the power limit in 50% of 4 samples, at most 58 C");
}

TEST_CASE("machine watch: throttling by heat or by the board is a warning with numbers",
          "[cases]") {
    ClockRecord record;
    for (int i = 0; i < 3; ++i) add_clock_sample(record, 0, 1980, 80);
    add_clock_sample(record, clock_events::kHardwareThermal | clock_events::kHardwareSlowdown, 990,
                     91);
    const std::string warning = only(clock_warnings(record));
    CHECK_THAT(warning,
               ContainsSubstring("(thermal slowdown by the hardware) in 25% of 4 samples"));
    CHECK_THAT(warning, ContainsSubstring("down to 990 MHz, at 91 C"));

    ClockRecord brake;
    add_clock_sample(brake, clock_events::kPowerBrake, 600, 50);
    CHECK_THAT(only(clock_warnings(brake)), ContainsSubstring("(power brake) in 100%"));
}

TEST_CASE("machine watch: without samples nothing is stated", "[cases]") {
    CHECK(clock_warnings(ClockRecord{}).empty());
    CHECK(clock_summary(ClockRecord{}).empty());
    ClockRecord unknown;
    add_clock_sample(unknown, std::nullopt, std::nullopt, std::nullopt);
    CHECK(unknown.samples == 1);
    CHECK(clock_summary(unknown).empty());
}

TEST_CASE("machine watch: this machine's load is a share of its CPUs", "[cases]") {
    HostFacts host = read_host_facts();
    REQUIRE_FALSE(host.cpus.empty());
    const MachineLoad load = read_machine_load(host, nullptr);
    REQUIRE(load.cpu_busy_share);
    CHECK(*load.cpu_busy_share >= 0);
    CHECK(*load.cpu_busy_share <= 1);
    CHECK(load.cpus == static_cast<int>(host.cpus.size()));
    CHECK_FALSE(load.gpu_busy_share);
}

}  // namespace sluice
