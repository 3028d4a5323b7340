#include "planner-gui/pictures/byte_units.h"

#include "planner-gui/pictures/answer_words.h"
#include "tests/catch.h"

namespace sluice {

TEST_CASE("bytes in either unit", "[pictures]") {
    CHECK(byte_text(24.8e9, ByteUnits::decimal) == QStringLiteral("24.8 GB"));
    CHECK(byte_text(24.8e9, ByteUnits::binary) == QStringLiteral("23.1 GiB"));
    CHECK(byte_text(1.5e12, ByteUnits::decimal) == QStringLiteral("1.50 TB"));
    CHECK(byte_text(512, ByteUnits::binary) == QStringLiteral("512 B"));
}

TEST_CASE("reasons in either unit", "[pictures]") {
    ScenarioValue lacks;
    lacks.shortages = {
        {"device", 150'000'000'000, 140'000'000'000, MemoryKind::checkpoints, 88'000'000'000},
        {"host", 2'000'000'000'000, 1'500'000'000'000, MemoryKind::weights, 900'000'000'000}};
    CHECK(reason_text(lacks, ByteUnits::decimal) ==
          QStringLiteral("device needs 150.0 GB, has 140.0 GB (short 10.0 GB); largest: "
                         "checkpoints 88.0 GB; host needs 2.00 TB, has 1.50 TB (short 500.0 GB); "
                         "largest: weights 900.0 GB"));
    CHECK(reason_text(lacks, ByteUnits::binary)
              .startsWith(QStringLiteral("device needs 139.7 GiB, has 130.4 GiB (short 9.3 GiB)")));
    ScenarioValue odd;
    odd.refused = "too odd";
    CHECK(reason_text(odd, ByteUnits::binary) == QStringLiteral("too odd"));
    CHECK(reason_text({}, ByteUnits::binary).isEmpty());
}

}  // namespace sluice
