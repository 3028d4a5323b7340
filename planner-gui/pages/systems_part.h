// All systems for one model on one machine: bars and a table.
#pragma once

#include <QByteArray>
#include <QWidget>
#include <memory>

#include "planner-gui/models/cell_table_model.h"
#include "planner-gui/pictures/byte_units.h"
#include "sim/compare/comparison.h"

class QLabel;
class QPushButton;
class QTableView;

namespace sluice {

class AdoptionFoot;
class AnswerStack;
class BarChartView;
class FailureLabel;
class OutdatedNote;

class SystemsPart : public QWidget {
    Q_OBJECT
  public:
    explicit SystemsPart(QWidget* parent = nullptr);

    /// Null: none yet.
    void setComparison(std::shared_ptr<const Comparison> comparison);
    void setBusy(bool busy);
    void fail(const QString& sentence);
    void setOutdated(bool outdated);
    void setByteUnits(ByteUnits units);

    /// Empty without a comparison.
    QByteArray svg() const;
    QString csv() const;

  Q_SIGNALS:
    void compareRequested();
    void adopt(const QString& flags, const QString& what);

  private:
    void connectParts();
    void showComparison();
    void showSelected(int system);
    void adoptSystem(int system);

    std::shared_ptr<const Comparison> comparison_;
    ByteUnits units_ = ByteUnits::decimal;

    CellTableModel* model_;
    BarChartView* bars_;
    QTableView* table_;
    QLabel *words_, *title_, *note_;
    QPushButton* compare_;
    FailureLabel* failure_;
    AdoptionFoot* foot_;
    AnswerStack* stack_;
    OutdatedNote* outdated_;
};

}  // namespace sluice
