// Does a history keep the course of a long run in few points, and go on from a log?
#include "engine/watch/run_history.h"

#include <unistd.h>

#include <fstream>

#include "tests/catch.h"
#include "tests/engine/data/temp_folder.h"

using namespace sluice;

namespace {

/// Memory of this process, in bytes.
Bytes resident_now() {
    Bytes all = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> all >> resident;
    return resident * ::sysconf(_SC_PAGESIZE);
}

}  // namespace

TEST_CASE("run history: few steps are kept as they are", "[watch]") {
    RunHistory history;
    history.add({{"step", 1}, {"loss", 4.0}, {"redone", false}});
    history.add({{"step", 2}, {"loss", 3.0}, {"validation_loss", 3.5}});
    const std::vector<Point> loss = history.series("loss").points();
    REQUIRE(loss.size() == 2);
    CHECK(loss[1].x == 2);
    CHECK(loss[1].y == 3.0);
    CHECK(history.series("validation_loss").points().size() == 1);
    CHECK(history.series("redone").points().empty());
    CHECK(history.series("loss").values_per_point() == 1);
}

TEST_CASE("run history: a week of steps becomes at most 1,000 means", "[watch]") {
    ThinnedSeries series;
    constexpr int kSteps = 600'000;
    for (int step = 1; step <= kSteps; ++step) series.add(step, 2.0 * step);
    const std::vector<Point> points = series.points();
    CHECK(points.size() <= 1000);
    CHECK(points.size() >= 400);
    double sum = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
        CHECK(points[i].y == Approx(2 * points[i].x));
        if (i > 0) CHECK(points[i].x > points[i - 1].x);
        if (i + 1 < points.size())
            sum += points[i].x * static_cast<double>(series.values_per_point());
    }
    // All but the last are whole groups: their sum is that of the first steps.
    const double whole =
        static_cast<double>(points.size() - 1) * static_cast<double>(series.values_per_point());
    CHECK(sum == Approx(whole * (whole + 1) / 2));
}

TEST_CASE("run history: where a run went on, its lines replace those of the run before",
          "[watch]") {
    const TempFolder temp;
    std::string log;
    const auto write = [&](int first, int last, int run) {
        for (int step = first; step <= last; ++step)
            log += "{\"step\":" + std::to_string(step) + ",\"loss\":" + std::to_string(run) + "}\n";
    };
    write(1, 50, 1);  // killed; its checkpoint is of step 40
    write(41, 45, 2);
    write(44, 44, 3);
    RunHistory history;
    history.read_log(temp.write("log", log), 44);
    const std::vector<Point> loss = history.series("loss").points();
    REQUIRE(loss.size() == 44);
    CHECK(loss[39].y == 1);
    CHECK(loss[40].y == 2);
    CHECK(loss[42].y == 2);
    CHECK(loss[43].y == 3);
}

#if !defined(__SANITIZE_ADDRESS__)  // it keeps freed memory for a while
TEST_CASE("run history: a log takes little memory, however long the run is", "[watch]") {
    const TempFolder temp;
    {
        std::ofstream log(temp.path("log"));
        for (int step = 1; step <= 100'000; ++step)
            log << "{\"step\":" << step << R"(,"loss":2.5,"gradient_norm":1,"step_s":0.1})" << '\n';
    }
    const Bytes before = resident_now();
    RunHistory history;
    history.read_log(temp.path("log"), 100'000);
    CHECK(history.series("loss").points().size() >= 400);
    CHECK(resident_now() - before < 10'000'000);  // 8 bytes a step, and parts of one line
}
#endif

TEST_CASE("run history: of a log the later line of a step counts, up to where the run goes on",
          "[watch]") {
    const TempFolder temp;
    temp.write("log",
               "{\"step\":1,\"loss\":5}\n{\"step\":2,\"loss\":4}\nno line\n[1]\n{\"step\":\"x\"}\n"
               "{\"step\":2,\"loss\":3}\n{\"step\":3,\"loss\":2}\n{\"step\":4,\"lo");
    RunHistory history;
    history.read_log(temp.path("log"), 2);
    history.read_log(temp.path("none"), 2);
    const std::vector<Point> loss = history.series("loss").points();
    REQUIRE(loss.size() == 2);
    CHECK(loss[0].y == 5);
    CHECK(loss[1].y == 3);
}
