#include "planner-gui/pages/page_parts.h"

#include <QApplication>
#include <QHeaderView>
#include <QHelpEvent>
#include <QProxyStyle>
#include <QResizeEvent>
#include <QScrollBar>
#include <QToolTip>
#include <algorithm>

#include "planner-gui/pictures/palette.h"

namespace sluice {
namespace {

constexpr int kLeastColumn = 5, kLeastArea = 4;  // in heights of a line
constexpr int kLeastRows = 3;

/// The desktop's, with `margin` pixels at the sides of cells and of their headers.
class RoomyStyle : public QProxyStyle {
  public:
    explicit RoomyStyle(int margin) : QProxyStyle(QApplication::style()->name()), margin_(margin) {
        setParent(QCoreApplication::instance());
    }
    int pixelMetric(PixelMetric metric, const QStyleOption* option,
                    const QWidget* widget) const override {
        if (metric == PM_FocusFrameHMargin) return margin_ - 1;  // to which Qt adds one
        if (metric == PM_HeaderMargin) return margin_;
        return QProxyStyle::pixelMetric(metric, option, widget);
    }

  private:
    int margin_;
};

}  // namespace

QLabel* text_label(const QString& accessible_name) {
    auto* const label = new QLabel;
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    label->setAccessibleName(accessible_name);
    return label;
}

FittedTable::FittedTable(bool fits_columns) : fits_columns_(fits_columns) {
    // More room of its letters between columns than Qt's two pixels.
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

QSize FittedTable::minimumSizeHint() const {
    return {0, kLeastRows * verticalHeader()->defaultSectionSize()};
}

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
    view->setTabKeyNavigation(false);  // Tab leaves the table; arrows move in it
    view->setWordWrap(false);
    const int square = 3 * view->fontMetrics().height() / 4;  // of a legend's colour
    view->setIconSize({square, square});
    view->verticalHeader()->hide();
    view->verticalHeader()->setDefaultSectionSize(
        static_cast<int>(1.6 * view->fontMetrics().height()));
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
    const int most = common_most(widths, room, kLeastColumn * view->fontMetrics().height());
    int left = room;
    for (int& width : widths) left -= width = std::min(width, most);
    const int more = std::max(0, left) / columns;
    for (int& width : widths) {
        const int added = std::min(more, width / 2);
        width += added;
        left -= added;
    }
    *widest += std::max(0, left);
    for (int column = 0; column < columns; ++column)
        view->setColumnWidth(column, widths[static_cast<std::size_t>(column)]);
}

std::optional<int> selected_by_key(int key, int now, int count, Qt::Orientation order) {
    if (count == 0) return std::nullopt;
    const bool down = order == Qt::Vertical;
    const auto back = [&] { return now < 0 ? count - 1 : std::max(0, now - 1); };
    const auto forth = [&] { return std::min(count - 1, now + 1); };
    switch (key) {
        case Qt::Key_Home:
            return 0;
        case Qt::Key_End:
            return count - 1;
        case Qt::Key_Up:
            return down ? back() : forth();
        case Qt::Key_Down:
            return down ? forth() : back();
        case Qt::Key_Left:
            return down ? std::nullopt : std::optional(back());
        case Qt::Key_Right:
            return down ? std::nullopt : std::optional(forth());
        default:
            return std::nullopt;
    }
}

bool is_activating(int key) {
    return key == Qt::Key_Return || key == Qt::Key_Enter || key == Qt::Key_Space;
}

FittedArea::FittedArea(QWidget* widget) {
    setWidgetResizable(true);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::NoFocus);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Maximum);
    setWidget(widget);
}

QSize FittedArea::sizeHint() const {
    return {QScrollArea::sizeHint().width(), widget()->minimumHeight()};
}

QSize FittedArea::minimumSizeHint() const {
    return {0, std::min(widget()->minimumHeight(), kLeastArea * fontMetrics().height())};
}

bool FittedArea::viewportEvent(QEvent* event) {
    if (event->type() == QEvent::LayoutRequest) updateGeometry();  // its widget's height
    return QScrollArea::viewportEvent(event);
}

QString capitalized(QString sentence) {
    if (!sentence.isEmpty()) sentence[0] = sentence[0].toUpper();
    return sentence;
}

void show_sentences(QLabel* label, const QStringList& sentences, int most) {
    QStringList shown = sentences.mid(0, most);
    const qsizetype more = sentences.size() - shown.size();
    if (more > 0) shown << QLabel::tr("and %1 more").arg(more);
    label->setText(shown.join(QLatin1Char('\n')));
    label->setToolTip(more > 0 ? sentences.join(QLatin1Char('\n')) : QString());
}

void colour_as_warning(QLabel* label, const QPalette& palette) {
    QPalette warning = palette;
    warning.setColor(QPalette::WindowText, Palette(palette).waiting());
    label->setPalette(warning);
}

void show_tooltip(const QHelpEvent& asked, const QString& words, QWidget* widget) {
    if (words.isEmpty()) {
        QToolTip::hideText();
    } else {
        QToolTip::showText(asked.globalPos(), words, widget);
    }
}

}  // namespace sluice
