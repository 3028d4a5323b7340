#include "planner-gui/pictures/byte_units.h"

#include "tests/catch.h"

namespace sluice {

TEST_CASE("bytes in either unit", "[pictures]") {
    CHECK(byte_text(24.8e9, ByteUnits::decimal) == QStringLiteral("24.8 GB"));
    CHECK(byte_text(24.8e9, ByteUnits::binary) == QStringLiteral("23.1 GiB"));
    CHECK(byte_text(1.5e12, ByteUnits::decimal) == QStringLiteral("1.50 TB"));
    CHECK(byte_text(512, ByteUnits::binary) == QStringLiteral("512 B"));
}

}  // namespace sluice
