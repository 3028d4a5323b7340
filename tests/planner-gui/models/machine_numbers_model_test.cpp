#include "planner-gui/models/machine_numbers_model.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>

#include "tests/catch.h"

using namespace sluice;

TEST_CASE("machine numbers model: the numbers that predictions rest on, with their sources",
          "[models]") {
    MachineNumbersModel model;
    const QAbstractItemModelTester tester(&model,
                                          QAbstractItemModelTester::FailureReportingMode::Fatal);
    MachineProfile profile = read_machine_profile("h200-sxm-pcie5-1.5tb");
    model.setMachine(profile, resolve_machine(profile), {});
    REQUIRE(model.rowCount() > 10);
    const auto cell = [&](int row, int column) {
        return model.data(model.index(row, column), Qt::DisplayRole).toString();
    };
    int link = -1;
    for (int row = 0; row < model.rowCount(); ++row)
        if (cell(row, 0) == QStringLiteral("link.host_to_device_gb_per_s")) link = row;
    REQUIRE(link >= 0);
    const Quantity* const number = profile.find("link.host_to_device_gb_per_s");
    CHECK(cell(link, 1).toDouble() == Approx(*number->value));
    CHECK(cell(link, 2).contains(QLatin1String(method_name(number->method))));

    QSignalSpy edited(&model, &MachineNumbersModel::edited);
    CHECK(model.setData(model.index(link, 1), QStringLiteral("100"), Qt::EditRole));
    REQUIRE(edited.count() == 1);
    CHECK(edited[0][0].toString() == QStringLiteral("link.host_to_device_gb_per_s"));
    CHECK(edited[0][1].toString() == QStringLiteral("100"));
    profile.set("link.host_to_device_gb_per_s", 100);
    model.setMachine(profile, resolve_machine(profile), {"link.host_to_device_gb_per_s=100"});
    CHECK(cell(link, 1) == QStringLiteral("100"));
    CHECK(cell(link, 2) == QStringLiteral("your value"));
}
