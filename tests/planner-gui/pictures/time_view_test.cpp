#include "planner-gui/pictures/time_view.h"

#include "tests/catch.h"

namespace sluice {

TEST_CASE("time and pixels map to each other", "[pictures]") {
    const TimeView view{2, 6, 100, 400};
    CHECK(view.time_to_x(2) == Approx(100));
    CHECK(view.time_to_x(6) == Approx(500));
    CHECK(view.x_to_time(300) == Approx(4));
    CHECK(view.seconds_of(100) == Approx(1));
    for (const double x : {100.0, 137.5, 499.0})
        CHECK(view.time_to_x(view.x_to_time(x)) == Approx(x));
}

TEST_CASE("zoom keeps what is under the pointer", "[pictures]") {
    const TimeView all{0, 10, 100, 1000};
    const TimeView near = all.zoomed(4, 350, 10);
    CHECK(near.length() == Approx(2.5));
    CHECK(near.x_to_time(350) == Approx(all.x_to_time(350)));
    const TimeView back = near.zoomed(0.25, 350, 10);
    CHECK(back.begin == Approx(0).margin(1e-12));
    CHECK(back.end == Approx(10));
}

TEST_CASE("zoom stops at the whole and at the shortest stretch", "[pictures]") {
    TimeView view{0, 10, 0, 1000};
    CHECK(view.zoomed(0.1, 500, 10).length() == Approx(10));
    for (int i = 0; i < 100; ++i) view = view.zoomed(3, 700, 10);
    CHECK(view.length() == Approx(1e-5));
    CHECK(view.begin >= 0);
    CHECK(view.end <= 10);
    // At an edge it shows no time outside.
    const TimeView right = TimeView{8, 10, 0, 1000}.zoomed(0.5, 0, 10);
    CHECK(right.end == Approx(10));
    CHECK(right.begin == Approx(6));
}

TEST_CASE("pan stops at both ends", "[pictures]") {
    const TimeView view{4, 6, 0, 100};
    CHECK(view.panned(50, 10).begin == Approx(5));
    CHECK(view.panned(1e6, 10).end == Approx(10));
    CHECK(view.panned(1e6, 10).length() == Approx(2));
    CHECK(view.panned(-1e6, 10).begin == 0);
}

TEST_CASE("a selected operation is brought into sight", "[pictures]") {
    const TimeView view{4, 6, 0, 100};
    CHECK(view.revealing(5, 5.5, 10).begin == Approx(4));  // is in sight
    CHECK(view.revealing(7, 8, 10).end == Approx(8));
    CHECK(view.revealing(1, 2, 10).begin == Approx(1));
    CHECK(view.revealing(7, 12, 20).begin == Approx(7));  // too long: its start
    const TimeView around = view.around(1, 2, 10);
    CHECK(around.begin == Approx(0.9));
    CHECK(around.end == Approx(2.1));
}

}  // namespace sluice
