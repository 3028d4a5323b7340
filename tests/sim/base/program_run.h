// The program as people run it: what it prints, its exit status.
#pragma once

#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/sim/base/temporary_folder.h"

namespace sluice::test {

struct Result {
    int status = 0;
    std::string output;  ///< of both streams
};

/// Runs a shell command; `output` is what it leaves on standard output.
inline Result shell(const std::string& command) {
    FILE* const pipe = popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    Result result;
    std::array<char, 4096> buffer{};
    while (const std::size_t n = fread(buffer.data(), 1, buffer.size(), pipe))
        result.output.append(buffer.data(), n);
    result.status = WEXITSTATUS(pclose(pipe));
    return result;
}

inline const std::string kSluice = "'" SLUICE_BINARY "' ";

inline Result run_sluice(const std::string& arguments) {
    return shell(kSluice + arguments + " 2>&1");
}

/// Exit 2, the parts in the message, and one line.
inline void check_sluice_mistake(const std::string& arguments,
                                 const std::vector<std::string>& parts) {
    const Result result = run_sluice(arguments);
    INFO(arguments << "\n" << result.output);
    CHECK(result.status == 2);
    CHECK(std::count(result.output.begin(), result.output.end(), '\n') == 1);
    for (const std::string& part : parts) CHECK_THAT(result.output, ContainsSubstring(part));
}

}  // namespace sluice::test
