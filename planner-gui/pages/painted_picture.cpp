#include "planner-gui/pages/painted_picture.h"

#include <QBuffer>
#include <QSvgGenerator>
#include <cmath>

#include "planner-gui/pictures/palette.h"

namespace sluice {
namespace {

QFont picture_font() {
    QFont font(QStringLiteral("sans-serif"));
    font.setPixelSize(13);
    return font;
}

QFont title_font() {
    QFont font = picture_font();
    font.setBold(true);
    return font;
}

double title_height(const QPaintDevice* device) {
    return std::ceil(QFontMetricsF(title_font(), device).height() * 1.6);
}

QRectF area(const PaintedPicture& picture, const QPaintDevice* device) {
    return {0, 0, picture.width,
            std::ceil(title_height(device) + picture.height(device, picture_font()))};
}

void paint(const PaintedPicture& picture, QPainter& painter, const QRectF& all) {
    const QFontMetricsF metrics(title_font(), painter.device());
    painter.fillRect(all, Qt::white);
    painter.setFont(title_font());
    painter.setPen(Palette::light().text());
    painter.drawText(
        QPointF(metrics.height() / 2, metrics.height() / 2 + metrics.ascent()),
        metrics.elidedText(picture.title, Qt::ElideRight, picture.width - metrics.height()));
    painter.translate(0, title_height(painter.device()));
    picture.paint(painter, picture_font());
}

}  // namespace

QByteArray svg_of(const PaintedPicture& picture) {
    QByteArray bytes;
    QBuffer buffer(&bytes);
    QSvgGenerator generator;
    generator.setOutputDevice(&buffer);
    generator.setResolution(96);  // a pixel of the picture is one of CSS
    const QRectF all = area(picture, &generator);
    generator.setSize(all.size().toSize());
    generator.setViewBox(all);
    generator.setTitle(picture.title);
    QPainter painter(&generator);
    paint(picture, painter, all);
    painter.end();
    return bytes;
}

}  // namespace sluice
