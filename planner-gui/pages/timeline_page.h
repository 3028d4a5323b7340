// The page "Timeline": what each lane does over a steady step, and when compute waits; a measured
// step can be laid under the predicted one.
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

    /// None: says that there is no step to show.
    void setReport(std::shared_ptr<const TimedPlan> report);
    /// Laid under the predicted step, both from the first compute operation on; none: taken away. A
    /// sentence says so where the two are of different plans.
    void setMeasured(std::shared_ptr<const TimedPlan> measured);
    /// The report of another scenario: a measured step under the one before is taken away, and a
    /// sentence says so until another is laid under or the page is left.
    void setScenario(std::shared_ptr<const TimedPlan> report);
    /// Why no measured step can be laid under: the sentence. What is shown stays.
    void fail(const QString& sentence);
    void setByteUnits(ByteUnits units) override;

    /// Empty without a report.
    QByteArray svg() const override;
    QString csv() const override;
    TimelineView* view() const { return view_; }

  Q_SIGNALS:
    /// The report of a run (sluice-train --report) shall be chosen, and given to setMeasured().
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
    QLabel* taken_away_;  ///< why there is no measured step any more
    QLabel* facts_;
    QPushButton* lay_under_;
    QPushButton* take_away_;
    TimelineView* view_;
    QScrollBar* bar_;
};

}  // namespace sluice
