#include <cstdio>

#include "engine/optimizer/adamw.h"
#include "tests/catch.h"
#include "tests/engine/optimizer/test_parameters.h"

using namespace sluice;
using namespace sluice::test;

namespace {

constexpr std::size_t kCount = 200003;

struct Trained {
    Parameters parameters;
    std::vector<float> gradients;
    AdamWStep next;  ///< the step that has not been taken, unclipped
};

/// Parameters of the usual size after `steps` steps, and the gradient of the next one. The
/// gradients of that one are `burst` times as large as those before.
Trained trained(int state_bytes, int steps, float burst) {
    Trained result{{normal_values(kCount, 0.02F, 1), state_bytes}, {}, {}};
    for (result.next.step = 1; result.next.step <= steps; ++result.next.step) {
        result.gradients =
            normal_values(kCount, 0.01F, 10 + static_cast<unsigned>(result.next.step));
        adamw_range(UpdatePass::update, result.next, result.parameters.block(), 0, kCount, true,
                    {nullptr, result.gradients.data()});
    }
    result.gradients = normal_values(kCount, 0.01F * burst, 99);
    return result;
}

void pass(UpdatePass which, Trained& t, float scale) {
    t.next.gradient_scale = scale;
    adamw_range(which, t.next, t.parameters.block(), 0, kCount, true,
                {nullptr, which == UpdatePass::rewind ? nullptr : t.gradients.data()});
}

/// The least bit of a master.
double unit(const Parameters& p, float x) {
    const float size = std::abs(x);
    const double ulp = double{std::nextafter(size, INFINITY)} - double{size};
    return ulp * std::exp2(16 - 8 * static_cast<int>(p.low_bytes()));
}

/// Shares of parameters of which rewinding may change that much: those that the step moved to where
/// numbers are coarser. Rounding changes the last digit of many fp32 masters.
struct Changes {
    double masters, uppers;
};
Changes most_changes(int state_bytes) {
    return state_bytes == 4   ? Changes{0.08, 0.08}
           : state_bytes == 5 ? Changes{0.08, 1e-3}
                              : Changes{1, 1e-4};
}

/// `updated`: with the factor at once; `redone`: update with 1, rewind, redo with the factor.
struct TwoWays {
    Trained updated, redone;
};
TwoWays two_ways(int state_bytes, int steps, float factor) {
    TwoWays ways{trained(state_bytes, steps, 1 / factor), trained(state_bytes, steps, 1 / factor)};
    pass(UpdatePass::update, ways.updated, factor);
    pass(UpdatePass::update, ways.redone, 1);
    pass(UpdatePass::rewind, ways.redone, 1);
    pass(UpdatePass::redo, ways.redone, factor);
    return ways;
}

}  // namespace

TEST_CASE("adamw: rewind gives the parameters back within 2 units in the last place",
          "[optimizer]") {
    for (const int bytes : {12, 8, 6, 5, 4})
        for (const int steps : {0, 5}) {
            Trained after = trained(bytes, steps, 1);
            const Parameters before = after.parameters;
            pass(UpdatePass::update, after, 1);
            const Parameters updated = after.parameters;
            pass(UpdatePass::rewind, after, 1);
            double worst = 0;
            int changed = 0, changed_high = 0, changed_by_update = 0;
            for (std::size_t i = 0; i < kCount; ++i) {
                // A parameter that the step moved far from zero has lost the digits below that.
                const float larger =
                    std::max(std::abs(before.master(i)), std::abs(updated.master(i)));
                const double miss =
                    std::abs(double{after.parameters.master(i)} - double{before.master(i)});
                worst = std::max(worst, miss / unit(before, larger));
                changed += miss > 0;
                changed_high += after.parameters.high[i] != before.high[i];
                changed_by_update += updated.high[i] != before.high[i];
            }
            CAPTURE(bytes, steps);
            CHECK(worst <= 2);
            CHECK(changed_by_update > 0.9 * kCount);
            CHECK(changed_high < most_changes(bytes).uppers * kCount);
            CHECK(changed < most_changes(bytes).masters * kCount);
            CHECK(after.parameters.first == updated.first);
            CHECK(after.parameters.second == updated.second);
            std::printf(
                "rewind %d bytes, step %d: at most %.2f units, %.3f%% of masters and %.6f%% of "
                "their bf16 differ\n",
                bytes, steps + 1, worst, 100.0 * changed / kCount, 100.0 * changed_high / kCount);
        }
}

TEST_CASE("adamw: rewind and redo with a factor end where the clipped update would",
          "[optimizer]") {
    // Unclipped, a moment rounds relative to the unclipped gradient: 2^-24 of that, 1 / factor
    // times as much of the clipped one; squares by 1 / factor^2.
    constexpr double kUnit = 0x1p-23;
    for (const float factor : {0.9F, 0.3F, 0.1F})
        for (const int steps : {0, 5}) {
            const TwoWays ways = two_ways(12, steps, factor);
            double first = 0, second = 0, master = 0;
            for (std::size_t i = 0; i < kCount; ++i) {
                const Parameters &a = ways.updated.parameters, &b = ways.redone.parameters;
                const double g = std::abs(double{ways.updated.gradients[i]});
                first =
                    std::max(first, std::abs(double{a.first_moment(i)} - b.first_moment(i)) /
                                        (kUnit * (std::abs(double{a.first_moment(i)}) + 0.1 * g)));
                second =
                    std::max(second, std::abs(double{a.second_moment(i)} - b.second_moment(i)) /
                                         (kUnit * (double{a.second_moment(i)} + 0.05 * g * g)));
                master = std::max(master, std::abs(double{a.master(i)} - b.master(i)) / 1e-3);
            }
            CAPTURE(factor, steps);
            CHECK(first < 2);
            CHECK(second < 2);
            CHECK(master < 4e-7 / (factor * factor) + 3e-5);
            std::printf(
                "redo with %.1f, step %d: moments within %.2f and %.2f x 2^-23 of the unclipped, "
                "masters within %.1e learning rates\n",
                double{factor}, steps + 1, first, second, master);
        }
}

TEST_CASE("adamw: redo with small moments stays near the clipped update", "[optimizer]") {
    for (const int bytes : {8, 6, 5, 4})
        for (const int steps : {0, 5}) {
            const TwoWays ways = two_ways(bytes, steps, 0.3F);
            double difference = 0, move = 0;
            const Parameters start = trained(bytes, steps, 1).parameters;
            for (std::size_t i = 0; i < kCount; ++i) {
                const double to = ways.updated.parameters.master(i);
                difference += std::pow(to - ways.redone.parameters.master(i), 2);
                move += std::pow(to - start.master(i), 2);
            }
            CAPTURE(bytes, steps);
            const double share = std::sqrt(difference / move);
            CHECK(share < (bytes == 8 ? 0.03 : bytes == 4 ? 0.25 : 0.15));
            std::printf(
                "redo %d bytes, step %d: differs by %.3f of the update (root mean square)\n", bytes,
                steps + 1, share);
        }
}
