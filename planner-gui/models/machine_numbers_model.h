// The numbers of a machine that a prediction rests on, as rows: name, value now, where it is from.
// A value can be replaced.
#pragma once

#include <QAbstractTableModel>
#include <QString>
#include <vector>

#include "sim/specs/machine/machine_spec.h"

namespace sluice {

class MachineNumbersModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    enum Column { PathColumn, ValueColumn, SourceColumn, kColumns };

    explicit MachineNumbersModel(QObject* parent = nullptr);
    /// Those of machine.inputs that are single numbers, and the rates of a storage that is not
    /// known, to be given. `profile` has what-if values; `settings` are these, "PATH=NUMBER".
    void setMachine(const MachineProfile& profile, const MachineSpec& machine,
                    const std::vector<std::string>& settings);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;
    /// Emits edited(); what it then is comes with setMachine().
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;

  Q_SIGNALS:
    /// An empty value: as the profile says.
    void edited(QString path, QString value);

  private:
    struct Row {
        QString path, value, source, details;
        bool changed = false;
        bool operator==(const Row&) const = default;
    };
    std::vector<Row> rows_;
};

}  // namespace sluice
