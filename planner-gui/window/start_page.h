// Which model does a newcomer want to train, by when and for how much? The first page of the
// window, which answers with a machine and two alternatives.
#pragma once

#include <QLabel>
#include <QWidget>
#include <memory>
#include <vector>

#include "planner-gui/pages/time_left.h"
#include "planner-gui/session/planner_session.h"
#include "planner-gui/window/start_question.h"
#include "sim/specs/scenario/project_file.h"

class QProgressBar;
class QPushButton;
class QVBoxLayout;

namespace sluice {

class FieldRow;
class StartCards;
class StartForm;

class StartPage : public QWidget {
    Q_OBJECT
  public:
    explicit StartPage(PlannerSession& session, QWidget* parent = nullptr);

    /// The row of one of asked_run_fields().
    FieldRow* row(const std::string& field) const;
    QPushButton* findButton() const { return find_; }
    /// The question of a project and its answer, whose ways are predicted again once the page is
    /// visible. Empty: the project has none; the fields stay.
    void setAskedRun(const std::optional<AskedRun>& run);
    /// The fields as on a first start.
    void clear();

  Q_SIGNALS:
    /// A search has ended: its question and its answer.
    void answered(sluice::AskedRun run);
    /// The user takes this plan.
    void chosen(sluice::PlannedScenario planned);
    void exampleWanted();
    void fileWanted();
    /// The user wants the form and the pages without an answer.
    void detailsWanted();

  protected:
    void showEvent(QShowEvent* event) override;

  private:
    void addButtons(QVBoxLayout* column);
    void addProgress(QVBoxLayout* column);
    void find();
    /// Ways for the question begin to arrive; `is_new`: of a search.
    void begin(const RunQuestion& question, bool is_new);
    void predictAgain();
    /// With the fields as a scenario, once the user has changed one.
    void planInDetail();
    void showProgress(int done, int all);
    /// "12 of 41 machines were tried".
    QString triedWords() const;
    /// The ways in a table; `all`: the search has ended by itself.
    void showRanked(bool all);
    void stop();
    /// No more ways arrive.
    void rest();
    void finish(const QString& failure);
    /// The question has changed since the answer that is shown.
    void markOutdated();

    PlannerSession& session_;
    StartForm* form_;
    QPushButton* find_;
    QLabel* progress_;
    QProgressBar* bar_;
    StartCards* cards_;
    TimeLeft left_;
    RunQuestion asked_;
    StartFields asked_fields_;
    std::vector<RunWay> ways_;
    std::optional<AskedRun> to_predict_;  ///< the answer of a project, until the page is visible
    bool busy_ = false, edited_ = false;
    int done_ = 0, all_ = 0;  ///< machines of a search, or ways that are predicted again
    bool is_new_ = false;     ///< the answer was searched, not read from a project
};

}  // namespace sluice
