#include "engine/machine/host_facts.h"

#include <sched.h>

#include "tests/catch.h"
#include "tests/engine/machine/fake_machine.h"

using namespace sluice;

TEST_CASE("host facts: two sockets with two CPUs a core", "[machine]") {
    FakeMachine machine;
    machine.two_sockets();
    const HostFacts facts = read_host_facts(machine.root());
    REQUIRE(facts.cpus.size() == 16);
    CHECK(facts.physical_cores() == 8);
    CHECK(facts.cpus[13].id == 13);
    CHECK(facts.cpus[13].core == 5);
    CHECK(facts.cpus[13].node == 1);
    REQUIRE(facts.nodes.size() == 2);
    REQUIRE(facts.node(1) != nullptr);
    CHECK(facts.node(1)->memory == 64 * kGiB);
    CHECK(facts.node(1)->free == 60 * kGiB);
    CHECK(facts.node(2) == nullptr);
    CHECK(facts.cpus_of_node(0) == std::vector<int>{0, 1, 2, 3, 8, 9, 10, 11});
    CHECK(facts.memory_total == 128 * kGiB);
    CHECK(facts.memory_available == 120 * kGiB);
    CHECK(facts.swap_used == 0);
    CHECK_FALSE(facts.commit_left);
}

TEST_CASE("host facts: nodes are in the order of their numbers", "[machine]") {
    FakeMachine machine;
    for (const int id : {0, 2, 10}) machine.node(id, "", 1, 1);
    machine.file("sys/devices/system/node/node_odd/cpulist", "0\n");
    std::vector<int> ids;
    for (const NumaNode& node : read_host_facts(machine.root()).nodes) ids.push_back(node.id);
    CHECK(ids == std::vector<int>{0, 2, 10});
}

TEST_CASE("host facts: only CPUs that are allowed and online count", "[machine]") {
    FakeMachine machine;
    machine.two_sockets().allowed("2-3,10-11,40", "0");
    const HostFacts facts = read_host_facts(machine.root());
    CHECK(facts.cpus.size() == 4);
    CHECK(facts.physical_cores() == 2);
    CHECK(facts.cpus_of_node(1).empty());
    CHECK(facts.node(0)->memory_may_be_used);
    CHECK_FALSE(facts.node(1)->memory_may_be_used);
    CHECK(host_memory_capacity(facts) == 64 * kGiB);
}

TEST_CASE("host facts: a control group's limit counts where it is smaller", "[machine]") {
    FakeMachine machine;
    machine.memory(128, 120).file("sys/fs/cgroup/memory.max", "68719476736\n");
    CHECK(host_memory_capacity(read_host_facts(machine.root())) == 64 * kGiB);
    machine.file("sys/fs/cgroup/memory.max", "274877906944\n");
    CHECK(host_memory_capacity(read_host_facts(machine.root())) == 128 * kGiB);
}

TEST_CASE("host facts: where memory may grow the limit counts even if it is larger", "[machine]") {
    for (const char* device : {"0x0005\n", "0x0018\n"}) {
        FakeMachine machine;
        machine.memory(16, 12).file("sys/bus/virtio/devices/virtio0/device", device);
        HostFacts facts = read_host_facts(machine.root());
        CAPTURE(device);
        CHECK(facts.memory_may_grow);
        CHECK(host_memory_capacity(facts) == 16 * kGiB);
        facts.limits.memory = 64 * kGiB;
        CHECK(host_memory_capacity(facts) == 64 * kGiB);
    }
    FakeMachine network;
    network.memory(16, 12).file("sys/bus/virtio/devices/virtio0/device", "0x0001\n");
    CHECK_FALSE(read_host_facts(network.root()).memory_may_grow);
}

