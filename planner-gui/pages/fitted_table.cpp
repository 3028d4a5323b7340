#include "planner-gui/pages/fitted_table.h"

#include <QApplication>
#include <QHeaderView>
#include <QProxyStyle>
#include <QResizeEvent>
#include <QScrollBar>
#include <algorithm>
#include <numeric>
#include <set>

namespace sluice {
namespace {

constexpr int kLeastColumn = 4, kLongestWord = 12;  // in line heights
constexpr int kRounding =
    4;  // pixels: the grid's line, and parts of pixels that a layout rounds up
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
    const auto* const fitted = qobject_cast<FittedTable*>(view);
    const int most = fitted == nullptr ? FittedTable::kMostLines : fitted->mostLines();
    cut = cut && most > 1;
    view->setWordWrap(cut);
    const int rows = view->model()->rowCount();
    const bool measured = rows <= kMostMeasuredRows;
    view->verticalHeader()->setDefaultSectionSize(row_height(view, cut && !measured ? 2 : 1));
    if (!measured) return;
    if (cut) view->resizeRowsToContents();
    for (int row = 0; row < rows; ++row)
        view->setRowHeight(row, cut ? std::min(view->rowHeight(row), row_height(view, most))
                                    : row_height(view, 1));
}

/// The widest part of the text that no line break divides.
int widest_word(const QString& text, const QFontMetrics& metrics) {
    int out = 0;
    qsizetype begin = 0;
    for (qsizetype at = 0; at <= text.size(); ++at) {
        const bool ends = at == text.size() || text[at].isSpace() || text[at] == QChar(0x200B);
        const bool hyphen = !ends && text[at] == QLatin1Char('-');
        if (!ends && !hyphen) continue;
        const qsizetype size = at - begin + (hyphen ? 1 : 0);
        out = std::max(out, metrics.horizontalAdvance(text.mid(begin, size)));
        begin = at + 1;
    }
    return out;
}

/// With its margins: the longest word of a column, its title, or a number with its unit.
int word_width(const QTableView* view, int column) {
    const QAbstractItemModel& model = *view->model();
    const int line = view->fontMetrics().height();
    const int margin = 2 * (view->style()->pixelMetric(QStyle::PM_FocusFrameHMargin) + 1);
    const bool icon = model.index(0, column).data(Qt::DecorationRole).isValid();
    std::set<QString> seen;
    int out = 0;
    for (int row = 0; row < model.rowCount(); ++row) {
        const QModelIndex cell = model.index(row, column);
        const QVariant font = cell.data(Qt::FontRole);
        const QString text = cell.data().toString();
        if (!seen.insert((font.isValid() ? QLatin1Char('b') : QLatin1Char('n')) + text).second)
            continue;
        const QFontMetrics metrics =
            font.isValid() ? QFontMetrics(font.value<QFont>()) : view->fontMetrics();
        const bool number = (cell.data(Qt::TextAlignmentRole).toInt() & Qt::AlignRight) != 0 &&
                            text.count(QLatin1Char(' ')) <= 1;  // not "358 to 651"
        out = std::max(out, number ? metrics.horizontalAdvance(text) : widest_word(text, metrics));
    }
    out = std::min(out, kLongestWord * line) + margin + kRounding;
    if (icon) out += view->iconSize().width() + margin;
    return std::max({out, kLeastColumn * line, view->horizontalHeader()->sectionSizeHint(column)});
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

void FittedTable::showEvent(QShowEvent* event) {
    QTableView::showEvent(event);
    if (fits_columns_) fit_columns(this);
}

void FittedTable::updateGeometries() {
    QTableView::updateGeometries();
    const int height = sizeHint().height();
    if (height == shown_height_) return;
    shown_height_ = height;
    updateGeometry();
}

FittedTable* table_view(QAbstractItemModel* model, const QString& accessible_name,
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

std::vector<int> fitted_widths(const std::vector<ColumnWidths>& columns, int room) {
    const auto widths = [&](int most) {
        std::vector<int> out;
        for (const ColumnWidths& one : columns)
            out.push_back(std::min(one.one_line, std::max(one.word, most)));
        return out;
    };
    int most = 0, too_wide = 1;
    for (const ColumnWidths& one : columns) too_wide = std::max(too_wide, one.one_line + 1);
    while (most + 1 < too_wide) {
        const int middle = (most + too_wide) / 2;
        const std::vector<int> tried = widths(middle);
        (std::accumulate(tried.begin(), tried.end(), 0) <= room ? most : too_wide) = middle;
    }
    return widths(most);
}

void fit_columns(QTableView* view) {
    const int columns = view->model()->columnCount(), room = view->viewport()->width();
    if (columns == 0 || room <= 0 || !view->isVisible()) return;
    view->setWordWrap(false);  // else the width that a cell has limits the one that it wants
    view->resizeColumnsToContents();
    std::vector<ColumnWidths> wanted;
    for (int column = 0; column < columns; ++column)
        wanted.push_back({view->columnWidth(column), word_width(view, column)});
    int words = 0;
    for (const ColumnWidths& one : wanted) words += one.word;
    // All columns in sight are worth more than the longest words, where that is possible at all.
    const int least = kLeastColumn * view->fontMetrics().height();
    std::vector<ColumnWidths> sought = wanted;
    if (words > room && least * columns <= room)
        for (ColumnWidths& one : sought) one = {std::min(one.one_line, one.word), least};
    std::vector<int> widths = fitted_widths(sought, room);
    int left = room;
    bool cut = false;
    for (std::size_t i = 0; i < widths.size(); ++i) {
        cut = cut || widths[i] < wanted[i].one_line;
        left -= widths[i];
    }
    const auto widest = std::ranges::max_element(widths);
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
