#include "planner-gui/models/scenario_table.h"

#include <QAbstractItemModelTester>
#include <QFont>
#include <QSortFilterProxyModel>
#include <map>

#include "planner-gui/models/table_model.h"
#include "sim/answers/cost/cost.h"
#include "sim/answers/predict/prediction_band.h"
#include "sim/base/format.h"
#include "tests/catch.h"
#include "tests/planner-gui/predicted.h"

namespace sluice {
namespace {

ComparedScenario scenario(const char* name, const char* machine_id, const TrainingSpec& training) {
    const MachineProfile profile = read_machine_profile(machine_id);
    const MachineSpec machine = resolve_machine(profile);
    const ModelSpec model = read_model("qwen2.5-7b");
    auto report = std::make_shared<Prediction>(
        predict(model, machine, training, {.band = Wanted::Band::always}));
    const CostQuery query;
    const CostAnswer answer =
        answer_cost(*report, machine, machine_money(profile, machine, query), query);
    return {QLatin1StringView(name), report, answer.run, answer.payment.has_value()};
}

std::vector<ComparedScenario> two() {
    TrainingSpec larger;
    larger.batch = 64;
    return {scenario("small", "h200-sxm-pcie5-1tb", {}),
            scenario("larger", "h200-sxm-pcie5-1tb", larger)};
}

/// Names of rows and their values in one column.
std::map<QString, QString> column(const QAbstractItemModel& model, int at) {
    std::map<QString, QString> out;
    for (int row = 0; row < model.rowCount(); ++row)
        out[model.headerData(row, Qt::Vertical).toString()] =
            model.index(row, at).data().toString();
    return out;
}

int row_of(const QAbstractItemModel& model, const QString& name) {
    for (int row = 0; row < model.rowCount(); ++row)
        if (model.headerData(row, Qt::Vertical) == name) return row;
    return -1;
}

}  // namespace

TEST_CASE("scenario table: a column a scenario, with the command line's digits", "[models]") {
    TableModel model(nullptr, true);
    const QAbstractItemModelTester tester(&model,
                                          QAbstractItemModelTester::FailureReportingMode::Fatal);
    CHECK(model.rowCount() == 0);
    const std::vector<ComparedScenario> scenarios = two();
    model.setTable(scenario_table(scenarios, ByteUnits::decimal));
    REQUIRE(model.columnCount() == 2);
    CHECK(model.headerData(1, Qt::Horizontal) == QStringLiteral("larger"));
    const auto values = column(model, 1);
    const Prediction& r = *scenarios[1].report;
    CHECK(values.at(QStringLiteral("Batch")) == QStringLiteral("64"));
    CHECK(values.at(QStringLiteral("Fits")) == QStringLiteral("yes"));
    CHECK(values.at(QStringLiteral("Tokens/s")).toStdString() ==
          format_thousands(r.tokens_per_s()));
    CHECK(values.at(QStringLiteral("$ of the run")).toStdString() ==
          format_usd(scenarios[1].cost->usd));
    CHECK(values.count(QStringLiteral("Recompute")) == 0);  // alike in both
    model.setTable(scenario_table({}, ByteUnits::decimal));
    CHECK(model.columnCount() == 0);
}

TEST_CASE("scenario table: rows that differ are marked and can be shown alone", "[models]") {
    TableModel model(nullptr, true);
    model.setTable(scenario_table(two(), ByteUnits::decimal));
    const int batch = row_of(model, QStringLiteral("Batch"));
    const int machine = row_of(model, QStringLiteral("Machine"));
    REQUIRE(batch >= 0);
    REQUIRE(machine >= 0);
    for (int column = 0; column < 2; ++column) {
        const QModelIndex differs = model.index(batch, column), same = model.index(machine, column);
        CHECK(differs.data(TableModel::kMarkedRole).toBool());
        CHECK(differs.data(Qt::FontRole).value<QFont>().bold());
        CHECK(differs.data(Qt::BackgroundRole).isValid());
        CHECK(!same.data(TableModel::kMarkedRole).toBool());
        CHECK(!same.data(Qt::FontRole).isValid());
        CHECK(!same.data(Qt::BackgroundRole).isValid());
    }
    QSortFilterProxyModel differences;
    differences.setSourceModel(&model);
    differences.setFilterRole(TableModel::kMarkedRole);
    differences.setFilterFixedString(QStringLiteral("true"));
    const QAbstractItemModelTester tester(&differences,
                                          QAbstractItemModelTester::FailureReportingMode::Fatal);
    CHECK(differences.rowCount() < model.rowCount());
    CHECK(row_of(differences, QStringLiteral("Batch")) >= 0);
    CHECK(row_of(differences, QStringLiteral("Machine")) == -1);
}

TEST_CASE("scenario table: a machine's long name is cut, and its tooltip has it whole",
          "[models]") {
    std::vector<ComparedScenario> scenarios = two();
    Prediction own = *scenarios[1].report;
    own.asked.machine_id = "our-own-server-of-the-third-rack-in-spring";
    scenarios[1].report = std::make_shared<Prediction>(own);
    TableModel model(nullptr, true);
    model.setTable(scenario_table(scenarios, ByteUnits::decimal));
    const int machine = row_of(model, QStringLiteral("Machine"));
    const QModelIndex known = model.index(machine, 0), cut = model.index(machine, 1);
    CHECK(known.data() == QStringLiteral("h200-sxm-pcie5-1tb"));
    CHECK(cut.data() == QStringLiteral("our-own-server-of-the-third..."));
    CHECK(cut.data(Qt::ToolTipRole).toString().toStdString() == own.asked.machine_id);
    CHECK_THAT(to_csv(model.table()), ContainsSubstring(own.asked.machine_id));
}

TEST_CASE("scenario table: a setting that a system does not have, what does not fit, GiB",
          "[models]") {
    TrainingSpec deep, resident;
    deep.buffer_depth = 3;
    resident.schedule = Schedule("resident");
    TableModel model(nullptr, true);
    const std::vector<ComparedScenario> scenarios = {
        scenario("streamed", "rtx-3090-64gb", deep),
        scenario("resident", "rtx-3090-64gb", resident)};
    REQUIRE(!scenarios[1].report->plan.fit.fits());
    model.setTable(scenario_table(scenarios, ByteUnits::decimal));
    CHECK(column(model, 0).at(QStringLiteral("Weight slots")) == QStringLiteral("3"));
    const auto values = column(model, 1);
    CHECK(values.at(QStringLiteral("Weight slots")) == QStringLiteral("-"));
    CHECK(values.at(QStringLiteral("Tokens/s")) == QStringLiteral("-"));
    CHECK(values.at(QStringLiteral("$ per million tokens")) == QStringLiteral("-"));
    const Fit::OfMemory& device = scenarios[1].report->plan.fit.device();
    const auto short_by = [&](ByteUnits units) {
        return byte_text(static_cast<double>(device.shortfall()), units);
    };
    CHECK(values.at(QStringLiteral("Fits")).contains(short_by(ByteUnits::decimal)));
    model.setTable(scenario_table(scenarios, ByteUnits::binary));
    CHECK(column(model, 1).at(QStringLiteral("Fits")).contains(short_by(ByteUnits::binary)));

    const BarChart bars = scenario_bars(scenarios, ByteUnits::decimal);
    CHECK_THAT(bars.groups.front().bars.back().misfit, ContainsSubstring("device short"));
    const std::string csv = to_csv(model.table());
    CHECK(csv.starts_with(" ,streamed,resident\n"));
    CHECK(std::count(csv.begin(), csv.end(), '\n') == model.rowCount() + 1);
}

}  // namespace sluice
