// Parts that pages are put together from.
#pragma once

#include <QAbstractItemModel>
#include <QLabel>
#include <QScrollArea>
#include <QTableView>

class QHelpEvent;

namespace sluice {

/// Wrapped text that can be selected with mouse and keyboard.
QLabel* text_label(const QString& accessible_name);

/// Its columns fit what they hold, whenever that or the width changes.
class FittedTable : public QTableView {
    Q_OBJECT
  public:
    using QTableView::QTableView;
    void setModel(QAbstractItemModel* model) override;

  protected:
    void resizeEvent(QResizeEvent* event) override;
};

/// Rows are selected as a whole; numbers of rows are not shown.
QTableView* table_view(QAbstractItemModel* model, const QString& accessible_name,
                       bool fitted = true);

/// As wide as its widest cells, but no column wider than `most` of the view's width; what is left
/// of that is shared out, up to half of a column's width.
void fit_columns(QTableView* view, double most = 0.4);

/// Scrolls vertically only.
QScrollArea* scrolled(QWidget* widget);

/// As high as its widget needs, at most `most` pixels.
void fit_height(QScrollArea* area, double most);

/// Its words in the colour of what waits or is short, as its palette has it now.
void colour_as_warning(QLabel* label, const QPalette& palette);

/// Where a tooltip is asked for: `words` there, or none where they are empty.
void show_tooltip(const QHelpEvent& asked, const QString& words, QWidget* widget);

/// The first sentences, a line each, and how many more there are; all of them as a tooltip.
void show_sentences(QLabel* label, const QStringList& sentences, int most);

}  // namespace sluice
