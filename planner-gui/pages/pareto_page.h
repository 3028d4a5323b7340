// Which machine, with which system, is fast for its money?
#pragma once

#include <QWidget>

#include "planner-gui/models/pareto_model.h"

class QComboBox;
class QLabel;
class QPushButton;
class QSortFilterProxyModel;
class QSpinBox;
class QTableView;

namespace sluice {

class AdoptionFoot;
class AnswerStack;
class FailureLabel;
class OutdatedNote;
class ParetoChart;

class ParetoPage : public QWidget {
    Q_OBJECT
  public:
    explicit ParetoPage(QWidget* parent = nullptr);

    /// So many rows will come by addRow(). Those of before stay until the first of them.
    void start(int rows);
    void addRow(const ParetoRow& row);
    /// The run has ended, or was stopped.
    void setFinished();
    /// Why there are no rows, or no more: the sentence. What is shown stays.
    void fail(const QString& sentence);
    /// Whether the rows are of an earlier scenario.
    void setOutdated(bool outdated);
    void setByteUnits(ByteUnits units);

    const ParetoModel& model() const { return *model_; }
    ParetoChart* chart() const { return chart_; }
    bool isRunning() const { return running_; }
    std::string svg() const { return pareto_svg(model_->rows(), model_->axis()); }
    QString csv() const { return pareto_csv(model_->rows()); }

  Q_SIGNALS:
    /// Rows are wanted: start(), addRow() one by one, setFinished().
    void paretoRequested();
    void stopRequested();
    /// Machine and system of a row are to become the scenario's.
    void adopted(const QString& machine, const QString& system);

  private:
    QWidget* makeBar();
    void connectParts();
    void adopt();
    std::optional<std::size_t> current() const;
    void showChart();
    void showCheapest();
    void showCurrent();
    void showProgress();

    ParetoModel* model_ = nullptr;
    QSortFilterProxyModel* sorted_ = nullptr;
    ParetoChart* chart_ = nullptr;
    QTableView* table_ = nullptr;
    QComboBox* cost_ = nullptr;
    QSpinBox* least_ = nullptr;
    QPushButton* run_ = nullptr;
    FailureLabel* failure_ = nullptr;
    QLabel *progress_ = nullptr, *cheapest_ = nullptr;
    AnswerStack* answer_ = nullptr;
    AdoptionFoot* foot_ = nullptr;
    OutdatedNote* note_ = nullptr;
    ByteUnits units_ = ByteUnits::decimal;
    int expected_ = 0;
    bool running_ = false, of_before_ = false;  ///< rows are of an earlier run
};

}  // namespace sluice
