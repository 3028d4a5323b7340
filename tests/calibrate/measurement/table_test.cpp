#include <limits>

#include "calibrate/measurement/measurements.h"
#include "sim/base/input_error.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

CaseTable times() { return {"rms_norm", "events", {"rows", "columns", "us"}, {}}; }

}  // namespace

TEST_CASE("table: numbers are found by row and column", "[measurement]") {
    CaseTable table = times();
    table.add({1024, 4096, 12.5});
    table.add({2048, 4096, 22.5});
    CHECK(table.rows.size() == 2);
    CHECK(table.column("columns") == 1);
    CHECK(table.at(1, "us") == 22.5);
}

TEST_CASE("table: a column that is missing is named, with the table and what is near",
          "[measurement]") {
    const CaseTable table = times();
    REQUIRE_THROWS_AS(table.column("row"), InputError);
    REQUIRE_THROWS_WITH(table.column("row"), ContainsSubstring("rms_norm") &&
                                                 ContainsSubstring("no column row") &&
                                                 ContainsSubstring("did you mean \"rows\"?"));
}

TEST_CASE("table: a row of another length or with a number that is none is our own mistake",
          "[measurement]") {
    CaseTable table = times();
    REQUIRE_THROWS_AS(table.add({1, 2}), InternalError);
    REQUIRE_THROWS_WITH(table.add({1, 2}), ContainsSubstring("2 numbers for 3 columns"));
    table.add({1, 2, 3});
    const double none = std::numeric_limits<double>::quiet_NaN();
    const double infinite = std::numeric_limits<double>::infinity();
    REQUIRE_THROWS_AS(table.add({1, 2, infinite}), InternalError);
    REQUIRE_THROWS_WITH(table.add({1, 2, none}),
                        ContainsSubstring("row 1") && ContainsSubstring("us is nan"));
    CHECK(table.rows.size() == 1);
}
