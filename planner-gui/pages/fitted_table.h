// Tables that fit: columns into their width, rows into the page.
#pragma once

#include <QAbstractItemModel>
#include <QTableView>
#include <vector>

namespace sluice {

/// Stretch of a table in a column: of what the others leave it has all that its rows need, before
/// the empty end of the column (stretch 1).
inline constexpr int kAlmostAll = 1000;

/// As high as its rows where it may; its columns fit what they hold, whenever that or the width
/// changes, unless their widths are set otherwise.
class FittedTable : public QTableView {
    Q_OBJECT
  public:
    explicit FittedTable(bool fits_columns);
    void setModel(QAbstractItemModel* model) override;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

  protected:
    void resizeEvent(QResizeEvent* event) override;
    void updateGeometries() override;

  private:
    bool fits_columns_;
    int shown_height_ = 0;
};

/// Rows are selected as a whole; numbers of rows are not shown.
QTableView* table_view(QAbstractItemModel* model, const QString& accessible_name,
                       bool fits_columns = true);

/// Columns as wide as what they hold. Where the view is narrower, the widest give way, so that all
/// stay in sight; where it is wider, what is left is shared out, up to half of a column's width,
/// and the widest has the rest.
void fit_columns(QTableView* view);

/// The most that any of `widths` may have for all of them to take `room`; at least `least`.
int common_most(std::vector<int> widths, int room, int least);

}  // namespace sluice
