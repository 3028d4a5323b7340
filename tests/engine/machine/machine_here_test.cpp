#include "engine/machine/machine_here.h"

#include "sim/base/input_error.h"
#include "sim/plan/step_plan.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"
#include "tests/engine/machine/fake_machine.h"

using namespace sluice;

namespace {

const GpuFacts kGpu{"Some GPU", 80'000'000'000, 500'000'000};

HostFacts facts_here() {
    FakeMachine machine;
    return read_host_facts(machine.two_sockets().root());
}

TrainingSpec small_batch() {
    TrainingSpec training;
    training.batch = 1;
    training.sequence = 512;
    return training;
}

}  // namespace

TEST_CASE("machine here: sizes of the GPU and of the host", "[machine]") {
    const MachineSpec machine = machine_here(facts_here(), kGpu);
    CHECK(machine.id == "this machine");
    CHECK(machine.name == "Some GPU, 16 CPUs, 137.4 GB");
    CHECK_FALSE(machine.unified_memory);
    CHECK(machine.gpu.memory_capacity == 80'000'000'000);
    CHECK(machine.gpu.context == 500'000'000);
    CHECK(machine.host.memory_capacity == 128 * kGiB);
    CHECK(machine.host.system_reserve == 1'000'000'000);
    CHECK(machine.host.process_base == 1'000'000'000);
    CHECK(machine.host.cores == 16);
    CHECK(machine.host.best_adam_threads == 4);  // 8 cores
    CHECK(machine.host.adam_threads_after_norm == 8);
}

TEST_CASE("machine here: the optimizer gets what cores and quota leave, one thread at least",
          "[machine]") {
    HostFacts facts = facts_here();
    facts.limits.cpus = 6.5;
    CHECK(machine_here(facts, kGpu).host.best_adam_threads == 2);
    facts.limits.cpus = 1.5;
    CHECK(machine_here(facts, kGpu).host.best_adam_threads == 1);
    facts.cpus.clear();
    CHECK(machine_here(facts, kGpu).host.cores >= 1);
    CHECK(machine_here(facts, kGpu).host.best_adam_threads >= 1);
}

TEST_CASE("machine here: the system's part is not taken of a limit that leaves it enough",
          "[machine]") {
    HostFacts facts = facts_here();
    facts.limits.memory = 64 * kGiB;
    MachineSpec machine = machine_here(facts, kGpu);
    CHECK(machine.host.memory_capacity == 64 * kGiB);
    CHECK(machine.host.system_reserve == 0);
    facts.limits.memory = 128 * kGiB - 400'000'000;
    CHECK(machine_here(facts, kGpu).host.system_reserve == 600'000'000);
}

TEST_CASE("machine here: what the user says of the memory counts more", "[machine]") {
    const MachineSpec more = machine_here(facts_here(), kGpu, 256 * kGiB);
    CHECK(more.host.memory_capacity == 256 * kGiB);
    CHECK(more.host.system_reserve == 1'000'000'000);
    CHECK(machine_here(HostFacts{}, kGpu, 64 * kGiB).host.memory_capacity == 64 * kGiB);
}

TEST_CASE("machine here: no more memory than the control group allows is believed", "[machine]") {
    HostFacts facts = facts_here();
    facts.limits.memory = 4'000'000'000;
    CHECK(machine_here(facts, kGpu, 4'000'000'000).host.memory_capacity == 4'000'000'000);
    CHECK_THROWS_WITH(
        machine_here(facts, kGpu, 64'000'000'000),
        "--host-memory is 64.0 GB, but the control group of this process allows 4.0 "
        "GB, and the kernel kills or slows down a process that takes more; give 4000000000B or "
        "less, or raise the limit (docker run --memory, the memory that the job "
        "requests)");
}

TEST_CASE("machine here: unknown memory is asked for", "[machine]") {
    CHECK_THROWS_AS(machine_here(HostFacts{}, kGpu), InputError);
    CHECK_THROWS_WITH(machine_here(HostFacts{}, kGpu),
                      "host memory: the system does not report how much there is (MemTotal in "
                      "/proc/meminfo); give --host-memory, as in --host-memory 64GB");
}

TEST_CASE("machine here: plans need no rates", "[machine]") {
    const ModelSpec model = read_model("llama-3.2-1b");
    const MachineSpec machine = machine_here(facts_here(), kGpu);
    for (const Schedule schedule : {Schedule("streamed"), Schedule("megatrain")}) {
        TrainingSpec training = small_batch();
        training.schedule = schedule;
        const StepPlan plan = plan_step(model, machine, training);
        const Fit fit = check_fit(plan, machine, training);
        CHECK(plan.program.operations.size() > 48);
        CHECK(fit.fits());
        CHECK(fit.device().usable == 79'500'000'000);
        // 12 bytes a parameter of optimizer state and 2 of weights.
        CHECK(fit.host().peak.bytes > 14 * 1'200'000'000LL);
    }
}

TEST_CASE("machine here: without a GPU both tiers draw on the host's memory", "[machine]") {
    HostFacts facts = facts_here();
    const MachineSpec machine = machine_here(facts, std::nullopt);
    CHECK(machine.unified_memory);
    CHECK(machine.name == "no GPU, 16 CPUs, 137.4 GB");
    CHECK(machine.gpu.memory_capacity == 128 * kGiB - 1'000'000'000);
    CHECK(machine.gpu.context == 0);
    CHECK(machine.host.process_base == 520'000'000);
    const ModelSpec model = read_model("llama-3.2-1b");
    const StepPlan plan = plan_step(model, machine, small_batch());
    const Fit fit = check_fit(plan, machine, small_batch());
    CHECK(fit.fits());
    // The two tiers alone would fit, the sum does not.
    const auto operations = static_cast<OperationId>(plan.program.operations.size());
    const Bytes host = peak_memory(plan.memory, Tier::host, operations).bytes;
    REQUIRE(fit.device().peak.bytes > 0);
    CHECK(fit.host().peak.bytes >= host + fit.device().peak.bytes);
    facts.limits.memory = fit.host().peak.bytes - 1;
    CHECK(check_fit(plan, machine_here(facts, std::nullopt), small_batch()).host().shortfall() ==
          1);
    facts.limits.memory = fit.host().peak.bytes;
    CHECK(check_fit(plan, machine_here(facts, std::nullopt), small_batch()).fits());
}
