#include "planner-gui/pages/page_parts.h"

#include "tests/catch.h"

namespace sluice {

TEST_CASE("page parts: the widest columns give way", "[pages]") {
    // 100 stays, the other two share 400 - 100.
    CHECK(common_most({300, 100, 200}, 400, 50) == 150);
    CHECK(common_most({300, 100, 200}, 600, 50) == 300);
    CHECK(common_most({300, 100, 200}, 90, 50) == 50);
}

TEST_CASE("page parts: keys go along a row or a column", "[pages]") {
    CHECK(selected_by_key(Qt::Key_Down, -1, 3, Qt::Vertical) == 0);
    CHECK(selected_by_key(Qt::Key_Down, 2, 3, Qt::Vertical) == 2);
    CHECK(selected_by_key(Qt::Key_Up, 2, 3, Qt::Vertical) == 1);
    CHECK(selected_by_key(Qt::Key_Right, 1, 3, Qt::Vertical) == std::nullopt);
    CHECK(selected_by_key(Qt::Key_Right, 1, 3, Qt::Horizontal) == 2);
    CHECK(selected_by_key(Qt::Key_Up, 0, 3, Qt::Horizontal) == 1);
    CHECK(selected_by_key(Qt::Key_Left, -1, 3, Qt::Horizontal) == 2);
    CHECK(selected_by_key(Qt::Key_Home, 2, 3, Qt::Horizontal) == 0);
    CHECK(selected_by_key(Qt::Key_End, -1, 3, Qt::Vertical) == 2);
    CHECK(selected_by_key(Qt::Key_A, 1, 3, Qt::Vertical) == std::nullopt);
    CHECK(selected_by_key(Qt::Key_Home, -1, 0, Qt::Vertical) == std::nullopt);
}

}  // namespace sluice
