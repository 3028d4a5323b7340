// The scenarios of a project as rows: the name, and as a tooltip its notes.
#pragma once

#include <QAbstractListModel>

#include "planner-gui/session/scenario_stack.h"

namespace sluice {

class ScenarioListModel : public QAbstractListModel {
    Q_OBJECT
  public:
    explicit ScenarioListModel(ScenarioStack& stack, QObject* parent = nullptr);
    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    /// A name; an empty one is refused.
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;
    Qt::ItemFlags flags(const QModelIndex& index) const override;

  private:
    void follow();

    ScenarioStack& stack_;
    int rows_;
};

}  // namespace sluice
