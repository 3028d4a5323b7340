#include "engine/machine/setup_warnings.h"

#include "tests/catch.h"
#include "tests/engine/machine/fake_machine.h"

using namespace sluice;

namespace {

constexpr SetupNeeds kNeeds{.host_bytes = 100'000'000'000,
                            .pinned_bytes = 64'000'000'000,
                            .gpu_numa_node = 1,
                            .optimizer_threads = 8};

HostFacts well_set_up() {
    FakeMachine machine;
    return read_host_facts(machine.two_sockets().locked_memory("8388608", "unlimited").root());
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("setup warnings: none on a machine that is set up well", "[machine]") {
    CHECK(setup_warnings(well_set_up(), kNeeds) == Texts{});
}

TEST_CASE("setup warnings: none where nothing is known", "[machine]") {
    CHECK(setup_warnings(HostFacts{}, kNeeds) == Texts{});
}

TEST_CASE("setup warnings: the control group's memory is too small", "[machine]") {
    HostFacts facts = well_set_up();
    facts.limits.memory = 64 * kGiB;
    // Also where the machine's memory may grow: that of the group does not.
    for (const bool grows : {false, true}) {
        facts.memory_may_grow = grows;
        CHECK(host_memory_hint(facts, kNeeds.host_bytes) ==
              "host memory: the control group of this process allows 68.7 GB of the machine's "
              "137.4 GB, and the kernel kills or slows down a process that takes more; raise the "
              "limit (docker "
              "run --memory, the memory that the job requests)");
    }
    facts.limits.memory = 100'000'000'000;
    CHECK_FALSE(host_memory_hint(facts, kNeeds.host_bytes));
}

TEST_CASE("setup warnings: less memory than the user said", "[machine]") {
    HostFacts facts = well_set_up();
    facts.memory_total = 16 * kGiB;
    facts.memory_available = 12 * kGiB;
    CHECK(setup_warnings(facts, kNeeds) ==
          Texts{"host memory: the run needs 100.0 GB, this machine has 17.2 GB, and beyond that "
                "the kernel swaps or kills the run; give --host-memory with that size or less"});
    facts.memory_may_grow = true;
    CHECK(setup_warnings(facts, kNeeds) == Texts{});
}

TEST_CASE("setup warnings: memory that is too small for a plan may grow", "[machine]") {
    HostFacts facts = well_set_up();
    facts.memory_total = 16 * kGiB;
    CHECK_FALSE(host_memory_hint(facts, kNeeds.host_bytes));
    facts.memory_may_grow = true;
    CHECK(host_memory_hint(facts, kNeeds.host_bytes) ==
          "host memory: this virtual machine shows 17.2 GB, which may grow as memory is used; give "
          "--host-memory with the size that was promised");
    facts.limits.memory = 128 * kGiB;
    CHECK_FALSE(host_memory_hint(facts, kNeeds.host_bytes));
    CHECK_FALSE(host_memory_hint(HostFacts{}, kNeeds.host_bytes));
}

TEST_CASE("setup warnings: others use the memory", "[machine]") {
    HostFacts facts = well_set_up();
    facts.memory_available = 60 * kGiB;
    CHECK(setup_warnings(facts, kNeeds) ==
          Texts{"host memory: the run needs 100.0 GB, of 137.4 GB only 64.4 GB are available, the "
                "rest is used by others; stop them (ps --sort=-rss -eo pid,rss,comm), or the "
                "kernel swaps or kills the run"});
    facts.memory_may_grow = true;
    CHECK(setup_warnings(facts, kNeeds) == Texts{});
}

TEST_CASE("setup warnings: strict accounting of address space", "[machine]") {
    HostFacts facts = well_set_up();
    facts.commit_left = 64 * kGiB;
    CHECK(setup_warnings(facts, kNeeds) ==
          Texts{"host memory: vm.overcommit_memory is 2 and leaves 68.7 GB to map, the run maps "
                "100.0 GB: mapping will fail; sysctl vm.overcommit_memory=0"});
    facts.commit_left = 100'000'000'000;
    CHECK(setup_warnings(facts, kNeeds) == Texts{});
}

TEST_CASE("setup warnings: swap in use, beyond idle pages", "[machine]") {
    HostFacts facts = well_set_up();
    facts.swap_used = 5 * kGiB;
    CHECK(setup_warnings(facts, kNeeds) ==
          Texts{"swap: 5.4 GB are swapped out, so memory was short before this run; stop what uses "
                "it, or pages of the run may follow (swapoff -a keeps them in memory)"});
    facts.swap_used = kGiB / 2;
    CHECK(setup_warnings(facts, kNeeds) == Texts{});
}

TEST_CASE("setup warnings: huge pages are off", "[machine]") {
    HostFacts facts = well_set_up();
    facts.huge_pages = HugePages::never;
    CHECK(setup_warnings(facts, kNeeds) ==
          Texts{"huge pages are off (never): 100.0 GB lie in pages of 4 KiB, which take longer to "
                "touch (3.03 s instead of 1.33 s at the rates of 16 threads on the H200 machine), "
                "are page-locked one by one (64.0 GB) and miss the TLB more often; echo madvise > "
                "/sys/kernel/mm/transparent_hugepage/enabled"});
    SetupNeeds without_gpu = kNeeds;
    without_gpu.pinned_bytes = 0;
    CHECK(setup_warnings(facts, without_gpu) ==
          Texts{"huge pages are off (never): 100.0 GB lie in pages of 4 KiB, which take longer to "
                "touch (3.03 s instead of 1.33 s at the rates of 16 threads on the H200 machine) "
                "and miss the TLB more often; echo madvise > "
                "/sys/kernel/mm/transparent_hugepage/enabled"});
    facts.huge_pages = HugePages::always;
    CHECK(setup_warnings(facts, kNeeds) == Texts{});
}

TEST_CASE("setup warnings: threads or pages are kept from the GPU's node", "[machine]") {
    FakeMachine machine;
    machine.two_sockets().allowed("0-3,8-11", "0-1");
    CHECK(
        setup_warnings(read_host_facts(machine.root()), kNeeds) ==
        Texts{"threads: the process may not use any CPU of node 1, the GPU's, so pages and threads "
              "lie on another and all copies cross the link between nodes; start it with numactl "
              "--cpunodebind=1 or allow CPUs 4-7,12-15"});
    machine.allowed("0-15", "0");
    SetupNeeds needs = kNeeds;
    needs.host_bytes = 50'000'000'000;
    CHECK(
        setup_warnings(read_host_facts(machine.root()), needs) ==
        Texts{"host memory: the process may not use memory of node 1, the GPU's, so all copies "
              "cross the link between nodes; start it with numactl --membind=1 or allow that node "
              "in its cpuset"});
    needs.gpu_numa_node = -1;
    CHECK(setup_warnings(read_host_facts(machine.root()), needs) == Texts{});
}

TEST_CASE("setup warnings: fewer CPUs than optimizer threads", "[machine]") {
    HostFacts facts = well_set_up();
    SetupNeeds needs = kNeeds;
    needs.optimizer_threads = 32;
    CHECK(
        setup_warnings(facts, needs) ==
        Texts{"threads: 32 of the optimizer share 16 CPUs, where more threads than CPUs only wait "
              "for each other; give --optimizer-threads 16 or allow the process more CPUs "
              "(taskset)"});
    needs.optimizer_threads = 16;
    CHECK(setup_warnings(facts, needs) == Texts{});
}

TEST_CASE("setup warnings: the CPU quota is below the optimizer's threads", "[machine]") {
    HostFacts facts = well_set_up();
    facts.limits.cpus = 2.5;
    CHECK(setup_warnings(facts, kNeeds) ==
          Texts{"CPU quota: the control group gives the time of 2.5 CPUs to 8 optimizer threads, "
                "which will be stopped in every period; raise it (docker run --cpus) or give "
                "--optimizer-threads 2"});
    facts.limits.cpus = 8;
    CHECK(setup_warnings(facts, kNeeds) == Texts{});
}

TEST_CASE("setup warnings: why page-locking may have failed", "[machine]") {
    HostFacts facts = well_set_up();
    CHECK(locked_memory_hint(facts, kNeeds.pinned_bytes) ==
          "locked memory: the run page-locks 64.0 GB, the limit is 8.4 MB; raise it with ulimit -l "
          "unlimited");
    facts.locked_memory_hard = 16'777'216;
    CHECK(
        locked_memory_hint(facts, kNeeds.pinned_bytes) ==
        "locked memory: the run page-locks 64.0 GB, the limit is 8.4 MB and may be raised to 16.8 "
        "MB only; raise memlock in /etc/security/limits.conf, or start the container with "
        "--ulimit memlock=-1");
    facts.locked_memory_unchecked = true;
    CHECK_FALSE(locked_memory_hint(facts, kNeeds.pinned_bytes));
    facts.locked_memory_unchecked = false;
    facts.locked_memory_soft = kUnlimited;
    CHECK_FALSE(locked_memory_hint(facts, kNeeds.pinned_bytes));
    CHECK_FALSE(locked_memory_hint(HostFacts{}, kNeeds.pinned_bytes));
}
