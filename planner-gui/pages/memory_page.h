// The page "Memory": device and host by kind against what there is, device bytes over the time of a
// step, and host memory from loading to saving.
#pragma once

#include <QWidget>
#include <memory>

#include "planner-gui/pages/painted_picture.h"
#include "planner-gui/pictures/byte_units.h"
#include "sim/plan/step.h"

class QLabel;

namespace sluice {

class MemoryView;

class MemoryPage : public QWidget {
    Q_OBJECT

  public:
    explicit MemoryPage(QWidget* parent = nullptr);

    void setReport(std::shared_ptr<const TimedPlan> report);
    void setByteUnits(ByteUnits units);

    /// The picture as it is shown, on white. Empty without a report.
    QByteArray svg() const;
    QString csv() const;
    MemoryView* view() const { return view_; }

  private:
    PaintedPicture painted() const;
    void refresh();

    std::shared_ptr<const TimedPlan> report_;
    QLabel* heading_;
    QLabel* shortage_;
    MemoryView* view_;
};

}  // namespace sluice
