// Which names are of machines of one kind?
#include "sim/answers/validate/validation.h"
#include "tests/sim/answers/validate/made_runs.h"

using namespace sluice;

namespace {

constexpr const char* kMachine = "NVIDIA H200, 16 CPUs of Intel(R) Xeon(R) Processor, 135.1 GB";

bool alike(const char* a, const char* b) {
    return same_kind(machine_parts(a).value(), machine_parts(b).value());
}

}  // namespace

TEST_CASE("machine names: their parts", "[validate]") {
    const auto parts = machine_parts(kMachine);
    REQUIRE(parts);
    CHECK(parts->gpu == "NVIDIA H200");
    CHECK(parts->cpus == 16);
    CHECK(parts->cpu == "Intel(R) Xeon(R) Processor");
    CHECK(parts->host_memory == Approx(135.1e9));
    CHECK(machine_parts("no GPU, 2 CPUs, 8.1 GB")->cpu.empty());
    for (const char* other :
         {"NVIDIA B200 SXM, HGX node with 2x Xeon 8570, PCIe 5.0 x16", "box", ""})
        CHECK_FALSE(machine_parts(other));
}

TEST_CASE("machine names: GPU, CPUs and memory decide, not how memory is written", "[validate]") {
    CHECK(alike(kMachine, "NVIDIA H200, 16 CPUs of Intel(R) Xeon(R) Processor, 135.2 GB"));
    CHECK(alike("no GPU, 64 CPUs of EPYC, 1.62 TB", "no GPU, 64 CPUs of EPYC, 1622 GB"));
    for (const char* other : {"NVIDIA H100, 16 CPUs of Intel(R) Xeon(R) Processor, 135.1 GB",
                              "no GPU, 16 CPUs of Intel(R) Xeon(R) Processor, 135.1 GB",
                              "NVIDIA H200, 12 CPUs of Intel(R) Xeon(R) Processor, 135.1 GB",
                              "NVIDIA H200, 16 CPUs of AMD EPYC, 135.1 GB",
                              "NVIDIA H200, 16 CPUs of Intel(R) Xeon(R) Processor, 270 GB"})
        CHECK_FALSE(alike(kMachine, other));
}

TEST_CASE("machine names: runs of another machine are named, and compared anyway", "[validate]") {
    MachineSpec machine = small_machine();
    machine.name = kMachine;
    const auto validation_of = [&](const char* name) {
        nlohmann::json report = exact_report();
        report["machine"]["name"] = name;
        MeasuredRuns measured;
        measured.runs = {read_one(report)};
        return validate(std::move(measured), machine);
    };
    const Validation v = validation_of("NVIDIA H100, 16 CPUs of EPYC, 135.1 GB");
    CHECK(v.runs.size() == 1);
    REQUIRE(v.other_machines.size() == 1);
    CHECK_THAT(
        v.other_machines[0],
        ContainsSubstring("run.json: measured on NVIDIA H100, 16 CPUs of EPYC, 135.1 GB, but " +
                          machine.id + " is " + kMachine));
    CHECK_THAT(v.other_machines[0], ContainsSubstring("--machine"));
    CHECK(validation_of(kMachine).other_machines.empty());
    CHECK(validation_of("a machine").other_machines.empty());  // says nothing
}
