// Scenarios side by side: a column each, a row a quantity or setting, and which rows differ.
#pragma once

#include <QAbstractTableModel>
#include <memory>
#include <optional>
#include <vector>

#include "planner-gui/pictures/byte_units.h"
#include "sim/answers/cost/run_cost.h"
#include "sim/answers/predict/prediction.h"
#include "sim/report/compare/speed_bars.h"

namespace sluice {

struct ComparedScenario {
    QString name;
    std::shared_ptr<const Prediction> report;  ///< with its band; not null
    std::optional<RunCost> cost;               ///< of a run; its money counts only where `priced`
    bool priced = false;
};

/// What is asked, then what is predicted. Of the training settings those that differ anywhere, and
/// system, batch and sequence always; "-" where a system does not have a setting.
class ScenarioTableModel : public QAbstractTableModel {
    Q_OBJECT
  public:
    /// Role of a bool, of cells and of headers of rows: whether the row's values differ.
    static constexpr int kDiffersRole = Qt::UserRole + 1;

    using QAbstractTableModel::QAbstractTableModel;

    void setScenarios(std::vector<ComparedScenario> scenarios);
    void setByteUnits(ByteUnits units);

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation,
                        int role = Qt::DisplayRole) const override;

  private:
    struct Row {
        QString name, tooltip;
        QStringList values;  ///< one a scenario
        bool differs() const;
    };
    void build();
    template <typename Value>
    void add(const QString& name, const QString& tooltip, Value value);
    void addAsked();
    void addMemory();
    void addSpeed();
    void addMoney();

    std::vector<ComparedScenario> scenarios_;
    std::vector<Row> rows_;
    ByteUnits units_ = ByteUnits::decimal;
};

/// Tokens/s of each with its band; grey where it does not fit.
SpeedBars scenario_bars(const std::vector<ComparedScenario>& scenarios, ByteUnits units);

}  // namespace sluice
