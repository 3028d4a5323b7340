// A picture that is painted, as a file: on white, with its title above it.
#pragma once

#include <QByteArray>
#include <QPainter>
#include <QString>
#include <functional>

namespace sluice {

struct PaintedPicture {
    QString title;
    double width = 0;  ///< pixels
    std::function<double(const QPaintDevice*, const QFont&)> height;
    std::function<void(QPainter&, const QFont&)> paint;  ///< from (0, 0)
};

QByteArray svg_of(const PaintedPicture& picture);

}  // namespace sluice
