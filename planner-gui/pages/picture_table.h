// Things as a picture and as rows of a table: what is selected in one is selected in the other,
// stands in words below them, and can be adopted.
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

/// What is known of a thing.
struct Described {
    QString words;
    bool can_be_adopted = false;
};

/// A thing is an id of the picture and a row of the table.
class PictureTable : public QWidget {
    Q_OBJECT
  public:
    enum class Arrangement {
        bars,    ///< as high as they need, above the table
        above,   ///< the picture above the table; the user moves the line between them
        beside,  ///< the same from left to right
        one      ///< of both; showTable() says which
    };
    /// Accessible names of the parts; `adopt` is what the button does.
    struct Names {
        QString picture, table, selected, adopt;
    };
    /// `describe` gets kNoId while nothing is selected. Without it there are no words and no
    /// button, and each thing can be adopted.
    PictureTable(Arrangement arrangement, const Names& names,
                 std::function<Described(int)> describe = {});

    /// The picture comes first: what is selected and not in it is selected in the table alone.
    void setPicture(PictureView::Make make) { picture_->setPicture(std::move(make)); }
    void setTable(Table table, ByteUnits units);
    /// Precondition: there is such a row.
    void setRow(int thing, Row row);
    void showTable(bool table);

    int selected() const;  ///< kNoId: none
    void select(int thing);
    /// The words are to be asked for again.
    void showSelected();

    PictureView* picture() const { return picture_; }
    QTableView* table() const { return table_; }
    const TableModel& model() const { return *model_; }
    QString words() const;
    QPushButton* adoptButton() const { return adopt_; }

  Q_SIGNALS:
    /// By a double click on the thing or its row, Enter on them, or the button. Only what can be.
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
