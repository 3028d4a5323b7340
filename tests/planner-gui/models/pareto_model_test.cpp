#include "planner-gui/models/pareto_model.h"

#include <QAbstractItemModelTester>
#include <QSortFilterProxyModel>

#include "tests/catch.h"
#include "tests/planner-gui/pareto_example.h"

namespace sluice {

TEST_CASE("machines and systems as a table that grows", "[models]") {
    ParetoModel model;
    const QAbstractItemModelTester tester(&model,
                                          QAbstractItemModelTester::FailureReportingMode::Fatal);
    const auto text = [&](int row, int column) {
        return model.index(row, column).data().toString();
    };
    model.add_row(example_row("beaten", 2000, 5));
    CHECK(text(0, ParetoModel::outcome) == QStringLiteral("on the front"));
    model.clear();
    for (const ParetoRow& row : example_rows()) model.add_row(row);
    CHECK(text(0, ParetoModel::outcome) == QStringLiteral("on the front"));
    CHECK(text(1, ParetoModel::outcome) == QStringLiteral("beaten"));
    CHECK(text(2, ParetoModel::outcome)
              .startsWith(QStringLiteral("does not fit: host needs 100.0 GB")));
    model.set_byte_units(ByteUnits::binary);
    CHECK(text(2, ParetoModel::outcome)
              .startsWith(QStringLiteral("does not fit: host needs 93.1 GiB")));
    CHECK(text(0, ParetoModel::band) == QStringLiteral("3,200 to 4,444"));
    CHECK(text(4, ParetoModel::outcome) == QStringLiteral("no price in the machine's profile"));
    CHECK(text(5, ParetoModel::outcome).startsWith(QStringLiteral("refused: ")));
    CHECK(text(3, ParetoModel::outcome) == QStringLiteral("on the front"));
    model.set_axis(CostAxis::usd_per_million_tokens);
    CHECK(text(3, ParetoModel::outcome) == QStringLiteral("beaten"));
}

TEST_CASE("rows that are not in the picture are sorted behind the others", "[models]") {
    ParetoModel model;
    for (const ParetoRow& row : example_rows()) model.add_row(row);
    QSortFilterProxyModel sorted;
    const QAbstractItemModelTester tester(&sorted,
                                          QAbstractItemModelTester::FailureReportingMode::Fatal);
    sorted.setSourceModel(&model);
    sorted.setSortRole(ParetoModel::kSortRole);
    sorted.sort(ParetoModel::usd_per_hour);
    QStringList machines;
    for (int i = 0; i < sorted.rowCount(); ++i)
        machines << sorted.index(i, ParetoModel::machine).data().toString();
    CHECK(machines == QStringList({QStringLiteral("slow"), QStringLiteral("fast"),
                                   QStringLiteral("beaten"), QStringLiteral("small"),
                                   QStringLiteral("unpriced"), QStringLiteral("odd")}));
}

}  // namespace sluice
