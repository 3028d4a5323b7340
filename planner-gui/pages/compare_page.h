// Scenarios side by side, and all systems for one model on one machine.
#pragma once

#include <QByteArray>
#include <QWidget>
#include <vector>

#include "planner-gui/models/scenario_table_model.h"

class QCheckBox;
class QLabel;
class QSortFilterProxyModel;
class QTableView;
class QTabWidget;

namespace sluice {

class AnswerStack;
class FailureLabel;
class PictureView;
class SystemsPart;
class TableModel;

class ComparePage : public QWidget {
    Q_OBJECT
  public:
    explicit ComparePage(QWidget* parent = nullptr);

    void setScenarios(std::vector<ComparedScenario> scenarios);
    /// Why not all scenarios are side by side: the sentence. What is shown stays.
    void failScenarios(const QString& sentence);
    void setByteUnits(ByteUnits units);
    SystemsPart& systems() { return *systems_; }

    /// The part in front; empty if it has nothing to show. The CSV of the systems has numbers in SI
    /// units, others have text for people.
    QByteArray svg() const;
    QString csv() const;

  Q_SIGNALS:
    /// A scenario's bar or column was chosen.
    void scenarioActivated(int scenario);

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

    TableModel* scenario_model_;
    QSortFilterProxyModel* differences_;
    QTabWidget* parts_;
    SystemsPart* systems_;
    AnswerStack* stack_;
    QTableView* scenario_table_;
    PictureView* scenario_bars_;
    QLabel* scenario_words_;
    FailureLabel* scenario_failure_;
    QCheckBox* only_differences_;
};

}  // namespace sluice
