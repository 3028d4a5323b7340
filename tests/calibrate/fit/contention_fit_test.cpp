#include "calibrate/fit/contention_fit.h"

#include <algorithm>
#include <random>

#include "calibrate/measurement/measurements.h"
#include "sim/base/input_error.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

/// A machine whose host memory moves at most `limit` GB/s. Adam alone: 20 GB/s a thread up to it.
/// Together, all are slowed by what is asked beyond the limit; the link both ways by 8%. Products
/// take 3% of every copy and lose 2% to them.
struct Machine {
    double limit = 200;
    double drift = 1;  ///< of all rates

    static constexpr double kLink = 55;

    double adam_gb_per_s(double threads) const { return std::min(20 * threads, limit); }

    std::vector<double> row(double state, double threads, bool compute, bool in, bool out,
                            bool held_out) const {
        const double link = (in && out ? 0.92 : 1) * (compute ? 0.97 : 1) * kLink;
        const double work = adam_gb_per_s(threads);
        const double asked = work + (in ? link : 0) + (out ? link : 0);
        const double slow = drift * std::min(1.0, limit / asked);
        return {state,
                threads,
                compute ? 1.0 : 0.0,
                in ? 1.0 : 0.0,
                out ? 1.0 : 0.0,
                slow * work / adam_bytes_per_parameter(state),
                in ? slow * link : 0,
                out ? slow * link : 0,
                compute ? drift * (in || out ? 660 * 0.98 : 660) : 0,
                held_out ? 1.0 : 0.0};
    }
};

CaseTable empty_table() {
    return {"mixed_load",
            "synthetic",
            {"state_bytes", "threads", "compute", "in", "out", "adam_gparams_per_s", "in_gb_per_s",
             "out_gb_per_s", "compute_per_s", "held_out"},
            {}};
}

/// Alone and all subsets of copies, with and without Adam.
void add_block(CaseTable& table, const Machine& machine, double state, double threads,
               bool held_out) {
    table.add(machine.row(state, threads, false, false, false, held_out));
    for (int copies = 1; copies < 4; ++copies) {
        const bool in = (copies & 1) != 0, out = (copies & 2) != 0;
        table.add(machine.row(state, 0, false, in, out, false));
        table.add(machine.row(state, threads, false, in, out, held_out));
    }
}

CaseTable grid(const Machine& machine) {
    CaseTable table = empty_table();
    for (const double threads : {2, 4, 6, 8, 10, 12, 14, 16})
        add_block(table, machine, 12, threads, false);
    for (const double threads : {5, 9, 13}) add_block(table, machine, 12, threads, true);
    return table;
}

std::vector<ContentionPoint> of_lanes(const ContentionFit& fit, bool compute, bool in, bool out) {
    std::vector<ContentionPoint> points;
    for (const ContentionPoint& point : fit.points) {
        if (point.active.compute == compute && point.active.in == in && point.active.out == out)
            points.push_back(point);
    }
    return points;
}

}  // namespace

TEST_CASE("contention: Adam reads the gradient and state, and writes the state", "[fit]") {
    CHECK(adam_bytes_per_parameter(12) == 26);
    CHECK(adam_bytes_per_parameter(6) == 14);
}

TEST_CASE("contention: the curves of a machine that shares its memory", "[fit]") {
    const Machine machine;
    const ContentionFit fit = fit_contention(grid(machine));
    // 8 threads ask for 160 GB/s, copies both ways for 0.92 x 110: 200 of 261.2 for each.
    const Contention contention(fit.points);
    const LaneShares shares = contention.shares({false, true, true, 160e9});
    CHECK(shares.work == Approx(200 / 261.2).margin(0.006));
    CHECK(shares.in == Approx(0.92 * 200 / 261.2).margin(0.006));
    CHECK(shares.out == Approx(0.92 * 200 / 261.2).margin(0.006));
    CHECK(contention.shares({false, true, true, 0}).in == Approx(0.92));
    CHECK(contention.shares({false, true, false, 40e9}).in == Approx(1));
    CHECK(fit.errors[kWork].shapes == 9);
    CHECK(fit.errors[kIn].shapes == 6);
    // 5 threads just exceed the limit, which a line from 4 to 6 threads misses by 4.2%.
    CHECK(fit.errors[kWork].worst_percent < 5);
    CHECK(fit.errors[kIn].worst_percent < 5);
    CHECK(fit.errors[kOut].worst_percent < 5);
    CHECK(fit.errors[kIn].mean_percent < 1.5);
    CHECK_THAT(fit.worst_window,
               ContainsSubstring("Adam (12 bytes of state, ") && ContainsSubstring("measured "));
}

