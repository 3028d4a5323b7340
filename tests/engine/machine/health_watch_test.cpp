// Is what goes wrong with a machine told, and once?
#include "engine/machine/health_watch.h"

#include <fmt/format.h>

#include "tests/catch.h"
#include "tests/engine/machine/fake_machine.h"

using namespace sluice;

namespace {

void swap_out(FakeMachine& machine, int mib) {
    machine.file("proc/self/status",
                 fmt::format("VmRSS:\t  8000 kB\nVmSwap:\t {} kB\n", mib << 10));
}

GpuHealth unknown() { return {}; }

}  // namespace

TEST_CASE("health watch: a host that swaps is told, and again when it swaps twice as much",
          "[machine]") {
    FakeMachine machine;
    HealthWatch watch(unknown, machine.root());
    CHECK(watch.news().empty());
    swap_out(machine, 10);  // idle pages
    CHECK(watch.news().empty());
    swap_out(machine, 2000);
    const std::vector<std::string> told = watch.news();
    REQUIRE(told.size() == 1);
    CHECK_THAT(told[0], ContainsSubstring("swapped out 2.1 GB of this run"));
    swap_out(machine, 3000);
    CHECK(watch.news().empty());
    swap_out(machine, 5000);
    CHECK(watch.news().size() == 1);
}

TEST_CASE("health watch: new errors of the GPU's memory are told, older ones are not",
          "[machine]") {
    FakeMachine machine;
    GpuHealth gpu{3, false};
    HealthWatch watch([&] { return gpu; }, machine.root());
    CHECK(watch.news().empty());
    gpu.uncorrected_errors = 4;
    REQUIRE(watch.news().size() == 1);
    CHECK(watch.news().empty());
    gpu = {std::nullopt, true};
    const std::vector<std::string> told = watch.news();
    REQUIRE(told.size() == 1);
    CHECK_THAT(told[0], ContainsSubstring("broken row"));
    gpu = {4, true};
    CHECK(watch.news().empty());
    gpu.uncorrected_errors = 6;
    CHECK_THAT(watch.news().at(0), ContainsSubstring("2 errors"));
}

TEST_CASE("health watch: Xid numbers have words where they are known", "[machine]") {
    CHECK(xid_words(79) == "Xid 79 (the GPU has fallen off the bus)");
    CHECK(xid_words(123456) == "Xid 123456");
}
