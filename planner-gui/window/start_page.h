// What does a newcomer want to train, by when and for how much? The first page of the window, which
// answers with a machine and two alternatives.
#pragma once

#include <QLabel>
#include <QWidget>
#include <map>
#include <memory>
#include <vector>

#include "planner-gui/session/planner_session.h"

class QPushButton;
class QVBoxLayout;

namespace sluice {

class FieldRow;

class StartPage : public QWidget {
    Q_OBJECT
  public:
    explicit StartPage(PlannerSession& session, QWidget* parent = nullptr);

    /// The row of "model", "task", "tokens", "context", "days", "usd" or "owned".
    FieldRow* row(const QString& field) const { return rows_.at(field); }
    QPushButton* findButton() const { return find_; }

  Q_SIGNALS:
    /// The user takes this plan.
    void chosen(sluice::PlannedScenario planned);
    void exampleWanted();
    void fileWanted();
    /// The user wants the form and the pages without an answer.
    void detailsWanted();

  private:
    FieldRow* addRow(const QString& field, const QString& label, int kind,
                     const QStringList& choices, const QString& value, const QString& help);
    void addFields(QVBoxLayout* column);
    void addButtons(QVBoxLayout* column);
    void find();
    /// With the fields as a scenario, once the user has changed one.
    void planInDetail();
    /// Empty if a field is wrong; its row then says so.
    std::optional<RunQuestion> question();
    void showPicks();
    QWidget* card(const RunPick& pick, bool first);
    void finish(const QString& failure);
    /// The question has changed since the answer that is shown.
    void markOutdated();

    PlannerSession& session_;
    std::map<QString, FieldRow*> rows_;
    QPushButton* find_;
    QLabel* progress_;
    QWidget* cards_;
    RunQuestion asked_;
    std::vector<RunWay> candidates_;
    std::vector<RunPick> picks_;  ///< that are shown
    bool busy_ = false, edited_ = false;
};

}  // namespace sluice
