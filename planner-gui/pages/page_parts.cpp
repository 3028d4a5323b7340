#include "planner-gui/pages/page_parts.h"

#include <QHeaderView>
#include <QHelpEvent>
#include <QResizeEvent>
#include <QToolTip>
#include <algorithm>

#include "planner-gui/pictures/palette.h"

namespace sluice {

QLabel* text_label(const QString& accessible_name) {
    auto* const label = new QLabel;
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    label->setAccessibleName(accessible_name);
    return label;
}

void FittedTable::setModel(QAbstractItemModel* model) {
    QTableView::setModel(model);
    connect(model, &QAbstractItemModel::modelReset, this, [this] { fit_columns(this); });
}

void FittedTable::resizeEvent(QResizeEvent* event) {
    QTableView::resizeEvent(event);
    if (event->oldSize().width() != event->size().width()) fit_columns(this);
}

QTableView* table_view(QAbstractItemModel* model, const QString& accessible_name, bool fitted) {
    QTableView* const view = fitted ? new FittedTable : new QTableView;
    view->setModel(model);
    view->setAccessibleName(accessible_name);
    view->setSelectionBehavior(QAbstractItemView::SelectRows);
    view->setSelectionMode(QAbstractItemView::SingleSelection);
    view->setAlternatingRowColors(true);
    view->setTabKeyNavigation(false);  // Tab leaves the table; arrows move in it
    view->setWordWrap(false);
    view->verticalHeader()->hide();
    view->verticalHeader()->setDefaultSectionSize(
        static_cast<int>(1.6 * view->fontMetrics().height()));
    view->horizontalHeader()->setHighlightSections(false);
    view->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    return view;
}

void fit_columns(QTableView* view, double most) {
    view->resizeColumnsToContents();
    const int columns = view->model()->columnCount(), room = view->viewport()->width();
    const int widest = static_cast<int>(most * room);
    if (columns == 0 || widest <= 0) return;
    int taken = 0;
    for (int column = 0; column < columns; ++column) {
        view->setColumnWidth(column, std::min(widest, view->columnWidth(column)));
        taken += view->columnWidth(column);
    }
    const int more = std::max(0, room - taken) / columns;
    for (int column = 0; column < columns; ++column) {
        const int width = view->columnWidth(column);
        view->setColumnWidth(column, width + std::min(more, width / 2));
    }
}

QScrollArea* scrolled(QWidget* widget) {
    auto* const area = new QScrollArea;
    area->setWidgetResizable(true);
    area->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    area->setFrameShape(QFrame::NoFrame);
    area->setFocusPolicy(Qt::NoFocus);
    area->setWidget(widget);
    return area;
}

void fit_height(QScrollArea* area, double most) {
    const int needed = area->widget()->minimumHeight();
    area->setFixedHeight(std::clamp(needed, 1, std::max(1, static_cast<int>(most))));
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
