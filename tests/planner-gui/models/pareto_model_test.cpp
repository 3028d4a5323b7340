#include "planner-gui/models/pareto_model.h"

#include <QAbstractItemModelTester>

#include "tests/catch.h"
#include "tests/planner-gui/pareto_example.h"

namespace sluice {

TEST_CASE("machines and systems as a table that grows", "[models]") {
    ParetoModel model;
    const QAbstractItemModelTester tester(&model,
                                          QAbstractItemModelTester::FailureReportingMode::Fatal);
    const auto text = [&](int row, const char* column) {
        return model.index(row, model.columnOf(column)).data().toString();
    };
    model.add_row(example_row("beaten", 2000, 5));
    CHECK(text(0, "outcome") == QStringLiteral("on the front"));
    model.clear();
    for (const ParetoRow& row : example_rows()) model.add_row(row);
    CHECK(text(0, "outcome") == QStringLiteral("on the front"));
    CHECK(text(1, "outcome") == QStringLiteral("beaten"));
    CHECK(text(2, "outcome").startsWith(QStringLiteral("does not fit: host needs 100.0 GB")));
    model.set_byte_units(ByteUnits::binary);
    CHECK(text(2, "outcome").startsWith(QStringLiteral("does not fit: host needs 93.1 GiB")));
    CHECK(text(0, "tokens_per_s_{}_percent") == QStringLiteral("3,200 to 4,444"));
    CHECK(text(4, "outcome") == QStringLiteral("no price in the machine's profile"));
    CHECK(text(5, "outcome").startsWith(QStringLiteral("refused: ")));
    CHECK(text(3, "outcome") == QStringLiteral("on the front"));
    model.set_axis(CostAxis::usd_per_million_tokens);
    CHECK(text(3, "outcome") == QStringLiteral("beaten"));
}

TEST_CASE("rows that are not in the picture are sorted behind the others", "[models]") {
    ParetoModel model;
    for (const ParetoRow& row : example_rows()) model.add_row(row);
    NumberSortProxy sorted;
    const QAbstractItemModelTester tester(&sorted,
                                          QAbstractItemModelTester::FailureReportingMode::Fatal);
    sorted.setSourceModel(&model);
    sorted.sort(model.columnOf("usd_per_hour"));
    QStringList machines;
    for (int i = 0; i < sorted.rowCount(); ++i)
        machines << sorted.index(i, model.columnOf("machine")).data().toString();
    CHECK(machines == QStringList({QStringLiteral("slow"), QStringLiteral("fast"),
                                   QStringLiteral("beaten"), QStringLiteral("small"),
                                   QStringLiteral("unpriced"), QStringLiteral("odd")}));
}

}  // namespace sluice
