// The tables of systems, upgrades and measured runs.
#include <QAbstractItemModelTester>
#include <QFont>
#include <QSignalSpy>

#include "planner-gui/models/table_model.h"
#include "planner-gui/pictures/answer_words.h"
#include "sim/answers/search/sensitivity.h"
#include "sim/answers/validate/validation.h"
#include "sim/base/format.h"
#include "sim/report/answers/answer_reports.h"
#include "tests/catch.h"
#include "tests/sim/answers/compare/made_comparison.h"
#include "tests/sim/answers/validate/made_runs.h"

namespace sluice {
namespace {

constexpr auto kFatal = QAbstractItemModelTester::FailureReportingMode::Fatal;

QString cell(const QAbstractItemModel& model, int row, const QString& title) {
    for (int column = 0; column < model.columnCount(); ++column)
        if (model.headerData(column, Qt::Horizontal) == title)
            return model.index(row, column).data().toString();
    return QStringLiteral("no such column");
}

Comparison made() {
    return {{made_system(Schedule("streamed"), 1000), made_system(Schedule("megatrain"), 250),
             made_misfit(Schedule("resident"), 3000, 1500)},
            {"zero-infinity is left out"}};
}

}  // namespace

TEST_CASE("system table: a row a system, nothing of the speed of what does not fit", "[models]") {
    TableModel model;
    const QAbstractItemModelTester tester(&model, kFatal);
    const Comparison all = made();
    model.setTable(systems_table({&all, 1}));
    REQUIRE(model.rowCount() == 3);
    CHECK(cell(model, 0, QStringLiteral("Tokens/s")) == QStringLiteral("1,000"));
    CHECK(cell(model, 0, QStringLiteral("5 to 95%")) == QStringLiteral("909 to 1,111"));
    CHECK(cell(model, 1, QStringLiteral("Speed")) == QStringLiteral("0.25x"));
    CHECK(cell(model, 1, QStringLiteral("Bound by")) == QStringLiteral("optimizer 75%"));
    CHECK(cell(model, 2, QStringLiteral("Fits")) == QStringLiteral("NO"));
    CHECK(cell(model, 2, QStringLiteral("Tokens/s")) == QStringLiteral("-"));
    CHECK(cell(model, 2, QStringLiteral("Device")) == QStringLiteral("90.0 GB"));
    const QModelIndex fits = model.index(2, model.columnOf("fits"));
    CHECK(fits.data(Qt::FontRole).value<QFont>().bold());
    CHECK(fits.data(Qt::ToolTipRole).toString().contains(QStringLiteral("\"Batch\" 5")));
    model.setTable(systems_table({&all, 1}, bytes_text(ByteUnits::binary)), ByteUnits::binary);
    CHECK(cell(model, 2, QStringLiteral("Device")) == QStringLiteral("83.8 GiB"));
}

TEST_CASE("system table: what the comparison says", "[models]") {
    const QStringList sentences = comparison_sentences(made());
    REQUIRE(sentences.size() == 2);
    CHECK(sentences[0].contains(QStringLiteral("with \"Batch\" 5 is faster than streamed")));
    CHECK(sentences[1] == QStringLiteral("Zero-infinity is left out."));
    const Comparison all = made();
    CHECK(system_sentence(all, all.systems[0], ByteUnits::decimal)
              .contains(QStringLiteral(": 1,000 tokens/s, ")));
    const QString misfit = system_sentence(all, all.systems[2], ByteUnits::decimal);
    CHECK(misfit.startsWith(QStringLiteral("resident")));
    CHECK(misfit.contains(QStringLiteral("does not fit: device needs 90.0 GB")));
    CHECK(misfit.contains(QStringLiteral("\"Batch\" 5")));
    CHECK(system_sentence(all, all.systems[2], ByteUnits::binary)
              .contains(QStringLiteral("does not fit: device needs 83.8 GiB")));
}

TEST_CASE("sensitivity table: gains as shares, settings as --set takes them", "[models]") {
    Sensitivity all;
    all.base = made_system(Schedule("streamed"), 1000).report;
    Upgrade link;
    link.name = "link twice as fast";
    link.report = made_system(Schedule("streamed"), 1250).report;
    link.gain = 0.25;
    link.gain_low = 0.2;
    link.gain_high = 0.3;
    link.machine_settings = {{"link.host_to_device_gb_per_s", "110"},
                             {"link.device_to_host_gb_per_s", "111"}};
    all.upgrades = {link};
    TableModel model;
    const QAbstractItemModelTester tester(&model, kFatal);
    model.setTable(upgrades_table(all));
    CHECK(cell(model, 0, QStringLiteral("Gain")) == QStringLiteral("+25.0%"));
    CHECK(cell(model, 0, QStringLiteral("With settings")).isEmpty());
    CHECK(to_csv(upgrades_table(all)) ==
          "name,gain,gain_5_percent,gain_95_percent,tokens_per_s,tokens_per_s_5_percent,"
          "tokens_per_s_95_percent,bottleneck,settings,machine_settings\n"
          "link twice as fast,0.25,0.2,0.3,1250,1136.363636,1388.888889,optimizer,,"
          "link.host_to_device_gb_per_s=110 link.device_to_host_gb_per_s=111\n");
}

TEST_CASE("validation table: errors with their signs, what is outside of its band", "[models]") {
    Validation validation;
    RunComparison near = made_run("near", "held-out", 1.0, 1.01);
    near.predicted.band = {0.9, 1.1};
    near.run.device = 100'000'000'000;
    near.predicted_device = 99'000'000'000;
    RunComparison far = made_run("far", "held-out", 1.0, 0.8);
    far.predicted.band = {0.7, 0.9};
    validation.runs = {near, far, made_run("unbanded", "look", 10, 10)};
    TableModel model;
    model.setTable(validation_table(validation));
    const auto error = [&](int row, const char* key) {
        return model.index(row, model.columnOf(key)).data().toString();
    };
    CHECK(error(0, "throughput_error") == QStringLiteral("-1.0%"));
    CHECK(error(0, "device_error") == QStringLiteral("-1.0%"));
    CHECK(error(0, "host_error") == QStringLiteral("-"));
    const auto is_bold = [&](int row) {
        return model.index(row, model.columnOf("throughput_error"))
            .data(Qt::FontRole)
            .value<QFont>()
            .bold();
    };
    CHECK(!is_bold(0));
    CHECK(is_bold(1));  // 1.0 s is not between 0.7 and 0.9
    CHECK(!is_bold(2));
    CHECK(model.index(1, model.columnOf("throughput_error"))
              .data(Qt::AccessibleTextRole)
              .toString()
              .contains(QStringLiteral("0 of 1 measured steps within the predicted 5 to 95%")));
    CHECK(model.index(0, 0).data(Qt::DecorationRole) == model.index(1, 0).data(Qt::DecorationRole));
    CHECK(model.index(0, 0).data(Qt::DecorationRole) != model.index(2, 0).data(Qt::DecorationRole));

    // 1,000 tokens/s are more than 100, however they are written.
    NumberSortProxy sorted;
    const QAbstractItemModelTester tester(&sorted, kFatal);
    sorted.setSourceModel(&model);
    sorted.sort(model.columnOf("measured.tokens_per_s"), Qt::AscendingOrder);
    CHECK(sorted.index(0, 0).data() == QStringLiteral("unbanded"));
    sorted.sort(0, Qt::AscendingOrder);
    CHECK(sorted.index(0, 0).data() == QStringLiteral("far"));
}

TEST_CASE("table model: rows are added at the end, and a cell changes, without a reset",
          "[models]") {
    TableModel model;
    const QAbstractItemModelTester tester(&model, kFatal);
    Table table{{{"name", "name"}, {"bytes", "bytes", Unit::bytes}}, {{{"a", 1e9}}}};
    model.setTable(table);
    const QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
    const QSignalSpy changes(&model, &QAbstractItemModel::dataChanged);
    table.rows.push_back({{"b", Cell(2e9).hidden_if(true)}});
    model.setTable(table, ByteUnits::decimal);
    CHECK(model.rowCount() == 2);
    CHECK(model.index(0, 1).data() == QStringLiteral("1.0 GB"));
    CHECK(model.index(1, 1).data() == QStringLiteral("-"));
    CHECK_FALSE(model.index(1, 1).data(TableModel::kNumberRole).isValid());
    model.setRow(1, {{"b", 3e9}});
    CHECK(model.index(1, 1).data(TableModel::kNumberRole) == 3e9);
    CHECK(changes.count() == 2);
    CHECK(resets.count() == 0);
    table.rows.clear();
    model.setTable(table);
    CHECK(resets.count() == 1);
}

}  // namespace sluice
