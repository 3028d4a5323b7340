#include <limits>

#include "engine/optimizer/learning_rate.h"
#include "sim/base/input_error.h"
#include "tests/catch.h"

using namespace sluice;

TEST_CASE("clipping: the factor brings the norm to the limit and never above 1", "[optimizer]") {
    CHECK(clip_factor(4, 1).value() == Approx(1 / (4 + 1e-6)).epsilon(1e-12));
    CHECK(clip_factor(0.5, 1).value() == 1);
    CHECK(clip_factor(0, 1).value() == 1);
    CHECK(clip_factor(1, 1).value() == Approx(1 / (1 + 1e-6)).epsilon(1e-12));  // as torch
    CHECK(clip_factor(1e9, std::numeric_limits<double>::infinity()).value() == 1);
}

TEST_CASE("clipping: a norm that is not finite has no factor", "[optimizer]") {
    CHECK_FALSE(clip_factor(std::numeric_limits<double>::infinity(), 1).has_value());
    CHECK_FALSE(clip_factor(std::numeric_limits<double>::quiet_NaN(), 1).has_value());
}

TEST_CASE("clipping: a limit that is not above 0 is refused", "[optimizer]") {
    CHECK_THROWS_AS(clip_factor(1, 0), InputError);
    CHECK_THROWS_WITH(clip_factor(1, -2), ContainsSubstring("the limit is -2, expected above 0"));
    CHECK_THROWS_AS(clip_factor(1, std::numeric_limits<double>::quiet_NaN()), InputError);
    CHECK_THROWS_AS(clip_factor(-1, 1), InternalError);
}