TEST_CASE("contention: noise leaves curves that only fall, with few knots", "[fit]") {
    std::mt19937 random(2);
    std::normal_distribution<double> noise(1, 0.03);
    CaseTable table = grid(Machine{});
    for (auto& row : table.rows) {
        for (const std::size_t rate : {5, 6, 7}) row[rate] *= noise(random);
    }
    const ContentionFit fit = fit_contention(table);
    for (const bool out : {false, true}) {
        const auto points = of_lanes(fit, false, true, out);
        REQUIRE(points.size() >= 2);
        CHECK(points.size() <= 9);
        for (std::size_t i = 1; i < points.size(); ++i) {
            CHECK(points[i - 1].active.work < points[i].active.work);
            CHECK(points[i - 1].shares.in >= points[i].shares.in);
        }
    }
    for (const ContentionPoint& point : fit.points) {
        CHECK(point.shares.in <= 1);
        CHECK(point.shares.work > 0);
    }
    CHECK(fit.errors[kWork].mean_percent < 7);
}

TEST_CASE("contention: shares are of the alone rate measured next to them", "[fit]") {
    CaseTable table = empty_table();
    Machine machine;
    const std::vector<double> drifts = {1, 0.8, 1.1};
    for (const double threads : {4, 8, 16}) {
        for (const double drift : drifts) {
            machine.drift = drift;
            add_block(table, machine, 12, threads, false);
        }
    }
    const Contention contention(fit_contention(table).points);
    // Copies in at 4 threads are undisturbed, whatever the drift.
    CHECK(contention.shares({false, true, false, 80e9}).in == Approx(1).epsilon(1e-9));
}

TEST_CASE("contention: windows held out change errors only", "[fit]") {
    const CaseTable table = grid(Machine{});
    CaseTable absurd = table;
    for (auto& row : absurd.rows) {
        if (row[9] == 1) row[5] *= 2;  // Adam, alone and under contention
    }
    const ContentionFit fit = fit_contention(table), other = fit_contention(absurd);
    REQUIRE(fit.points.size() == other.points.size());
    for (std::size_t i = 0; i < fit.points.size(); ++i) {
        CHECK(fit.points[i].active.work == other.points[i].active.work);
        CHECK(fit.points[i].shares.work == other.points[i].shares.work);
    }
    CHECK(fit.errors[kIn].worst_percent == other.errors[kIn].worst_percent);
    CHECK(other.errors[kWork].mean_percent == Approx(50).margin(3));  // half of what is measured
}

TEST_CASE("contention: Adam's share may rise with its threads, that of copies in only falls",
          "[fit]") {
    CaseTable table = empty_table();
    table.add({12, 0, 0, 1, 0, 0, 50, 0, 0, 0});
    table.add({12, 0, 1, 0, 0, 0, 0, 0, 100, 0});
    const std::vector<std::vector<double>> shares = {{4, 0.4, 0.8}, {8, 0.5, 0.6}, {16, 0.6, 0.7}};
    for (const auto& row : shares) {
        const double threads = row[0], adam = row[1], in = row[2];
        table.add({12, threads, 0, 0, 0, threads, 0, 0, 0, 0});
        table.add({12, threads, 0, 1, 0, adam * threads, in * 50, 0, 0, 0});
        table.add({12, threads, 1, 1, 0, adam * threads, adam * 50, 0, adam * 100, 0});
    }
    const Contention contention(fit_contention(table).points);
    const auto at = [&](double threads) {
        return contention.shares({false, true, false, threads * 26e9});
    };
    CHECK(at(4).work == Approx(0.4));
    CHECK(at(8).work == Approx(0.5));
    CHECK(at(16).work == Approx(0.6));
    CHECK(at(4).in == Approx(0.8));
    CHECK(at(8).in == Approx(0.65));  // 0.6 and 0.7 are pooled
    CHECK(at(16).in == Approx(0.65));
    CHECK(at(2).in == Approx(0.9));  // half way from 1 without Adam
    // With compute, copies in and compute were measured to rise; the fit keeps their mean.
    const LaneShares beside = contention.shares({true, true, false, 16 * 26e9});
    CHECK(beside.in == Approx(0.5));
    CHECK(beside.compute == Approx(0.5));
    CHECK(beside.work == Approx(0.6));
}

