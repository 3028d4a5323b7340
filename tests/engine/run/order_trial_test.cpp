// In which orders may the operations of a plan complete, and is the result always the same?
#include "tests/engine/run/order_trial.h"

#include "tests/trials.h"

using namespace sluice;

TEST_CASE("orders: 300 plans give the plain run's bits in every order that waits allow", "[run]") {
    const auto [first, count] = trials(300);
    int failures = 0;
    for (std::uint64_t seed = first; seed < first + count && failures < 10; ++seed) {
        const std::string failure = run_trial(seed);
        if (failure.empty()) continue;
        ++failures;
        UNSCOPED_INFO(failure);
    }
    CHECK(failures == 0);
}
