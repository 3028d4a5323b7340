#include "planner-gui/pages/fitted_table.h"

#include <QApplication>
#include <QHeaderView>
#include <QProxyStyle>
#include <QResizeEvent>
#include <QScrollBar>
#include <algorithm>

namespace sluice {
namespace {

constexpr int kLeastColumn = 4;  // in line heights
constexpr int kLeastRows = 6;
constexpr int kMostMeasuredRows = 40;  // of whose text the height is measured: 5 ms

/// The desktop's style, with `margin` pixels at the sides of cells and headers.
class RoomyStyle : public QProxyStyle {
  public:
    explicit RoomyStyle(int margin) : QProxyStyle(QApplication::style()->name()), margin_(margin) {
        setParent(QCoreApplication::instance());
    }
    int pixelMetric(PixelMetric metric, const QStyleOption* option,
                    const QWidget* widget) const override {
        if (metric == PM_FocusFrameHMargin) return margin_ - 1;  // Qt adds one pixel
        if (metric == PM_HeaderMargin) return margin_;
        return QProxyStyle::pixelMetric(metric, option, widget);
    }

  private:
    int margin_;
};

int row_height(const QTableView* view, int lines) {
    return static_cast<int>((lines + 0.6) * view->fontMetrics().height());
}

/// Where columns are cut, text takes several lines; in a long table two.
void fit_rows(QTableView* view, bool cut) {
    view->setWordWrap(cut);
    const int rows = view->model()->rowCount();
    const bool measured = rows <= kMostMeasuredRows;
    view->verticalHeader()->setDefaultSectionSize(row_height(view, cut && !measured ? 2 : 1));
    if (!measured) return;
    if (cut) return view->resizeRowsToContents();
    for (int row = 0; row < rows; ++row) view->setRowHeight(row, row_height(view, 1));
}

}  // namespace

FittedTable::FittedTable(bool fits_columns) : fits_columns_(fits_columns) {
    // More space between columns than Qt's two pixels, in its own font.
    const int margin = fontMetrics().height() / 3;
    static auto* const style = new RoomyStyle(margin);
    for (QWidget* const part : std::initializer_list<QWidget*>{this, horizontalHeader()})
        part->setStyle(style);
}

void FittedTable::setModel(QAbstractItemModel* model) {
    QTableView::setModel(model);
    if (fits_columns_)
        connect(model, &QAbstractItemModel::modelReset, this, [this] { fit_columns(this); });
}

QSize FittedTable::sizeHint() const {
    const int scroll = horizontalScrollBar()->isVisible() ? horizontalScrollBar()->height() : 0;
    return {QTableView::sizeHint().width(),
            horizontalHeader()->height() + verticalHeader()->length() + scroll + 2 * frameWidth()};
}

QSize FittedTable::minimumSizeHint() const { return {0, kLeastRows * row_height(this, 1)}; }

void FittedTable::resizeEvent(QResizeEvent* event) {
    QTableView::resizeEvent(event);
    if (fits_columns_ && event->oldSize().width() != event->size().width()) fit_columns(this);
}

void FittedTable::updateGeometries() {
    QTableView::updateGeometries();
    const int height = sizeHint().height();
    if (height == shown_height_) return;
    shown_height_ = height;
    updateGeometry();
}

QTableView* table_view(QAbstractItemModel* model, const QString& accessible_name,
                       bool fits_columns) {
    auto* const view = new FittedTable(fits_columns);
    view->setModel(model);
    view->setAccessibleName(accessible_name);
    view->setSelectionBehavior(QAbstractItemView::SelectRows);
    view->setSelectionMode(QAbstractItemView::SingleSelection);
    view->setAlternatingRowColors(true);
    view->setTabKeyNavigation(false);  // Tab leaves the table; arrow keys move in it
    view->setWordWrap(false);
    const int square = 3 * view->fontMetrics().height() / 4;  // of a legend colour
    view->setIconSize({square, square});
    view->verticalHeader()->hide();
    view->verticalHeader()->setDefaultSectionSize(row_height(view, 1));
    view->horizontalHeader()->setHighlightSections(false);
    view->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Maximum);
    view->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    return view;
}

int common_most(std::vector<int> widths, int room, int least) {
    std::sort(widths.begin(), widths.end());
    int left = static_cast<int>(widths.size());
    for (const int width : widths) {
        if (width * left > room) return std::max(least, room / left);
        room -= width;
        --left;
    }
    return widths.empty() ? least : std::max(least, widths.back());
}

void fit_columns(QTableView* view) {
    const int columns = view->model()->columnCount(), room = view->viewport()->width();
    if (columns == 0 || room <= 0) return;
    view->resizeColumnsToContents();
    std::vector<int> widths;
    for (int column = 0; column < columns; ++column) widths.push_back(view->columnWidth(column));
    const auto widest = std::ranges::max_element(widths);
    const int least = kLeastColumn * view->fontMetrics().height();
    const int most = common_most(widths, room, least);
    const bool scrolls = least * columns > room;
    int left = room;
    bool cut = false;
    for (int column = 0; column < columns; ++column) {
        int& width = widths[static_cast<std::size_t>(column)];
        // Where a view scrolls anyway, titles stay whole.
        const int allowed =
            scrolls ? std::max(most, view->horizontalHeader()->sectionSizeHint(column)) : most;
        cut = cut || width > allowed;
        left -= width = std::min(width, allowed);
    }
    const int more = std::max(0, left) / columns;
    for (int& width : widths) {
        const int added = std::min(more, width / 2);
        width += added;
        left -= added;
    }
    *widest += std::max(0, left);
    for (int column = 0; column < columns; ++column)
        view->setColumnWidth(column, widths[static_cast<std::size_t>(column)]);
    fit_rows(view, cut);
}

}  // namespace sluice
