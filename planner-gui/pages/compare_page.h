// The page "Compare": scenarios side by side, and all systems for a model on a machine.
#pragma once

#include <vector>

#include "planner-gui/models/scenario_table.h"
#include "planner-gui/pages/answer_page.h"

class QCheckBox;
class QSortFilterProxyModel;
class QTableView;
class QTabWidget;

namespace sluice {

class BarsPage;
class PictureView;
class TableModel;

class ScenariosPart : public AnswerPage {
    Q_OBJECT
  public:
    ScenariosPart();

    void setScenarios(std::vector<ComparedScenario> scenarios);
    void setByteUnits(ByteUnits units) override;
    QByteArray svg() const override;
    QString csv() const override;

  Q_SIGNALS:
    /// The user chose a scenario's bar or column.
    void scenarioActivated(int scenario);

  protected:
    void showEvent(QShowEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

  private:
    QWidget* makeAnswer();
    void showScenarios();
    void fitRows();
    void fitNames();

    std::vector<ComparedScenario> scenarios_;
    ByteUnits units_ = ByteUnits::decimal;
    TableModel* model_;
    QSortFilterProxyModel* differences_;
    QTableView* table_;
    PictureView* bars_;
    QLabel* words_;
    QCheckBox* only_differences_;
};

class ComparePage : public Page {
    Q_OBJECT
  public:
    explicit ComparePage(QWidget* parent = nullptr);

    ScenariosPart& scenarios() { return *scenarios_; }
    BarsPage& systems() { return *systems_; }
    void setByteUnits(ByteUnits units) override;
    /// The tab in front. The CSV of the scenarios has text for people.
    QByteArray svg() const override;
    QString csv() const override;

  private:
    const Page& front() const;

    ScenariosPart* scenarios_;
    BarsPage* systems_;
    QTabWidget* parts_;
};

}  // namespace sluice
