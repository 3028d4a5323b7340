// The page "Money": which ways are there to pay for the run, and when does buying pay off?
#pragma once

#include <memory>

#include "planner-gui/models/table_model.h"
#include "planner-gui/pages/answer_page.h"
#include "planner-gui/session/prediction.h"

namespace sluice {

class FittedTable;
class PictureView;

class MoneyPage : public Page {
    Q_OBJECT
  public:
    explicit MoneyPage(QWidget* parent = nullptr);

    /// Null: there is no prediction.
    void setPrediction(std::shared_ptr<const ScenarioAnswer> prediction);
    void setByteUnits(ByteUnits units) override;
    /// Empty without a picture.
    QByteArray svg() const override;
    QString csv() const override;

  private:
    void refresh();
    /// All words of the selected row, which may be cut in the table.
    void showSelected();

    std::shared_ptr<const ScenarioAnswer> prediction_;
    QLabel *heading_, *words_;
    PictureView* view_;
    TableModel* model_;
    FittedTable* table_;
    QLabel* selected_;
    ByteUnits units_ = ByteUnits::decimal;
};

}  // namespace sluice
