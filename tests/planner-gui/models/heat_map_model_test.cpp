#include "planner-gui/models/heat_map_model.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>

#include "tests/catch.h"
#include "tests/planner-gui/heat_map_example.h"

namespace sluice {

TEST_CASE("cells of a heat map as a table", "[models]") {
    HeatMapModel model;
    const QAbstractItemModelTester tester(&model,
                                          QAbstractItemModelTester::FailureReportingMode::Fatal);
    model.set_map(example_map());
    REQUIRE(model.rowCount() == 6);
    const auto text = [&](CellIndex at, const char* column) {
        return model.index(model.row_of(at), model.columnOf(column)).data().toString();
    };
    CHECK(model.cell_at(model.row_of({2, 1})) == CellIndex{2, 1});
    CHECK(text({1, 0}, "x") == QStringLiteral("16"));
    CHECK(text({0, 1}, "y") == QStringLiteral("2,048"));
    CHECK(text({1, 0}, "tokens_per_s") == QStringLiteral("3,000"));
    CHECK(text({2, 0}, "state") == QStringLiteral("does not fit"));
    CHECK(text({2, 1}, "tokens_per_s") == QStringLiteral("-"));
    CHECK(text({2, 1}, "reason").contains(QStringLiteral("--micro-batch")));
    CHECK(model.headerData(0, Qt::Horizontal, Qt::DisplayRole).toString() ==
          QStringLiteral("Batch [sequences]"));

    const QSignalSpy changes(&model, &QAbstractItemModel::dataChanged);
    model.set_cell({1, 1}, example_cell(5000, 90'000'000'000));
    CHECK(changes.count() == 1);
    CHECK(text({1, 1}, "tokens_per_s") == QStringLiteral("5,000"));
    model.set_byte_units(ByteUnits::binary);
    CHECK(text({1, 1}, "host_bytes") == QStringLiteral("83.8 GiB"));
    CHECK(text({2, 0}, "reason").startsWith(QStringLiteral("host needs 232.8 GiB, has 222.2 GiB")));
    model.set_map(HeatMap());
    CHECK(model.rowCount() == 0);
}

}  // namespace sluice
