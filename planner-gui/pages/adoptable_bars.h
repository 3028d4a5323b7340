// Things to choose from as bars and as rows of a table; the one selected in words, and the button
// that adopts it.
#pragma once

#include <QWidget>
#include <vector>

#include "planner-gui/models/table_model.h"
#include "planner-gui/pictures/bar_chart.h"

class QLabel;
class QTableView;

namespace sluice {

class AdoptionFoot;
class BarChartView;

/// Of one thing.
struct Adoptable {
    QString words;
    bool can_be_adopted = true;
};

class AdoptableBars : public QWidget {
    Q_OBJECT
  public:
    /// Of its parts, for those who do not see them; `adopt` is what the button does.
    struct Names {
        QString bars, table, selected, adopt;
    };
    explicit AdoptableBars(const Names& names, QWidget* parent = nullptr);

    /// Of each thing a bar and a row. None is selected then.
    void setThings(std::vector<Adoptable> things, BarChart chart, Table table, ByteUnits units,
                   const QString& note);

  Q_SIGNALS:
    /// By a double click on a bar or its row, Enter on them, or the button. Only what can be.
    void adopted(int thing);

  private:
    void select(int thing);
    void adopt(int thing);

    std::vector<Adoptable> things_;
    TableModel* model_;
    BarChartView* bars_;
    QTableView* table_;
    QLabel* note_;
    AdoptionFoot* foot_;
};

}  // namespace sluice