TEST_CASE("host facts: huge pages as the system and the process have them", "[machine]") {
    const auto setting = [](const char* enabled, const char* status) {
        FakeMachine machine;
        machine.huge_pages(enabled).file("proc/self/status", status);
        return read_host_facts(machine.root()).huge_pages;
    };
    CHECK(setting("[always] madvise never\n", "") == HugePages::always);
    CHECK(setting("always [madvise] never\n", "THP_enabled:\t1\n") == HugePages::madvise);
    CHECK(setting("always madvise [never]\n", "") == HugePages::never);
    CHECK(setting("[always] madvise never\n", "THP_enabled:\t0\n") == HugePages::never);
    CHECK(setting("odd", "") == HugePages::unknown);
}

TEST_CASE("host facts: limits of locked memory, and who is free of them", "[machine]") {
    FakeMachine machine;
    machine.locked_memory("8388608", "unlimited");
    HostFacts facts = read_host_facts(machine.root());
    CHECK(facts.locked_memory_soft == 8388608);
    CHECK(facts.locked_memory_hard == kUnlimited);
    CHECK_FALSE(facts.locked_memory_unchecked);
    machine.file("proc/self/status", "CapEff:\t0000000000004000\n");
    CHECK(read_host_facts(machine.root()).locked_memory_unchecked);
    machine.file("proc/self/status", "CapEff:\t000001fffeffbfff\n");
    CHECK_FALSE(read_host_facts(machine.root()).locked_memory_unchecked);
}

TEST_CASE("host facts: address space is limited where overcommitting is off", "[machine]") {
    FakeMachine machine;
    machine.memory(128, 120).file("proc/sys/vm/overcommit_memory", "2\n");
    CHECK(read_host_facts(machine.root()).commit_left == 1 * kGiB);
    machine.file("proc/sys/vm/overcommit_memory", "1\n");
    CHECK_FALSE(read_host_facts(machine.root()).commit_left);
}

TEST_CASE("host facts: the processor's name, which Arm does not tell", "[machine]") {
    FakeMachine machine;
    machine.file(
        "proc/cpuinfo",
        "processor\t: 0\nmodel name\t: Some Processor\nflags\t\t: fpu avx2\n\nprocessor\t: 1\n");
    CHECK(read_host_facts(machine.root()).cpu_model == "Some Processor");
    machine.file("proc/cpuinfo", "processor\t: 0\nFeatures\t: fp asimd sve bf16\n");
    CHECK(read_host_facts(machine.root()).cpu_model.empty());
}

TEST_CASE("host facts: of an empty or odd machine nothing is known", "[machine]") {
    FakeMachine empty, odd;
    for (const char* path :
         {"proc/meminfo", "proc/self/status", "proc/self/limits", "proc/cpuinfo",
          "proc/self/cgroup", "sys/devices/system/cpu/online",
          "sys/devices/system/node/node0/cpulist", "sys/devices/system/node/node0/meminfo"})
        odd.file(path, "MemTotal: many kB\nCpus_allowed_list:\tall\nMax locked memory much\n\xff");
    odd.file("sys/kernel/mm/transparent_hugepage/enabled/folder", "");
    for (const FakeMachine* machine : {&empty, &odd}) {
        const HostFacts facts = read_host_facts(machine->root());
        CHECK(facts.cpus.empty());
        CHECK(facts.physical_cores() == 0);
        CHECK_FALSE(facts.memory_total);
        CHECK_FALSE(facts.locked_memory_soft);
        CHECK(facts.huge_pages == HugePages::unknown);
        CHECK_FALSE(host_memory_capacity(facts));
    }
}

TEST_CASE("host facts: this machine's CPUs are those that the scheduler allows", "[machine]") {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    REQUIRE(sched_getaffinity(0, sizeof allowed, &allowed) == 0);
    const HostFacts facts = read_host_facts();
    REQUIRE(facts.cpus.size() == static_cast<std::size_t>(CPU_COUNT(&allowed)));
    for (const Cpu& cpu : facts.cpus) CHECK(CPU_ISSET(static_cast<std::size_t>(cpu.id), &allowed));
    REQUIRE(host_memory_capacity(facts));
    CHECK(*host_memory_capacity(facts) > 0);
}
