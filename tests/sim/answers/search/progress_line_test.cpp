#include <algorithm>
#include <string>

#include "sim/cli/progress.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

/// The text of the file after `write` has had it.
template <typename Write>
std::string written(Write write) {
    std::FILE* const file = std::tmpfile();
    REQUIRE(file != nullptr);
    write(file);
    std::string text(static_cast<std::size_t>(std::ftell(file)), '\0');
    std::rewind(file);
    CHECK(std::fread(text.data(), 1, text.size(), file) == text.size());
    std::fclose(file);
    return text;
}

}  // namespace

TEST_CASE("progress: on a terminal the line is cleared before what comes next", "[search]") {
    const std::string text = written([](std::FILE* file) {
        ProgressLine line("sweep", file, true, std::chrono::milliseconds(0));
        show(line, SearchProgress{40, 10, 2, 40});
        line.clear();
        std::fputs("summary\n", file);
    });
    CHECK(text.starts_with("\rsweep: 10 of 40 rows settled, 2 simulated;"));
    CHECK(text.ends_with("\r\033[Ksummary\n"));
}

TEST_CASE("progress: machines are counted as rows are", "[search]") {
    const std::string text = written([](std::FILE* file) {
        ProgressLine line("choose", file, false, std::chrono::milliseconds(0));
        line.show(0, 25, "machines tried");
        line.show(25, 25, "machines tried");  // the answer follows
    });
    CHECK(text == "choose: 0 of 25 machines tried; ? left\n");
}

TEST_CASE("progress: elsewhere each is a line", "[search]") {
    const std::string text = written([](std::FILE* file) {
        ProgressLine line("advise", file, false, std::chrono::milliseconds(0));
        show(line, SearchProgress{10, 0, 0, 40});
        show(line, SearchProgress{40, 20, 3, 40});
    });
    CHECK(std::count(text.begin(), text.end(), '\n') == 2);
    CHECK(text.starts_with("advise: 10 of 40 rows planned, 0 simulated;"));
    CHECK(text.find('\r') == std::string::npos);
}

TEST_CASE("progress: work is counted as it begins, until its end", "[search]") {
    const std::string text = written([](std::FILE* file) {
        ProgressLine line("predict", file, false, std::chrono::milliseconds(0));
        const auto tried = [&](std::size_t begun) {
            line.show([&] { return std::to_string(begun) + " tried"; });
        };
        begin_simulation();
        {
            const WorkWatch watch(tried);
            begin_simulation();
            begin_simulation();
            still_working();
        }
        begin_simulation();
    });
    CHECK(text == "predict: 1 tried\npredict: 2 tried\npredict: 2 tried\n");
}

TEST_CASE("progress: an answer is the same where none is shown", "[search]") {
    CHECK(with_progress("predict", [] { return 5; }) == 5);
}
