// Scenarios side by side, and all systems for one model on one machine.
#pragma once

#include <QByteArray>
#include <QWidget>
#include <memory>
#include <vector>

#include "planner-gui/models/cell_table_model.h"
#include "planner-gui/models/scenario_table_model.h"
#include "sim/compare/comparison.h"

class QCheckBox;
class QLabel;
class QPushButton;
class QScrollArea;
class QSortFilterProxyModel;
class QTableView;
class QTabWidget;

namespace sluice {

class AdoptionFoot;
class BarChartView;
class OutdatedNote;

class ComparePage : public QWidget {
    Q_OBJECT
  public:
    explicit ComparePage(QWidget* parent = nullptr);

    void setScenarios(std::vector<ComparedScenario> scenarios);
    /// Null: none yet.
    void setComparison(std::shared_ptr<const Comparison> comparison);
    /// While a comparison is computed.
    void setBusy(bool busy);
    /// Whether the comparison of systems is of an earlier scenario; scenarios side by side are
    /// those of now.
    void setOutdated(bool outdated);
    void setByteUnits(ByteUnits units);
    void setOnlyDifferences(bool only);

    /// Of the part in front; empty where it has nothing to show. Text for people, but for the
    /// systems, whose numbers are in SI units.
    QByteArray svg() const;
    QString csv() const;

  Q_SIGNALS:
    /// All systems are to be predicted.
    void compareRequested();
    /// A scenario's bar or column was chosen.
    void scenarioActivated(int scenario);
    /// By a double click on a system's bar or row, Enter on them, or the button: the scenario is to
    /// take these flags ("--schedule megatrain"). Not of GPUs that train together, which are
    /// another machine.
    void adopt(const QString& flags, const QString& what);

  protected:
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

  private:
    QWidget* scenariosPart();
    QWidget* systemsPart();
    void showScenarios();
    void showSystems();
    void fitHeights();
    void fitRows();
    void showSystem(int system);
    void adoptSystem(int system);

    std::vector<ComparedScenario> scenarios_;
    std::shared_ptr<const Comparison> comparison_;
    ByteUnits units_ = ByteUnits::decimal;

    ScenarioTableModel* scenario_model_;
    QSortFilterProxyModel* differences_;
    CellTableModel* system_model_;
    QTabWidget* parts_;
    QTableView *scenario_table_, *system_table_;
    BarChartView *scenario_bars_, *system_bars_;
    QScrollArea *scenario_area_, *system_area_;
    QLabel *scenario_words_, *scenario_note_, *system_words_, *system_title_, *system_note_;
    QCheckBox* only_differences_;
    QPushButton* compare_;
    AdoptionFoot* foot_;
    OutdatedNote* outdated_;
};

}  // namespace sluice
