// How is the answer of the start page shown? A card for each way that is proposed, one for each
// that would fit with a change, and all ways in a table.
#pragma once

#include <QWidget>
#include <vector>

#include "sim/answers/search/run_question.h"

class QLabel;
class QPushButton;
class QTableView;
class QVBoxLayout;

namespace sluice {

class TableModel;

class StartCards : public QWidget {
    Q_OBJECT
  public:
    explicit StartCards(QWidget* parent = nullptr);

    /// Precondition: rank() has sorted the ways. `heading`: of the table of all ways; empty: more
    /// of them follow, and there is no table yet.
    void setWays(const RunQuestion& question, std::vector<RunWay> ways,
                 const QString& heading = {});
    bool isEmpty() const { return shown_.empty(); }

  Q_SIGNALS:
    /// The user takes this plan.
    void chosen(sluice::PlannedScenario planned);

  private:
    void showCards();
    void showTable(const QString& heading);
    QWidget* pickCard(const RunPick& pick, bool first);
    QWidget* missCard(const RunWay& way);
    /// `notes`: what is known of it, for the scenario that is opened.
    QPushButton* opening(const QString& text, const QString& accessible, PlannedScenario planned,
                         const QString& notes);

    /// The scenario that a card shows.
    struct Card {
        PlannedScenario planned;
        std::string why;  ///< it is proposed
        bool operator==(const Card&) const = default;
    };

    RunQuestion asked_;
    std::vector<RunWay> ways_;  ///< ranked
    std::vector<Card> shown_;
    QVBoxLayout* cards_;
    QLabel* heading_;
    TableModel* model_;
    QTableView* table_;
};

}  // namespace sluice
