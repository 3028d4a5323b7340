// Parts that pages are put together from.
#pragma once

#include <QAbstractItemModel>
#include <QLabel>
#include <QScrollArea>
#include <QTableView>
#include <optional>
#include <vector>

class QHelpEvent;

namespace sluice {

/// Stretch of a table in a column: of what the others leave it has all that its rows need, before
/// the empty end of the column (stretch 1).
inline constexpr int kAlmostAll = 1000;

/// Wrapped text that can be selected with mouse and keyboard.
QLabel* text_label(const QString& accessible_name);

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

/// Which of `count` things a key selects after `now` (-1: none yet): arrows back and forth along
/// `order`, Home and End; nothing for other keys, or where there is nothing. Vertical: down is
/// forth. Horizontal: right is forth, and up, as along a rising curve.
std::optional<int> selected_by_key(int key, int now, int count, Qt::Orientation order);

/// Enter, in the block of letters or of digits, and the space bar.
bool is_activating(int key);

/// As high as its widget needs where there is room, else it scrolls, vertically only.
class FittedArea : public QScrollArea {
    Q_OBJECT
  public:
    explicit FittedArea(QWidget* widget);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

  protected:
    bool viewportEvent(QEvent* event) override;
};

/// Its words in the colour of what waits or is short, as its palette has it now.
void colour_as_warning(QLabel* label, const QPalette& palette);

/// Where a tooltip is asked for: `words` there, or none where they are empty.
void show_tooltip(const QHelpEvent& asked, const QString& words, QWidget* widget);

/// With a large letter.
QString capitalized(QString sentence);

/// The first sentences, a line each, and how many more there are; all of them as a tooltip.
void show_sentences(QLabel* label, const QStringList& sentences, int most);

}  // namespace sluice
