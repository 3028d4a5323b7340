#include "planner-gui/pages/time_left.h"

#include "tests/catch.h"

using namespace sluice;

TEST_CASE("time left: the rest takes as long as what is done", "[pages]") {
    const auto left = [](double elapsed, int done, int all) {
        return time_left(elapsed, done, all).toStdString();
    };
    CHECK(left(10, 10, 30) == "about 20 s left");
    CHECK(left(10, 25, 30) == "about 5 s left");
    CHECK(left(60, 10, 40) == "about 3 min left");
    CHECK(left(4, 2, 30).empty());  // too early to say
    CHECK(left(30, 30, 30).empty());
    CHECK(left(0, 0, 30).empty());
}
