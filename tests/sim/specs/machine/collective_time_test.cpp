// Collectives against numbers worked out by hand.
#include "sim/specs/machine/collective_time.h"

#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/machine/machine_spec.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

/// 400 GB/s within a node, 40 GB/s a GPU between nodes.
InterconnectSpec interconnect() {
    InterconnectSpec spec;
    spec.gpus_per_node = 8;
    spec.bus_by_gpus = Interpolated({{1, 400e9}});
    spec.network_per_gpu = 40e9;
    return spec;
}

}  // namespace

TEST_CASE("a ring sends all but one n-th, an all-reduce twice that", "[machine]") {
    CHECK(ring_bytes(Collective::all_gather, 80, 8) == 70);
    CHECK(ring_bytes(Collective::reduce_scatter, 80, 8) == 70);
    CHECK(ring_bytes(Collective::all_reduce, 80, 8) == 140);
    CHECK(ring_bytes(Collective::all_reduce, 80, 1) == 0);
}

TEST_CASE("device memory: a gather writes and reads what arrives, a reduction reads its own too",
          "[machine]") {
    CHECK(ring_memory_traffic(Collective::all_gather, 80, 8) == 140);
    CHECK(ring_memory_traffic(Collective::reduce_scatter, 80, 8) == 210);
    CHECK(ring_memory_traffic(Collective::all_reduce, 80, 8) == 350);
}

TEST_CASE("a ring's rate: the links of a node, or its network where that is slower", "[machine]") {
    CHECK(ring_bandwidth(interconnect(), {8, 8}) == 400e9);
    CHECK(ring_bandwidth(interconnect(), {16, 8}) == 320e9);
    CHECK(ring_bandwidth(interconnect(), {16, 1}) == 40e9);
    InterconnectSpec faster = interconnect();
    faster.network_per_gpu = 60e9;
    CHECK(ring_bandwidth(faster, {16, 8}) == 400e9);
}

TEST_CASE("all-gather of 4 GB over 8 GPUs: 8.4 us, seven steps of 3.4 us, 3.5 GB at 400 GB/s",
          "[machine]") {
    const Seconds expected = 8.4e-6 + 7 * 3.4e-6 + 3.5e9 / 400e9;
    CHECK(collective_time(interconnect(), {8, 8}, Collective::all_gather, 4e9) == Approx(expected));
    CHECK(collective_time(interconnect(), {8, 8}, Collective::reduce_scatter, 4e9) ==
          Approx(expected));
}

TEST_CASE("all-gather over two nodes: one of 15 steps is between nodes", "[machine]") {
    const Seconds latency = 8.4e-6 + 14 * 3.4e-6 + 14e-6;
    CHECK(collective_time(interconnect(), {16, 8}, Collective::all_gather, 16e9) ==
          Approx(latency + 15e9 / 320e9));
    // In three messages the bytes are the same, the latency is three times as long.
    CHECK(collective_time(interconnect(), {16, 8}, Collective::all_gather, 16e9, 3) ==
          Approx(3 * latency + 15e9 / 320e9));
}

TEST_CASE("all-reduce: a ring for many bytes, a tree over many nodes for few", "[machine]") {
    CHECK(collective_time(interconnect(), {8, 8}, Collective::all_reduce, 4e9) ==
          Approx(8.4e-6 + 14 * 3.4e-6 + 7e9 / 400e9));
    // 128 nodes: 7 GPUs beyond the first of a node and 7 halvings, up and down.
    const Seconds tree = 8.4e-6 + 2 * (7 * 4e-6 + 7 * 14e-6);
    CHECK(collective_time(interconnect(), {1024, 8}, Collective::all_reduce, 4) ==
          Approx(tree).epsilon(1e-3));
}

TEST_CASE("one GPU has nobody to wait for", "[machine]") {
    CHECK(collective_time({}, {1, 1}, Collective::all_reduce, 4e9) == 0);
}

TEST_CASE("machines: H100 as measured with 2, 4 and 8 GPUs, A100's network at 0.94 of 25 GB/s",
          "[machine]") {
    const InterconnectSpec h100 =
        resolve_machine(read_machine_profile("h100-sxm-pcie5")).interconnect;
    CHECK(h100.gpus_per_node == 8);
    CHECK(ring_bandwidth(h100, {2, 8}) == Approx(329e9));
    CHECK(ring_bandwidth(h100, {4, 8}) == Approx(355e9));
    CHECK(ring_bandwidth(h100, {8, 8}) == Approx(361e9));
    const InterconnectSpec a100 =
        resolve_machine(read_machine_profile("a100-80gb-sxm")).interconnect;
    CHECK(ring_bandwidth(a100, {32, 8}) == Approx(8 * 25e9 * 0.94));
}

TEST_CASE("machines: what is not measured is a share of the datasheet's, and said", "[machine]") {
    const InterconnectSpec b200 = resolve_machine(read_machine_profile("b200-sxm")).interconnect;
    CHECK(b200.bus_by_gpus.at(8) == Approx(900e9 * 361 / 450));
    bool said = false;
    for (const std::string& sentence : b200.assumptions)
        said =
            said || sentence.find("gpu_interconnect.per_direction_gb_per_s") != std::string::npos;
    CHECK(said);
}
