// Scenarios side by side, and all systems for one model on one machine.
#pragma once

#include <QByteArray>
#include <QWidget>
#include <memory>
#include <vector>

#include "planner-gui/models/scenario_table_model.h"
#include "sim/compare/comparison.h"

class QCheckBox;
class QLabel;
class QSortFilterProxyModel;
class QTableView;
class QTabWidget;

namespace sluice {

class AnswerStack;
class BarChartView;
class FailureLabel;
class SystemsPart;

class ComparePage : public QWidget {
    Q_OBJECT
  public:
    explicit ComparePage(QWidget* parent = nullptr);

    void setScenarios(std::vector<ComparedScenario> scenarios);
    /// Null: none yet.
    void setComparison(std::shared_ptr<const Comparison> comparison);
    /// While a comparison is computed.
    void setBusy(bool busy);
    /// Why there is no comparison, or not of all scenarios: the sentence. What is shown stays.
    void failSystems(const QString& sentence);
    void failScenarios(const QString& sentence);
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
    void showScenarios();
    void fitRows();
    void fitNames();

    std::vector<ComparedScenario> scenarios_;
    ByteUnits units_ = ByteUnits::decimal;

    ScenarioTableModel* scenario_model_;
    QSortFilterProxyModel* differences_;
    QTabWidget* parts_;
    SystemsPart* systems_;
    AnswerStack* stack_;
    QTableView* scenario_table_;
    BarChartView* scenario_bars_;
    QLabel *scenario_words_, *scenario_note_;
    FailureLabel* scenario_failure_;
    QCheckBox* only_differences_;
};

}  // namespace sluice
