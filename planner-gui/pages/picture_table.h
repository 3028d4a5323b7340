// How are a picture and a table of the same things joined? A thing selected in one is selected in
// the other, described below, and can be adopted.
#pragma once

#include <QWidget>
#include <functional>

#include "planner-gui/models/table_model.h"
#include "planner-gui/pages/picture_view.h"

class QLabel;
class QPushButton;
class QStackedWidget;
class QTableView;

namespace sluice {

struct Described {
    QString words;
    bool can_be_adopted = false;
};

/// A thing is an id of the picture and a row of the table.
class PictureTable : public QWidget {
    Q_OBJECT
  public:
    enum class Arrangement {
        bars,    ///< as high as necessary, above the table
        above,   ///< the picture above the table; the user moves the line between them
        beside,  ///< the same, side by side
        one      ///< both in one place; showTable() chooses
    };
    /// Accessible names of the parts; `adopt` describes the button's effect.
    struct Names {
        QString picture, table, selected, adopt;
    };
    /// `describe` is called with kNoId while nothing is selected. Without it, there is no text and
    /// no button, and each thing can be adopted.
    PictureTable(Arrangement arrangement, const Names& names,
                 std::function<Described(int)> describe = {});

    /// Set the picture before the table: a selected thing that is not in the picture is selected in
    /// the table only.
    void setPicture(PictureView::Make make) { picture_->setPicture(std::move(make)); }
    void setTable(Table table, ByteUnits units);
    /// Precondition: the row exists.
    void setRow(int thing, Row row);
    void showTable(bool table);

    int selected() const;  ///< kNoId: none
    void select(int thing);
    /// Shows the descriptions again.
    void showSelected();

    PictureView* picture() const { return picture_; }
    QTableView* table() const { return table_; }
    const TableModel& model() const { return *model_; }
    QString words() const;
    QPushButton* adoptButton() const { return adopt_; }

  Q_SIGNALS:
    /// By a double click on the thing or its row, Enter on them, or the button. Only for things
    /// that can be adopted.
    void adopted(int thing);

  private:
    QWidget* arranged(Arrangement arrangement);
    QWidget* foot(const Names& names, int lines);
    void adopt(int thing);

    std::function<Described(int)> describe_;
    TableModel* model_;
    NumberSortProxy* sorted_;
    PictureView* picture_;
    QTableView* table_;
    QStackedWidget* one_ = nullptr;
    QLabel* words_ = nullptr;
    QPushButton* adopt_ = nullptr;
};

}  // namespace sluice
