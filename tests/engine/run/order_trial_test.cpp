// In which orders may the operations of a plan complete, and is the result always the same?
#include "tests/engine/run/order_trial.h"

#include <cstdlib>

using namespace sluice;

namespace {

/// The value of an environment variable, or the usual one.
std::uint64_t number_from_environment(const char* name, std::uint64_t usual) {
    const char* const text = std::getenv(name);
    return text == nullptr ? usual : std::strtoull(text, nullptr, 10);
}

}  // namespace

TEST_CASE("orders: 300 plans give the plain run's bits in every order that waits allow", "[run]") {
    const std::uint64_t first = number_from_environment("SLUICE_TRIAL", 0);
    const std::uint64_t count =
        number_from_environment("SLUICE_TRIALS", std::getenv("SLUICE_TRIAL") != nullptr ? 1 : 300);
    int failures = 0;
    for (std::uint64_t seed = first; seed < first + count && failures < 10; ++seed) {
        const std::string failure = run_trial(seed);
        if (failure.empty()) continue;
        ++failures;
        UNSCOPED_INFO(failure);
    }
    CHECK(failures == 0);
}
