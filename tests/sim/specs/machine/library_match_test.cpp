// Which machine of the library is taken for one with that GPU and so many cores?
#include "sim/specs/machine/library_match.h"

#include "sim/specs/machine/machine_profile.h"
#include "tests/catch.h"

using namespace sluice;

TEST_CASE("library match: the GPU decides, then the number of cores", "[machine]") {
    const auto id = [](const char* gpu, double cores) {
        const std::optional<LibraryMatch> match = library_machine_with(gpu, cores);
        return match ? match->id : "none";
    };
    CHECK(id("NVIDIA H200", 16) == "h200-pcie5-16vcpu-128gib-2");
    CHECK(id("NVIDIA H200", 17) == "h200-pcie5-16vcpu-128gib-2");
    CHECK(id("NVIDIA H200", 96) == "h200-sxm-pcie5");
    CHECK(id("NVIDIA H200 NVL", 16) == "h200-nvl-pcie5");
    CHECK(id("NVIDIA GeForce RTX 4090", 1) == "rtx-4090");
    CHECK(id("NVIDIA", 16) == "none");
    CHECK(id("", 16) == "none");
    CHECK(library_machine_with("NVIDIA H200", 96)->cores == 112);
}
