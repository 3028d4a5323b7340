// Which share of its rate does each lane have under contention? By hand.
#include <algorithm>

#include "sim/specs/machine/curves.h"
#include "tests/catch.h"

namespace sluice {
namespace {

constexpr bool kOff = false, kOn = true;

/// in beside work, at two amounts of work; in and out, without work and with.
Contention small() {
    return Contention({{{kOff, kOn, kOff, 200}, {1, 0.5, 1, 0.6}},
                       {{kOff, kOn, kOff, 100}, {1, 0.9, 1, 0.8}},
                       {{kOff, kOn, kOn, 0}, {1, 0.85, 0.75, 1}},
                       {{kOff, kOn, kOn, 100}, {1, 0.65, 0.55, 0.5}}});
}

void check(const LaneShares& actual, const LaneShares& expected) {
    CHECK(actual.compute == Approx(expected.compute).epsilon(1e-12));
    CHECK(actual.in == Approx(expected.in).epsilon(1e-12));
    CHECK(actual.out == Approx(expected.out).epsilon(1e-12));
    CHECK(actual.work == Approx(expected.work).epsilon(1e-12));
}

}  // namespace

TEST_CASE("contention: without measurements every lane keeps its rate", "[machine]") {
    CHECK(Contention().empty());
    CHECK_FALSE(small().empty());
    check(Contention().shares({kOn, kOn, kOn, 100}), {1, 1, 1, 1});
}

TEST_CASE("contention: a lane alone keeps its rate, whatever it does", "[machine]") {
    check(small().shares({}), {1, 1, 1, 1});
    check(small().shares({kOn, kOff, kOff, 0}), {1, 1, 1, 1});
    check(small().shares({kOff, kOn, kOff, 0}), {1, 1, 1, 1});
    check(small().shares({kOff, kOff, kOn, 0}), {1, 1, 1, 1});
    check(small().shares({kOff, kOff, kOff, 500}), {1, 1, 1, 1});
}

TEST_CASE("contention: between measurements shares are linear in work, outside constant",
          "[machine]") {
    check(small().shares({kOff, kOn, kOff, 100}), {1, 0.9, 1, 0.8});
    check(small().shares({kOff, kOn, kOff, 200}), {1, 0.5, 1, 0.6});
    // A quarter of the way: 0.9 - 0.25 x 0.4 and 0.8 - 0.25 x 0.2.
    check(small().shares({kOff, kOn, kOff, 125}), {1, 0.8, 1, 0.75});
    check(small().shares({kOff, kOn, kOff, 10}), {1, 0.9, 1, 0.8});
    check(small().shares({kOff, kOn, kOff, 900}), {1, 0.5, 1, 0.6});
    // Both ways, half way from no work.
    check(small().shares({kOff, kOn, kOn, 50}), {1, 0.75, 0.65, 0.75});
    check(small().shares({kOff, kOn, kOn, 0}), {1, 0.85, 0.75, 1});
}

TEST_CASE("contention: lanes that were not measured together keep their rates", "[machine]") {
    check(small().shares({kOff, kOff, kOn, 100}), {1, 1, 1, 1});
}

TEST_CASE("contention: compute that was not measured under contention changes nothing for others",
          "[machine]") {
    check(small().shares({kOn, kOn, kOff, 125}), {1, 0.8, 1, 0.75});
    check(small().shares({kOn, kOn, kOn, 0}), {1, 0.85, 0.75, 1});
    check(small().shares({kOn, kOn, kOff, 0}), {1, 1, 1, 1});
    check(small().shares({kOn, kOff, kOff, 100}), {1, 1, 1, 1});
}

TEST_CASE("contention: compute that was measured under contention yields and takes", "[machine]") {
    std::vector<ContentionPoint> points = small().points();
    points.push_back({{kOn, kOn, kOff, 100}, {0.95, 0.7, 1, 0.75}});
    const Contention contention(points);
    check(contention.shares({kOn, kOn, kOff, 100}), {0.95, 0.7, 1, 0.75});
    check(contention.shares({kOn, kOn, kOff, 300}), {0.95, 0.7, 1, 0.75});
    check(contention.shares({kOff, kOn, kOff, 100}), {1, 0.9, 1, 0.8});  // without compute as ever
    check(contention.shares({kOn, kOn, kOn, 100}), {1, 0.65, 0.55, 0.5});
}

TEST_CASE("contention: the order of the measurements does not matter", "[machine]") {
    std::vector<ContentionPoint> points = small().points();
    std::reverse(points.begin(), points.end());
    for (const double work : {0., 50., 100., 125., 200., 900.}) {
        for (const bool out : {kOff, kOn}) {
            check(Contention(points).shares({kOff, kOn, out, work}),
                  small().shares({kOff, kOn, out, work}));
        }
    }
}

TEST_CASE("contention: shares twice as good give small ones twice as much and halve small losses",
          "[machine]") {
    const Contention faster = small().with_shares(2);
    REQUIRE(faster.points().size() == 4);
    // A share s becomes s / (s + (1 - s) / 2).
    check(faster.shares({kOff, kOn, kOff, 100}), {1, 0.9 / 0.95, 1, 0.8 / 0.9});
    check(faster.shares({kOff, kOn, kOff, 200}), {1, 0.5 / 0.75, 1, 0.6 / 0.8});
    check(faster.shares({kOff, kOn, kOn, 0}), {1, 0.85 / 0.925, 0.75 / 0.875, 1});
    check(small().with_shares(1).shares({kOff, kOn, kOff, 125}), {1, 0.8, 1, 0.75});
    CHECK(Contention().with_shares(2).empty());
}

TEST_CASE("contention: a faster link waits for host memory as long as before", "[machine]") {
    // A copy with 0.5 of its rate waits as long for the others as it takes alone. Alone it then
    // takes half as long: it has 1 / (1 + 2) of its rate, 1.33 times the bytes of before.
    const Contention link = small().with_faster(1, 2, 1);
    check(link.shares({kOff, kOn, kOff, 200}), {1, 1.0 / 3, 1, 0.6});
    check(link.shares({kOff, kOn, kOn, 0}), {1, 0.85 / 1.15, 0.75, 1});
    // Memory twice as fast: half the wait, and twice the work has the same effect.
    const Contention memory = small().with_faster(2, 1, 1);
    check(memory.shares({kOff, kOn, kOff, 400}), {1, 0.5 / 0.75, 1, 0.6 / 0.8});
    check(memory.shares({kOff, kOn, kOff, 200}), {1, 0.9 / 0.95, 1, 0.8 / 0.9});
    // Both: copies keep their shares beside twice the work.
    check(small().with_faster(2, 2, 2).shares({kOff, kOn, kOff, 400}), {1, 0.5, 1, 0.6 / 0.8});
    CHECK(Contention().with_faster(2, 2, 2).empty());
}

}  // namespace sluice
