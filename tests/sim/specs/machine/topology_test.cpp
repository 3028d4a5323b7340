// Which memories and links does a flow of bytes cross?
#include "sim/specs/machine/topology.h"

#include "sim/specs/machine/machine_profile.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

MachineSpec machine(bool unified) {
    MachineSpec out;
    out.unified_memory = unified;
    out.gpu.memory_capacity = 100;
    out.gpu.context = 7;
    out.gpu.memory_bandwidth = 4000e9;
    out.host.memory_capacity = 1000;
    out.host.system_reserve = 1100;
    out.host.dram_bandwidth = 200e9;
    out.link.host_to_device = 50e9;
    out.link.device_to_host = 40e9;
    out.link.both_ways_total = 60e9;
    return out;
}

/// "host, device 1; link of device 1".
std::string crossed(const Topology& topology, Memory from, Memory to) {
    const Topology::Route route = topology.route(from, to);
    std::string out;
    for (const std::size_t i : route.memories)
        out += (out.empty() ? "" : ", ") + memory_name(topology.memories[i].memory);
    for (const std::size_t i : route.links)
        out += "; link of " + memory_name(topology.links[i].device);
    return out;
}

}  // namespace

TEST_CASE("topology: each device has its own memory and link, and all have one host", "[machine]") {
    const Topology two = topology_of(machine(false), 2);
    const Memory second = {Tier::device, 1};
    CHECK(crossed(two, Tier::host, Tier::device) == "host, device; link of device");
    CHECK(crossed(two, second, Tier::host) == "device 1, host; link of device 1");
    CHECK(crossed(two, second, second) == "device 1");
    CHECK(crossed(two, Tier::host, Tier::host) == "host");
    // A disk is slower than whatever reads it.
    CHECK(crossed(two, Tier::storage, Tier::host) == "host");
    CHECK(two.links[1].both_ways == 60e9);
    CHECK(two.of(second).usable() == 93);
    CHECK(two.of(Tier::host).usable() == 0);  // the system reserves more than there is
}

TEST_CASE("topology: unified memory is the host's, whoever uses it", "[machine]") {
    const Topology one = topology_of(machine(true));
    CHECK(crossed(one, Tier::device, Tier::device) == "host");
    CHECK(crossed(one, Tier::host, Tier::device) == "host; link of device");
}

TEST_CASE("topology: a memory that the machine lacks is an error", "[machine]") {
    CHECK_THROWS_WITH(topology_of(machine(false)).of({Tier::device, 1}),
                      ContainsSubstring("device 1"));
}
