// Things to choose from as bars and as rows of a table; the one selected in words, and the button
// that adopts it.
#pragma once

#include <QWidget>
#include <vector>

#include "planner-gui/models/table_model.h"
#include "sim/report/bars.h"

class QTableView;

namespace sluice {

class AdoptionFoot;
class PictureView;

/// One thing to choose.
struct Adoptable {
    QString words;
    bool can_be_adopted = true;
};

class AdoptableBars : public QWidget {
    Q_OBJECT
  public:
    /// Accessible names of its parts; `adopt` is what the button does.
    struct Names {
        QString bars, table, selected, adopt;
    };
    explicit AdoptableBars(const Names& names, QWidget* parent = nullptr);

    /// Shows a bar and a row for each thing. None is selected then.
    void setThings(std::vector<Adoptable> things, BarChart chart, Table table, ByteUnits units);
    /// The picture of the bars; empty without things.
    QByteArray svg() const;

  Q_SIGNALS:
    /// By a double click on a bar or its row, Enter on them, or the button. Only what can be.
    void adopted(int thing);

  private:
    void select(int thing);
    void adopt(int thing);

    std::vector<Adoptable> things_;
    TableModel* model_;
    PictureView* bars_;
    QTableView* table_;
    AdoptionFoot* foot_;
};

}  // namespace sluice
