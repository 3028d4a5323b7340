// Is a lack of memory one sentence, wherever in a prediction it comes?
#include <fmt/format.h>

#include "tests/sim/base/program_run.h"

using namespace sluice;
using namespace sluice::test;

// The sanitizers reserve far more than this.
#if !defined(__SANITIZE_ADDRESS__)
TEST_CASE("program: under each limit of memory there is an answer or one sentence", "[cli]") {
    for (const int mib : {64, 80, 96, 112, 4096}) {
        const Result result = shell(
            fmt::format("ulimit -v {}; {} predict --model qwen2.5-7b --machine h100-sxm-pcie5 "
                        "--batch 8 --plan given 2>&1",
                        mib << 10, kSluice));
        CAPTURE(mib, result.output);
        if (mib == 4096) CHECK(result.status == 0);
        if (result.status == 0 || result.output.find("shared libraries") != std::string::npos)
            continue;
        CHECK(result.status == 1);
        // A thread needs memory, too, and glibc 2.41 needs it before the program does.
        CHECK_THAT(result.output, ContainsSubstring("the system gives no more memory") ||
                                      ContainsSubstring("the system starts no more threads"));
        CHECK(std::count(result.output.begin(), result.output.end(), '\n') == 1);
    }
}
#endif
