#include "calibrate/cli/progress.h"

#include "tests/catch.h"

using namespace sluice;

TEST_CASE("time left: what was expected, until a case has told how far it is") {
    CHECK(time_left(60, 0, 0) == 60);
    CHECK(time_left(60, 20, 0.01) == 40);
    CHECK(time_left(60, 90, 0.01) == 0);
    CHECK(time_left(60, 10, 0.25) == 30);  // 10 s for a quarter
    CHECK(time_left(60, 10, 1.2) == 0);
}

TEST_CASE("time left in all: this case and those that follow") {
    Progress progress({{"copies", 10}, {"gemm", 70}, {"power", 12}}, stderr, true);
    CHECK(progress.left(0, 0) == 92);
    CHECK(progress.left(0.5, 5) == 87);
}

TEST_CASE("progress: without a terminal one line a case, when it is done") {
    std::FILE* const out = std::tmpfile();
    REQUIRE(out != nullptr);
    Progress progress({{"copies", 10}, {"gemm", 70}}, out, false);
    progress.begin();
    progress.report(0.5);
    progress.end(11.04, "");
    progress.begin();
    progress.end(65, "SM clock 1350 MHz");
    std::rewind(out);
    std::string text(1000, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), out));
    std::fclose(out);
    CHECK(text ==
          "[ 1/2] copies             11.0 s  1:10 left\n"
          "[ 2/2] gemm               65.0 s  0:00 left  SM clock 1350 MHz\n");
}

TEST_CASE("minutes and seconds") {
    CHECK(minutes_and_seconds(0) == "0:00");
    CHECK(minutes_and_seconds(65.4) == "1:05");
    CHECK(minutes_and_seconds(3599.6) == "60:00");
}
