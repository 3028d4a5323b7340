#include "engine/machine/thread_placement.h"

#include <algorithm>

#include "tests/catch.h"
#include "tests/engine/machine/fake_machine.h"

using namespace sluice;

namespace {

using Ids = std::vector<int>;

/// One node without second CPUs.
HostFacts one_node(int cpus) {
    HostFacts facts;
    facts.nodes.push_back({0, {}, 64 * kGiB, 60 * kGiB, true});
    for (int id = 0; id < cpus; ++id) {
        facts.nodes[0].cpus.push_back(id);
        facts.cpus.push_back({id, id, 0});
    }
    return facts;
}

HostFacts two_sockets() {
    FakeMachine machine;
    return read_host_facts(machine.two_sockets().root());
}

}  // namespace

TEST_CASE("placement: one node, the CPUs left over are for the other threads", "[machine]") {
    const ThreadPlacement placement =
        choose_placement(one_node(16), {.gpu_numa_node = 0, .optimizer_threads = 12});
    CHECK(placement.optimizer_cpus == Ids{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
    CHECK(placement.other_cpus == Ids{12, 13, 14, 15});
    CHECK(
        placement.text ==
        "optimizer: 12 threads on CPUs 0-11 of node 0 (the GPU's); best for others: CPUs 12-15 of "
        "node 0 (the GPU's)");
    CHECK(placement.notes.empty());
}

TEST_CASE("placement: the GPU's node first, one CPU a core", "[machine]") {
    const ThreadPlacement placement =
        choose_placement(two_sockets(), {.gpu_numa_node = 1, .optimizer_threads = 4});
    CHECK(placement.optimizer_cpus == Ids{4, 5, 6, 7});
    CHECK(placement.other_cpus == Ids{12, 13, 14, 15});
}

TEST_CASE("placement: then cores of the other node, then second CPUs", "[machine]") {
    const ThreadPlacement six =
        choose_placement(two_sockets(), {.gpu_numa_node = 1, .optimizer_threads = 6});
    CHECK(six.optimizer_cpus == Ids{4, 5, 6, 7, 0, 1});
    CHECK(six.other_cpus == Ids{12, 13, 14, 15});
    CHECK(six.text ==
          "optimizer: 6 threads on CPUs 0-1 of node 0 and CPUs 4-7 of node 1 (the GPU's); best "
          "for others: CPUs 12-15 of node 1 (the GPU's)");
    const ThreadPlacement ten =
        choose_placement(two_sockets(), {.gpu_numa_node = 1, .optimizer_threads = 10});
    CHECK(ten.optimizer_cpus == Ids{4, 5, 6, 7, 0, 1, 2, 3, 12, 13});
    // Two free near the GPU are too few for four threads.
    CHECK(ten.other_cpus == Ids{8, 9, 10, 11, 14, 15});
}

TEST_CASE("placement: with too few CPUs the other threads may use all", "[machine]") {
    const ThreadPlacement placement = choose_placement(one_node(2), {.optimizer_threads = 3});
    CHECK(placement.optimizer_cpus == Ids{0, 1});
    CHECK(placement.other_cpus == Ids{0, 1});
    CHECK(placement.text ==
          "optimizer: 3 threads on CPUs 0-1 of node 0; best for others: CPUs 0-1 of node 0");
}

TEST_CASE("placement: without a GPU, or where its node is closed, the node with most CPUs",
          "[machine]") {
    FakeMachine machine;
    machine.two_sockets().allowed("0,4-7", "0-1");
    const HostFacts facts = read_host_facts(machine.root());
    CHECK(choose_placement(facts, {.optimizer_threads = 2}).optimizer_cpus == Ids{4, 5});
    CHECK(choose_placement(facts, {.gpu_numa_node = 7, .optimizer_threads = 2}).optimizer_cpus ==
          Ids{4, 5});
    CHECK(choose_placement(facts, {.gpu_numa_node = 0, .optimizer_threads = 2}).optimizer_cpus ==
          Ids{0, 4});
}

TEST_CASE("placement: a second CPU counts as the core where the first is not allowed",
          "[machine]") {
    FakeMachine machine;
    machine.two_sockets().allowed("1,8-9", "0");
    const ThreadPlacement placement =
        choose_placement(read_host_facts(machine.root()), {.optimizer_threads = 2});
    CHECK(placement.optimizer_cpus == Ids{1, 8});
}

TEST_CASE("placement: unknown CPUs are not pinned to", "[machine]") {
    const ThreadPlacement placement = choose_placement(HostFacts{}, {.optimizer_threads = 1});
    CHECK(placement.optimizer_cpus.empty());
    CHECK(placement.other_cpus.empty());
    CHECK(placement.text == "optimizer: 1 thread, not pinned: the system does not report its CPUs");
}

TEST_CASE("placement: a model larger than the node's free memory goes to the other, in numbers",
          "[machine]") {
    PlacementNeeds needs{.gpu_numa_node = 0, .optimizer_threads = 4, .host_bytes = 60 * kGiB};
    CHECK(choose_placement(two_sockets(), needs).notes.empty());
    needs.host_bytes = 80 * kGiB;
    const ThreadPlacement placement = choose_placement(two_sockets(), needs);
    REQUIRE(placement.notes.size() == 1);
    CHECK(placement.notes[0] ==
          "host memory: 85.9 GB should lie on node 0, which has 64.4 GB free: 21.5 GB will lie on "
          "other nodes and be read through the link between them; free memory on that node, or "
          "drop the "
          "caches of files (sysctl vm.drop_caches=1)");
    // Threads on both nodes touch half each.
    needs.optimizer_threads = 8;
    CHECK(choose_placement(two_sockets(), needs).notes.empty());
}

TEST_CASE("placement: a single node can not spill to another", "[machine]") {
    const PlacementNeeds needs{.optimizer_threads = 2, .host_bytes = 600 * kGiB};
    CHECK(choose_placement(one_node(8), needs).notes.empty());
}

TEST_CASE("placement: every number of threads gets CPUs, each once", "[machine]") {
    const HostFacts facts = two_sockets();
    for (int threads = 1; threads <= 20; ++threads) {
        const ThreadPlacement placement = choose_placement(facts, {.optimizer_threads = threads});
        Ids cpus = placement.optimizer_cpus;
        std::sort(cpus.begin(), cpus.end());
        CAPTURE(threads);
        CHECK(cpus.size() == static_cast<std::size_t>(std::min(threads, 16)));
        CHECK(std::adjacent_find(cpus.begin(), cpus.end()) == cpus.end());
        CHECK(placement.other_cpus.size() >= 4);
        CHECK(std::is_sorted(placement.other_cpus.begin(), placement.other_cpus.end()));
    }
}
