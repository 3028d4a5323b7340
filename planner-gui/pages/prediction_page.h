// A page that shows one picture of the prediction, as "Memory" does: a name, a function that draws
// and a function that makes the table.
#pragma once

#include <memory>

#include "planner-gui/pages/answer_page.h"
#include "sim/plan/step.h"
#include "sim/report/picture.h"
#include "sim/report/table.h"

namespace sluice {

class PictureView;

class PredictionPage : public Page {
    Q_OBJECT

  public:
    struct Shown {
        QString name;  ///< of the picture, for people who do not see it
        std::function<Picture(const TimedPlan&, ByteUnits, const PictureSpace&)> picture;
        std::function<Table(const TimedPlan&)> table;  ///< as CSV
    };
    explicit PredictionPage(Shown shown, QWidget* parent = nullptr);

    void setReport(std::shared_ptr<const TimedPlan> report);
    void setByteUnits(ByteUnits units) override;

    /// Empty if there is no report.
    QByteArray svg() const override;
    QString csv() const override;
    PictureView* view() const { return view_; }

  private:
    void refresh();

    const Shown shown_;
    std::shared_ptr<const TimedPlan> report_;
    QLabel* heading_;
    QLabel* shortage_;
    PictureView* view_;
    ByteUnits units_ = ByteUnits::decimal;
};

}  // namespace sluice
