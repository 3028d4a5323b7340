#include "engine/kernels/rotary_frequencies.h"

#include <cmath>
#include <numbers>

#include "tests/catch.h"

using namespace sluice;

TEST_CASE("rotary frequencies: pairs turn slower by a power of theta", "[kernels]") {
    const RotaryShape rotary{10000};
    CHECK(rotary_frequency(rotary, 8, 0) == 1.0F);
    CHECK(rotary_frequency(rotary, 8, 1) == 0.1F);
    CHECK(rotary_frequency(rotary, 8, 2) == 0.01F);
    CHECK(rotary_frequency(rotary, 8, 3) == 0.001F);
}

TEST_CASE("rotary frequencies: Llama 3 slows long waves, keeps short ones, blends between",
          "[kernels]") {
    // 100 pi positions hold 50 waves of pair 0, 5 of pair 1, 0.5 of pair 2, 0.05 of pair 3.
    const RotaryShape rotary{10000, 8, 1, 9, 100 * std::numbers::pi};
    CHECK(rotary_frequency(rotary, 8, 0) == 1.0F);
    CHECK(rotary_frequency(rotary, 8, 1) == Approx(0.1 * (0.5 + 0.5 / 8)));  // halfway from 1 to 9
    CHECK(rotary_frequency(rotary, 8, 2) == Approx(0.01 / 8));
    CHECK(rotary_frequency(rotary, 8, 3) == Approx(0.001 / 8));
}

TEST_CASE("rotary frequencies: equal limits leave nothing to blend", "[kernels]") {
    // Pair 0 is one wave in 2 pi positions: exactly at both limits.
    const RotaryShape rotary{10000, 4, 1, 1, 2 * std::numbers::pi};
    CHECK(rotary_frequency(rotary, 8, 0) == 0.25F);
    CHECK(rotary_frequency(rotary, 8, 1) == Approx(0.025));
}
