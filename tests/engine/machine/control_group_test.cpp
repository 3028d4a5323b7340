#include "engine/machine/host_facts.h"
#include "tests/catch.h"
#include "tests/engine/machine/fake_machine.h"

using namespace sluice;

namespace {

ControlGroupLimits limits_of(const FakeMachine& machine) {
    return read_control_group_limits(SystemFiles(machine.root()));
}

}  // namespace

TEST_CASE("control group: version 2 limits memory and time, the tightest of all groups counts",
          "[machine]") {
    FakeMachine machine;
    machine.file("proc/self/cgroup", "0::/jobs/7\n")
        .file("sys/fs/cgroup/jobs/memory.max", "4294967296\n")
        .file("sys/fs/cgroup/jobs/7/memory.max", "max\n")
        .file("sys/fs/cgroup/jobs/7/cpu.max", "250000 100000\n");
    CHECK(limits_of(machine).memory == 4 * kGiB);
    CHECK(limits_of(machine).cpus == 2.5);
    machine.file("sys/fs/cgroup/jobs/7/memory.high", "3221225472\n");
    CHECK(limits_of(machine).memory == 3 * kGiB);
}

TEST_CASE("control group: version 1 limits memory and time", "[machine]") {
    FakeMachine machine;
    machine.file("proc/self/cgroup", "4:memory:/job\n3:cpu,cpuacct:/job\n")
        .file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")
        .file("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "2147483648\n")
        .file("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "400000\n")
        .file("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
    CHECK(limits_of(machine).memory == 2 * kGiB);
    CHECK(limits_of(machine).cpus == 4);
}

TEST_CASE("control group: what others in it use is not available", "[machine]") {
    FakeMachine two, one;
    two.file("proc/self/cgroup", "0::/job\n")
        .file("proc/meminfo", "MemTotal: 16777216 kB\nMemAvailable: 16000000 kB\n")
        .file("sys/fs/cgroup/job/memory.max", "4294967296\n")
        .file("sys/fs/cgroup/job/memory.current", "3221225472\n")
        .file("sys/fs/cgroup/job/memory.stat",
              "anon 1\ninactive_file 536870912\nactive_file 536870912\n");
    CHECK(limits_of(two).memory_available == 2 * kGiB);
    CHECK(read_host_facts(two.root()).memory_available == 2 * kGiB);
    one.file("proc/self/cgroup", "4:memory:/\n")
        .file("sys/fs/cgroup/memory/memory.limit_in_bytes", "4294967296\n")
        .file("sys/fs/cgroup/memory/memory.usage_in_bytes", "3221225472\n")
        .file("sys/fs/cgroup/memory/memory.stat",
              "inactive_file 5\nactive_file 7\ntotal_inactive_file 536870912\n"
              "total_active_file 536870912\n");
    CHECK(limits_of(one).memory_available == 2 * kGiB);
}

TEST_CASE("control group: both versions at once, each with its own path", "[machine]") {
    FakeMachine machine;
    machine.file("proc/self/cgroup", "4:memory:/a\n0::/b\n")
        .file("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "2147483648\n")
        .file("sys/fs/cgroup/unified/b/memory.max", "1073741824\n");
    CHECK(limits_of(machine).memory == 1 * kGiB);
}

TEST_CASE("control group: within a container the path outside is not there, the mount is",
          "[machine]") {
    for (const char* path : {"0::/docker/0123\n", "0::/../other\n", "0::/\n", ""}) {
        FakeMachine machine;
        machine.file("proc/self/cgroup", path).file("sys/fs/cgroup/memory.max", "1073741824\n");
        CAPTURE(path);
        CHECK(limits_of(machine).memory == 1 * kGiB);
    }
}

TEST_CASE("control group: no limits, odd files and no files limit nothing", "[machine]") {
    FakeMachine machine;
    CHECK_FALSE(limits_of(machine).memory);
    CHECK_FALSE(limits_of(machine).cpus);
    machine.file("proc/self/cgroup", "odd\n::\n4:memory\n0::relative\n")
        .file("sys/fs/cgroup/memory.max", "max\n")
        .file("sys/fs/cgroup/cpu.max", "max 100000\n")
        .file("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")
        .file("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n")
        .file("sys/fs/cgroup/cpu/cpu.cfs_period_us", "0\n");
    CHECK_FALSE(limits_of(machine).memory);
    CHECK_FALSE(limits_of(machine).cpus);
}
