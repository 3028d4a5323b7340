// Which machine, with which system, is fast for its money?
#pragma once

#include "planner-gui/models/pareto_model.h"
#include "planner-gui/pages/answer_page.h"

class QComboBox;
class QLabel;
class QPushButton;
class QSpinBox;
class QTableView;

namespace sluice {

class AdoptionFoot;
class PictureView;

class ParetoPage : public AnswerPage {
    Q_OBJECT
  public:
    explicit ParetoPage(QWidget* parent = nullptr);

    /// So many rows will come by addRow(). Those of before stay until the first of them.
    void start(int rows);
    void addRow(const ParetoRow& row);
    void setByteUnits(ByteUnits units);

    const ParetoModel& model() const { return *model_; }
    PictureView* chart() const { return chart_; }
    QByteArray svg() const;
    QString csv() const { return pareto_csv(model_->rows()); }

  Q_SIGNALS:
    /// Rows are wanted: start(), addRow() one by one, setBusy(false).
    void paretoRequested();
    void stopRequested();
    /// Machine and system of a row are to become the scenario's.
    void adopted(const QString& machine, const QString& system);

  private:
    void showBusy() override;
    QWidget* makeBar();
    void connectParts();
    void adopt();
    std::optional<std::size_t> current() const;
    /// The same as an id of the picture.
    int shown() const;
    void showChart();
    void showCheapest();
    void showCurrent();
    void showProgress();

    ParetoModel* model_ = nullptr;
    NumberSortProxy* sorted_ = nullptr;
    PictureView* chart_ = nullptr;
    QTableView* table_ = nullptr;
    QComboBox* cost_ = nullptr;
    QSpinBox* least_ = nullptr;
    QPushButton* run_ = nullptr;
    QLabel *progress_ = nullptr, *cheapest_ = nullptr;
    AdoptionFoot* foot_ = nullptr;
    ByteUnits units_ = ByteUnits::decimal;
    int expected_ = 0;
};

}  // namespace sluice
