#include "planner-gui/pages/wrapping_row.h"

#include <QStyle>
#include <QWidget>
#include <algorithm>

namespace sluice {

WrappingRow::WrappingRow() { setContentsMargins(0, 0, 0, 0); }

WrappingRow::~WrappingRow() { qDeleteAll(items_); }

void WrappingRow::addItem(QLayoutItem* item) {
    items_ << item;
    invalidate();
}

int WrappingRow::count() const { return static_cast<int>(items_.size()); }

QLayoutItem* WrappingRow::itemAt(int index) const { return items_.value(index); }

QLayoutItem* WrappingRow::takeAt(int index) {
    if (index < 0 || index >= count()) return nullptr;
    invalidate();
    return items_.takeAt(index);
}

QList<QRect> WrappingRow::placed(int width) const {
    QList<QRect> out;
    const int gap = std::max(0, spacing());
    int x = 0, y = 0, line = 0;
    for (const QLayoutItem* const item : items_) {
        if (item->isEmpty()) {
            out << QRect();
            continue;
        }
        QSize size = item->sizeHint();
        // A widget that can wrap does so if it is alone on a line.
        if (size.width() > width) {
            size.setWidth(std::max(width, item->minimumSize().width()));
            if (item->hasHeightForWidth()) size.setHeight(item->heightForWidth(size.width()));
        }
        if (x > 0 && x + size.width() > width) {
            x = 0;
            y += line + gap;
            line = 0;
        }
        out << QRect(QPoint(x, y), size);
        x += size.width() + gap;
        line = std::max(line, size.height());
    }
    return out;
}

int WrappingRow::heightForWidth(int width) const {
    int height = 0;
    for (const QRect& rect : placed(width)) height = std::max(height, rect.y() + rect.height());
    return height;
}

QSize WrappingRow::minimumSize() const {
    QSize size(0, 0);
    for (const QLayoutItem* const item : items_)
        if (!item->isEmpty()) size = size.expandedTo(item->minimumSize());
    return size;
}

QSize WrappingRow::sizeHint() const {
    QSize size(0, 0);
    for (const QRect& rect : placed(QWIDGETSIZE_MAX))
        size = size.expandedTo(QSize(rect.x() + rect.width(), rect.height()));
    return size;
}

void WrappingRow::setGeometry(const QRect& rect) {
    QLayout::setGeometry(rect);
    const QList<QRect> places = placed(rect.width());
    // Labels are vertically centred to the buttons in their line.
    for (int i = 0; i < count(); ++i) {
        if (items_[i]->isEmpty()) continue;
        int line = 0;
        for (const QRect& other : places)
            if (other.y() == places[i].y()) line = std::max(line, other.height());
        QRect place = places[i].translated(rect.topLeft());
        place.moveTop(place.top() + (line - place.height()) / 2);
        const QRect mirrored = QStyle::visualRect(
            parentWidget() == nullptr ? Qt::LeftToRight : parentWidget()->layoutDirection(), rect,
            place);
        items_[i]->setGeometry(mirrored);
    }
}

}  // namespace sluice
