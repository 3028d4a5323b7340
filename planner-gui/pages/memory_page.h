// The page "Memory": device and host memory by kind against the available memory, device memory
// over a step, host memory from loading to saving.
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

    /// Empty if there is no report.
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
