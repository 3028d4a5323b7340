// A page on the screen: what is seen of it, where its parts are.
#pragma once

#include <QCoreApplication>
#include <QImage>
#include <QLabel>
#include <QPainter>
#include <QSvgRenderer>
#include <QWidget>

#include "planner-gui/pages/picture_view.h"
#include "planner-gui/pictures/palette.h"

namespace sluice::test {

/// With its layout done.
inline void show(QWidget& page) {
    page.resize(1200, 700);
    page.show();
    QCoreApplication::processEvents();
}

inline bool says(const QWidget& page, const QString& words) {
    for (const QLabel* const label : page.findChildren<QLabel*>())
        if (!label->isHidden() && label->text().contains(words)) return true;
    return false;
}

/// The part of this accessible name; nullptr where there is none.
template <typename Widget>
Widget* named(const QWidget& page, const char* name) {
    for (Widget* const widget : page.findChildren<Widget*>())
        if (widget->accessibleName() == QLatin1StringView(name)) return widget;
    return nullptr;
}

/// The middle of the thing of this id.
inline QPoint middle_of(const PictureView& view, int id) {
    const Point middle = place_of(view.picture(), id).value_or(Box{}).centre();
    return QPointF(middle.x, middle.y).toPoint();
}

inline int pixels_of(const QImage& image, const QColor& colour, const QRectF& within) {
    int count = 0;
    const QRect box = within.toAlignedRect().intersected(image.rect());
    for (int y = box.top(); y <= box.bottom(); ++y)
        for (int x = box.left(); x <= box.right(); ++x) count += image.pixelColor(x, y) == colour;
    return count;
}

inline int pixels_of(const QImage& image, const QColor& colour) {
    return pixels_of(image, colour, image.rect());
}

/// Pixels of another colour than the top left one.
inline int painted_pixels(const QImage& image) {
    return image.width() * image.height() - pixels_of(image, image.pixelColor(0, 0));
}

/// A picture that leaves the page, in its own size.
inline QImage drawn(const QByteArray& svg) {
    QSvgRenderer renderer(svg);
    QImage image(renderer.defaultSize(), QImage::Format_RGB32);
    image.fill(Qt::white);
    QPainter painter(&image);
    renderer.render(&painter);
    return image;
}

}  // namespace sluice::test
