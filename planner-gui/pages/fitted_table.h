// How do tables fit the page? Columns fit the width, rows the height.
#pragma once

#include <QAbstractItemModel>
#include <QTableView>
#include <vector>

namespace sluice {

/// The stretch of a table in a layout: the table gets the height that all its rows need before the
/// empty end of the column (stretch 1) gets any.
inline constexpr int kAlmostAll = 1000;

/// As high as its rows if possible. Columns fit their contents whenever these or the width change,
/// unless their widths are set.
class FittedTable : public QTableView {
    Q_OBJECT
  public:
    static constexpr int kMostLines = 4;

    explicit FittedTable(bool fits_columns);
    /// A row is cut after so many lines; its tooltip has the rest.
    void setMostLines(int lines) { most_lines_ = lines; }
    int mostLines() const { return most_lines_; }
    void setModel(QAbstractItemModel* model) override;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

  protected:
    void resizeEvent(QResizeEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void updateGeometries() override;

  private:
    bool fits_columns_;
    int most_lines_ = kMostLines;
    int shown_height_ = 0;
};

/// Rows are selected as a whole and are not numbered.
FittedTable* table_view(QAbstractItemModel* model, const QString& accessible_name,
                        bool fits_columns = true);

/// Gives columns the width of their contents. In a narrower view the widest columns shrink and
/// their text takes several lines, with whole words and numbers if all columns are then in sight.
/// In a wider view columns grow by up to half their width, and the widest takes the rest. A hidden
/// view waits until it is shown: of each verdict 1.4 ms went to a hidden page.
void fit_columns(QTableView* view);

/// Widths of a column in pixels: with each cell on one line, and with the longest word on one.
struct ColumnWidths {
    int one_line = 0, word = 0;
};
/// The widths of columns in `room` pixels: the widest give way, to one common width, but none below
/// its longest word.
std::vector<int> fitted_widths(const std::vector<ColumnWidths>& columns, int room);

}  // namespace sluice
