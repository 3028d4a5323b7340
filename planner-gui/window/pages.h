// The pages in tabs, and what they ask the session for.
#pragma once

#include <QTabWidget>
#include <memory>

#include "planner-gui/pictures/byte_units.h"
#include "planner-gui/session/planner_session.h"
#include "planner-gui/session/scenario_stack.h"

namespace sluice {

class Pages : public QTabWidget {
    Q_OBJECT
  public:
    Pages(ScenarioStack& stack, PlannerSession& session, QWidget* parent = nullptr);

    void setPrediction(const std::shared_ptr<const Prediction>& prediction);
    void setByteUnits(ByteUnits units);

    /// Of the page in front; empty where it has none.
    QByteArray svg() const;
    QString csv() const;
    /// A word for file names: "timeline".
    QString name() const;
    /// In front is then the page that compares machines.
    void showMachines();

  Q_SIGNALS:
    /// The scenario is to take these flags; `what` is shown in the menu.
    void adopted(QString flags, QString what);

  private:
    ScenarioStack& stack_;
    PlannerSession& session_;
    std::shared_ptr<const Prediction> prediction_;
};

}  // namespace sluice
