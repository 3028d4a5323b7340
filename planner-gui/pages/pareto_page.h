// Which machine, with which system, is fast for its money?
#pragma once

#include <QWidget>

#include "planner-gui/models/pareto_model.h"

class QComboBox;
class QLabel;
class QPushButton;
class QSortFilterProxyModel;
class QTableView;

namespace sluice {

class AdoptionFoot;
class AnswerStack;
class OutdatedNote;
class ParetoChart;

class ParetoPage : public QWidget {
    Q_OBJECT
  public:
    explicit ParetoPage(QWidget* parent = nullptr);

    /// Rows of another model or settings go.
    void clearRows();
    void addRow(const ParetoRow& row);
    /// How many rows will come; shown beside those that have.
    void setExpected(int rows);
    void setRunning(bool running);
    /// Whether the rows are of an earlier scenario.
    void setOutdated(bool outdated);
    void setByteUnits(ByteUnits units);

    const ParetoModel& model() const { return *model_; }
    ParetoChart* chart() const { return chart_; }
    bool isRunning() const { return running_; }
    std::string svg() const { return pareto_svg(model_->rows(), model_->axis()); }
    QString csv() const { return pareto_csv(model_->rows()); }

  Q_SIGNALS:
    /// Rows are wanted: clearRows(), setRunning(true), addRow() one by one, setRunning(false).
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
    void showCurrent();
    void showProgress();

    ParetoModel* model_ = nullptr;
    QSortFilterProxyModel* sorted_ = nullptr;
    ParetoChart* chart_ = nullptr;
    QTableView* table_ = nullptr;
    QComboBox* cost_ = nullptr;
    QPushButton* run_ = nullptr;
    QLabel* progress_ = nullptr;
    AnswerStack* answer_ = nullptr;
    AdoptionFoot* foot_ = nullptr;
    OutdatedNote* note_ = nullptr;
    ByteUnits units_ = ByteUnits::decimal;
    int expected_ = 0;
    bool running_ = false;
};

}  // namespace sluice
