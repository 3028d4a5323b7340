// How fast is AdamW by threads where it was not measured?
#include "sim/specs/machine/adam_rule.h"

#include <algorithm>
#include <cmath>

#include "sim/base/units.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/machine/machine_spec.h"
#include "tests/catch.h"

namespace sluice {

TEST_CASE("adam rule: a thread's time and the memory's are added", "[machine]") {
    const double thread = 0.955 * 26 * kGiga;
    const Interpolated rates = AdamRule{.cores = 4, .memory = 4 * thread}.by_threads(12);
    CHECK(rates.at(1) == Approx(thread * 4 / 5));
    CHECK(rates.at(4) == Approx(thread * 2));
    CHECK(rates.points().back().first == 4);
}

TEST_CASE("adam rule: threads that add less than 1% are not used", "[machine]") {
    const double memory = 239 * kGiga;
    const Interpolated rates = AdamRule{.cores = 112, .memory = memory}.by_threads(12);
    const auto& points = rates.points();
    CHECK(points.back().first == 27);
    CHECK(points.back().second < memory);
}

TEST_CASE("adam rule: a published rate is reached, and not exceeded", "[machine]") {
    const double thread = 0.955 * 26 * kGiga;
    const AdamRule rule{.cores = 48, .memory = 239 * kGiga, .known = 3.5 * thread};
    const Interpolated rates = rule.by_threads(12);
    const auto& points = rates.points();
    CHECK(points[2].second == Approx(3 * thread));
    CHECK(points.back().second == Approx(3.5 * thread));
    CHECK_THAT(rule.sentence(), ContainsSubstring("GB/s of its own rate"));
}

TEST_CASE("adam rule: what calibrated machines reach with the memory of their datasheet",
          "[machine]") {
    // Constants from the first H200 machine; the other two and the H100's tested them.
    for (const char* name : {"h200-pcie5-16vcpu-128gib", "h200-pcie5-16vcpu-128gib-2",
                             "h200-pcie5-16vcpu-128gib-3", "h100-pcie5-16vcpu-128gib"}) {
        INFO(name);
        const MachineSpec machine = resolve_machine(read_machine_profile(name));
        const AdamRule rule{.cores = machine.host.cores, .memory = 0.85 * 281.6 * kGiga};
        const Interpolated rates = rule.by_threads(12);
        double sum = 0, worst = 0;
        const auto& measured = machine.host.adam_bytes_per_s.points();
        for (const auto& [threads, rate] : measured) {
            const double error = std::abs(rates.at(threads) / rate - 1);
            sum += error;
            worst = std::max(worst, error);
        }
        CHECK(sum / static_cast<double>(measured.size()) < 0.08);
        CHECK(worst < 0.25);
    }
}

}  // namespace sluice
