#include "planner-gui/models/machine_numbers.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>

#include "planner-gui/models/table_model.h"
#include "tests/catch.h"

using namespace sluice;

TEST_CASE("numbers of a machine: the numbers that predictions rest on, with their sources",
          "[models]") {
    TableModel model;
    model.setEditable("value");
    const QAbstractItemModelTester tester(&model,
                                          QAbstractItemModelTester::FailureReportingMode::Fatal);
    MachineProfile profile = read_machine_profile("h200-sxm-pcie5-1.5tb");
    model.setTable(machine_numbers_table(profile, resolve_machine(profile), {}));
    REQUIRE(model.rowCount() > 10);
    const auto cell = [&](int row, int column) {
        return model.data(model.index(row, column), Qt::DisplayRole).toString();
    };
    int link = -1;
    for (int row = 0; row < model.rowCount(); ++row)
        if (model.data(model.index(row, 0), Qt::EditRole) ==
            QStringLiteral("link.host_to_device_gb_per_s"))
            link = row;
    REQUIRE(link >= 0);
    // It is shown whole in a narrow column, on several lines.
    CHECK(cell(link, 0).remove(QChar(0x200B)) == QStringLiteral("link.host_to_device_gb_per_s"));
    CHECK(cell(link, 0).count(QChar(0x200B)) == 6);
    CHECK(model.data(model.index(link, 0), Qt::AccessibleTextRole) ==
          QStringLiteral("Number: link.host_to_device_gb_per_s"));  // as it is read out
    const Quantity* const number = profile.find("link.host_to_device_gb_per_s");
    CHECK(cell(link, 1).toDouble() == Approx(*number->value));
    CHECK(cell(link, 2) == QLatin1String(method_name(number->method)));
    CHECK(model.data(model.index(link, 2), Qt::ToolTipRole)
              .toString()
              .contains(QString::fromStdString(number->date)));

    QSignalSpy edited(&model, &TableModel::edited);
    CHECK(model.setData(model.index(link, 1), QStringLiteral(" 100"), Qt::EditRole));
    CHECK(!model.setData(model.index(link, 2), QStringLiteral("100"), Qt::EditRole));
    REQUIRE(edited.count() == 1);
    CHECK(edited[0][0].toInt() == link);
    CHECK(edited[0][1].toString() == QStringLiteral("100"));
    profile.set("link.host_to_device_gb_per_s", 100);
    model.setTable(machine_numbers_table(profile, resolve_machine(profile),
                                         {"link.host_to_device_gb_per_s=100"}));
    CHECK(cell(link, 1) == QStringLiteral("100"));
    CHECK(cell(link, 2) == QStringLiteral("your value"));
}

TEST_CASE("numbers of a machine: the rates of a storage that is not known can be given",
          "[models]") {
    TableModel model;
    MachineProfile profile = read_machine_profile("h200-sxm-pcie5-1.5tb");
    model.setTable(machine_numbers_table(profile, resolve_machine(profile), {}));
    const auto row_of = [&](const char* path) {
        for (int row = 0; row < model.rowCount(); ++row)
            if (model.data(model.index(row, 0), Qt::EditRole) == QLatin1String(path)) return row;
        return -1;
    };
    for (const char* const path : kStorageRates) {
        REQUIRE(row_of(path) >= 0);
        CHECK(model.index(row_of(path), 1).data().toString().isEmpty());
        CHECK(model.index(row_of(path), 2).data() == QStringLiteral("not known"));
        profile.set(path, 6);
    }
    const int rows = model.rowCount();
    model.setTable(
        machine_numbers_table(profile, resolve_machine(profile), {"storage.read_gb_per_s=6"}));
    CHECK(model.rowCount() == rows);
    CHECK(model.index(row_of("storage.read_gb_per_s"), 1).data() == QStringLiteral("6"));
}
