#include <sys/mman.h>

#include <cstring>

#include "engine/machine/host_facts.h"
#include "tests/catch.h"
#include "tests/engine/machine/fake_machine.h"

using namespace sluice;

TEST_CASE("process memory: resident bytes by kind and their peak", "[machine]") {
    FakeMachine machine;
    machine.file("proc/self/status",
                 "VmHWM:\t    9000 kB\nVmRSS:\t    8000 kB\nRssAnon:\t    5000 kB\nRssFile:\t    "
                 "2000 kB\nRssShmem:\t    1000 kB\n");
    const ProcessMemory memory = read_process_memory(machine.root());
    CHECK(memory.anonymous == 5000 * 1024);
    CHECK(memory.file == 2000 * 1024);
    CHECK(memory.shared == 1000 * 1024);
    CHECK(memory.peak == 9000 * 1024);
    CHECK(memory.resident() == 8000 * 1024);
}

TEST_CASE("process memory: unknown where the kernel does not tell", "[machine]") {
    FakeMachine machine;
    machine.file("proc/self/status", "VmRSS:\t    8000 kB\nRssAnon:\t odd\n");
    const ProcessMemory memory = read_process_memory(machine.root());
    CHECK_FALSE(memory.anonymous);
    CHECK_FALSE(memory.resident());
}

TEST_CASE("process memory: pages written here are counted", "[machine]") {
    const ProcessMemory before = read_process_memory();
    REQUIRE(before.anonymous);
    constexpr Bytes kBytes = 64 * kMiB;
    void* const pages =
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(pages != MAP_FAILED);
    std::memset(pages, 1, kBytes);
    const ProcessMemory after = read_process_memory();
    munmap(pages, kBytes);
    CHECK(*after.anonymous - *before.anonymous > kBytes * 9 / 10);
    CHECK(*after.anonymous - *before.anonymous < kBytes * 11 / 10);
    CHECK(*after.peak >= *after.anonymous);
}
