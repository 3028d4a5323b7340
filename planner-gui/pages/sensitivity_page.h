// What would more of one thing gain, and what limits then?
#pragma once

#include <QByteArray>
#include <QWidget>
#include <memory>

#include "planner-gui/models/cell_table_model.h"
#include "sim/search/sensitivity.h"

class QLabel;
class QPushButton;
class QTableView;

namespace sluice {

class AdoptionFoot;
class AnswerStack;
class BarChartView;
class FailureLabel;
class OutdatedNote;

class SensitivityPage : public QWidget {
    Q_OBJECT
  public:
    explicit SensitivityPage(QWidget* parent = nullptr);

    /// Null: none yet.
    void setSensitivity(std::shared_ptr<const Sensitivity> sensitivity);
    /// While it is computed.
    void setBusy(bool busy);
    /// Why there is none: the sentence. What is shown stays.
    void fail(const QString& sentence);
    /// Whether the gains are of an earlier scenario.
    void setOutdated(bool outdated);

    QByteArray svg() const;
    QString csv() const;

  Q_SIGNALS:
    void sensitivityRequested();
    /// By a double click on a bar or its row, Enter on them, or the button: the scenario is to take
    /// these flags ("--set link.host_to_device_gb_per_s=110.6 --keep-last-layers 12"). Only of
    /// changes that numbers of the machine make.
    void adopt(const QString& flags, const QString& what);

  private:
    void showSelected(int upgrade);
    void adoptUpgrade(int upgrade);

    std::shared_ptr<const Sensitivity> sensitivity_;
    CellTableModel* model_;
    BarChartView* bars_;
    QTableView* table_;
    QLabel *words_, *note_;
    QPushButton* try_;
    FailureLabel* failure_;
    AdoptionFoot* foot_;
    AnswerStack* stack_;
    OutdatedNote* outdated_;
};

}  // namespace sluice
