#include "planner-gui/pages/fitted_table.h"

#include "tests/catch.h"

namespace sluice {

TEST_CASE("fitted table: the widest columns give way", "[pages]") {
    // 100 stays, the other two share 400 - 100.
    CHECK(common_most({300, 100, 200}, 400, 50) == 150);
    CHECK(common_most({300, 100, 200}, 600, 50) == 300);
    CHECK(common_most({300, 100, 200}, 90, 50) == 50);
}

}  // namespace sluice
