// The page "Memory": device and host by kind against what there is, device bytes over the time of a
// step, and host memory from loading to saving.
#pragma once

#include <memory>

#include "planner-gui/pages/answer_page.h"
#include "sim/plan/step.h"

namespace sluice {

class PictureView;

class MemoryPage : public Page {
    Q_OBJECT

  public:
    explicit MemoryPage(QWidget* parent = nullptr);

    void setReport(std::shared_ptr<const TimedPlan> report);
    void setByteUnits(ByteUnits units) override;

    /// Empty without a report.
    QByteArray svg() const override;
    QString csv() const override;
    PictureView* view() const { return view_; }

  private:
    void refresh();

    std::shared_ptr<const TimedPlan> report_;
    QLabel* heading_;
    QLabel* shortage_;
    PictureView* view_;
    ByteUnits units_ = ByteUnits::decimal;
};

}  // namespace sluice