TEST_CASE("contention: windows of nearly the same work are one knot", "[fit]") {
    CaseTable table = grid(Machine{});
    add_block(table, Machine{.limit = 202}, 6, 16, false);
    for (const ContentionPoint& point : of_lanes(fit_contention(table), false, true, true))
        CHECK((point.active.work < 199e9 ||
               point.active.work == Approx(200.4e9)));  // of 200 x 4, 202
}

TEST_CASE("contention: products measured at one thread count slow others by a factor", "[fit]") {
    const Machine machine;
    CaseTable table = grid(machine);
    table.add(machine.row(12, 0, true, false, false, false));
    table.add(machine.row(12, 0, true, true, true, false));
    table.add(machine.row(12, 8, true, true, true, false));
    table.add(machine.row(12, 13, true, true, true, true));
    const ContentionFit fit = fit_contention(table);
    const Contention contention(fit.points);
    for (const double work : {0.0, 160e9}) {
        const LaneShares with = contention.shares({true, true, true, work});
        const LaneShares without = contention.shares({false, true, true, work});
        CHECK(with.compute == Approx(0.98));
        CHECK(with.in == Approx(without.in * 0.97).epsilon(0.02));
    }
    CHECK(of_lanes(fit, true, true, true).size() == of_lanes(fit, false, true, true).size());
    CHECK(fit.errors[kCompute].shapes == 1);
    CHECK(fit.errors[kCompute].worst_percent < 0.1);
    CHECK(fit.errors[kIn].worst_percent < 5);
}

TEST_CASE("contention: another precision of the state is found by its traffic", "[fit]") {
    const Machine machine;
    CaseTable table = grid(machine);
    add_block(table, machine, 6, 10, true);
    const ContentionFit fit = fit_contention(table);
    CHECK(fit.errors[kWork].shapes == 12);
    CHECK(fit.errors[kWork].worst_percent < 5);
}

TEST_CASE("contention: a lane without a rate or without its alone rate is refused", "[fit]") {
    const Machine machine;
    CaseTable table = grid(machine);
    table.rows[2][6] = 0;  // Adam and copies in
    REQUIRE_THROWS_AS(fit_contention(table), InputError);
    REQUIRE_THROWS_WITH(fit_contention(table),
                        ContainsSubstring("table mixed_load, row 2: in_gb_per_s is 0") &&
                            ContainsSubstring("sluice-calibrate --only mixed_load"));
    CaseTable lonely = empty_table();
    lonely.add(machine.row(12, 0, false, true, false, false));
    lonely.add(machine.row(12, 4, false, true, false, false));
    REQUIRE_THROWS_WITH(fit_contention(lonely),
                        ContainsSubstring("row 1: adam_gparams_per_s is given with other lanes") &&
                            ContainsSubstring("same threads and state_bytes"));
}

TEST_CASE("contention: pooled windows are compared with rates alone of their own calibration",
          "[fit]") {
    // A calibration ends with what ran together, and the next, 20% slower, begins with it alone.
    CaseTable table = empty_table();
    table.columns.emplace_back(kCalibrationColumn);
    for (const double calibration : {0.0, 1.0}) {
        const Machine machine{200, calibration == 0 ? 1 : 0.8};
        const auto add = [&](double threads, bool in, bool out) {
            std::vector<double> row = machine.row(12, threads, false, in, out, false);
            row.push_back(calibration);
            table.add(std::move(row));
        };
        add(8, false, false);
        add(0, true, false);
        for (int i = 0; i < 5; ++i) add(0, false, true);
        add(8, true, false);
    }
    // Asked for: 160 GB/s of Adam and 55 of copies, of 200.
    const double share = 200 / (160 + Machine::kLink);
    const LoadWindows windows(table);
    int together = 0;
    for (const LoadWindow& window : windows.all()) {
        if (window.lanes() < 2) continue;
        ++together;
        CHECK(window.rate[kWork] / windows.alone(window, kWork) == Approx(share));
        CHECK(window.rate[kIn] / windows.alone(window, kIn) == Approx(share));
    }
    CHECK(together == 2);
    for (const ContentionPoint& point : of_lanes(fit_contention(table), false, true, false)) {
        if (point.active.work > 0) CHECK(point.shares.work == Approx(share));
    }
}
