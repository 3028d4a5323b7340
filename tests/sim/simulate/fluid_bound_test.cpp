// The least cost of doing given work, by hand and against points that are feasible.
#include "sim/simulate/fluid_bound.h"

#include <random>

#include "tests/catch.h"

using namespace sluice;

TEST_CASE("fluid bound: two lanes that slow each other down", "[search]") {
    // Alone each does 1 a second, both together 0.6 each: 3 and 2 of work. Both for 2 / 0.6 s
    // leaves 1 of the first: 4.33 s; one after the other: 5 s.
    const std::vector<WorkMode> modes = {{{1, 0}}, {{0, 1}}, {{0.6, 0.6}}};
    CHECK(least_cost(modes, {3, 2}) == Approx(2 / 0.6 + 1));
    // At 0.4 each it is better not to run them together.
    CHECK(least_cost({{{1, 0}}, {{0, 1}}, {{0.4, 0.4}}}, {3, 2}) == Approx(5));
}

TEST_CASE("fluid bound: a mode that is free but takes from another kind of work", "[search]") {
    // Each use of the second mode undoes 1 of the first kind and does 4 of the second.
    CHECK(least_cost({{{1, 0}, 1}, {{-1, 4}, 0}}, {3, 8}) == Approx(5));
    CHECK(least_cost({{{1, 0}, 1}, {{-1, 4}, 0}}, {3, -8}) == Approx(3));
}

TEST_CASE("fluid bound: never above a way to do the work", "[search]") {
    std::mt19937 random(5);
    std::uniform_real_distribution<double> any(0, 1);
    for (int trial = 0; trial < 300; ++trial) {
        std::vector<WorkMode> modes(12);
        std::vector<double> work(4, 0);
        double cost = 0;
        for (WorkMode& mode : modes) {
            const double seconds = any(random) < 0.5 ? 0 : any(random);
            cost += seconds;
            for (double& done : work) {
                mode.progress.push_back(any(random) < 0.4 ? 0 : any(random));
                done += seconds * mode.progress.back();
            }
        }
        CHECK(least_cost(modes, work) <= cost * (1 + 1e-9) + 1e-12);
    }
}
