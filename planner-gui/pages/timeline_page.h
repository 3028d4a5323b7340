// The page "Timeline": the operations of each lane over a steady step, and when compute waits. A
// measured step can be shown below the predicted one.
#pragma once

#include <memory>

#include "planner-gui/pages/answer_page.h"
#include "sim/plan/step.h"

class QPushButton;
class QScrollBar;

namespace sluice {

class TimelineView;

class TimelinePage : public Page {
    Q_OBJECT

  public:
    explicit TimelinePage(QWidget* parent = nullptr);

    /// Null: says that there is no step to show.
    void setReport(std::shared_ptr<const TimedPlan> report);
    /// Shows a measured step below the predicted one, both from the first compute operation on;
    /// null removes it. A sentence says so if the two have different plans.
    void setMeasured(std::shared_ptr<const TimedPlan> measured);
    /// The report of another scenario. A measured step of the earlier scenario is removed, and a
    /// sentence says so until another one is shown or the page is left.
    void setScenario(std::shared_ptr<const TimedPlan> report);
    /// A sentence why no measured step can be shown. The page keeps what it shows.
    void fail(const QString& sentence);
    void setByteUnits(ByteUnits units) override;

    /// Empty if there is no report.
    QByteArray svg() const override;
    QString csv() const override;
    TimelineView* view() const { return view_; }

  Q_SIGNALS:
    /// The user wants to choose the report of a run (sluice-train --report), which setMeasured()
    /// then gets.
    void measuredReportWanted();
    void measuredTakenAway();

  protected:
    void hideEvent(QHideEvent* event) override;

  private:
    void refresh();
    void write_words();
    void follow_view();

    std::shared_ptr<const TimedPlan> report_, measured_;
    FailureLabel* failure_;
    QLabel* heading_;
    QLabel* bound_;
    QLabel* difference_;
    QLabel* taken_away_;  ///< why the measured step was removed
    QLabel* facts_;
    QPushButton* lay_under_;
    QPushButton* take_away_;
    TimelineView* view_;
    QScrollBar* bar_;
};

}  // namespace sluice
