// The page "Machines": which machine, with which system, is fast for its price?
#pragma once

#include "planner-gui/pages/answer_page.h"
#include "planner-gui/pages/time_left.h"
#include "planner-gui/pictures/pareto.h"

class QCheckBox;
class QComboBox;
class QSpinBox;

namespace sluice {

class PictureTable;
class PictureView;

class ParetoPage : public AnswerPage {
    Q_OBJECT
  public:
    explicit ParetoPage(QWidget* parent = nullptr);

    /// Announces this many rows, which arrive by addRow(). Earlier rows stay until the first
    /// arrives.
    void start(int rows);
    void addRow(const MachineSystem& row);
    void setByteUnits(ByteUnits units) override;

    const std::vector<MachineSystem>& rows() const { return rows_; }
    CostAxis axis() const { return axis_; }
    /// Whether machines without a price are wanted, too.
    bool triesAll() const;
    PictureView* chart() const;
    QByteArray svg() const override;
    QString csv() const override;

  Q_SIGNALS:
    /// The scenario is to take the machine and system of a row.
    void adopted(int row);

  private:
    void showBusy() override;
    QWidget* makeBar();
    void connectParts();
    void showRows();
    void showCheapest();
    void showProgress();

    std::vector<MachineSystem> rows_;
    CostAxis axis_ = CostAxis::usd_per_hour;
    PictureTable* parts_ = nullptr;
    QComboBox* cost_ = nullptr;
    QSpinBox* least_ = nullptr;
    QCheckBox* all_ = nullptr;
    QLabel *progress_ = nullptr, *cheapest_ = nullptr;
    TimeLeft left_;
    ByteUnits units_ = ByteUnits::decimal;
    int expected_ = 0;
};

}  // namespace sluice
