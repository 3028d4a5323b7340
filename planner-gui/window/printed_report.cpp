#include "planner-gui/window/printed_report.h"

#include <QBuffer>
#include <QImage>
#include <QPainter>
#include <QPdfWriter>
#include <QRegularExpression>
#include <QSvgRenderer>
#include <QTextDocument>
#include <QUrl>

#include "planner-gui/pictures/byte_units.h"
#include "sim/report/answers/answer_reports.h"

namespace sluice {
namespace {

constexpr double kPictureScale = 3;  // pixels a point: 216 dots an inch

/// Sizes on paper in points; the styles that Qt's documents know.
const QString kStyle = QStringLiteral(
    "h1{font-size:14pt}h2{font-size:11pt}h3{font-size:9pt}"
    "p,li,td,th,dt,dd{font-size:7pt}th{text-align:left;background:#eeeeee}"
    "th,td{padding:1px 4px}code{font-size:7pt}small{font-size:6pt}");

QImage drawn(QSvgRenderer& renderer, double width) {
    const QSizeF size = renderer.defaultSize();
    const double height = width * size.height() / size.width();
    QImage image((QSizeF(width, height) * kPictureScale).toSize(), QImage::Format_RGB32);
    image.fill(Qt::white);
    QPainter painter(&image);
    renderer.render(&painter);
    return image;
}

/// Each inline picture becomes an image of the document.
QString with_pictures(const QString& html, QTextDocument& document, double width) {
    static const QRegularExpression svg(QStringLiteral("<svg.*?</svg>"),
                                        QRegularExpression::DotMatchesEverythingOption);
    QString out;
    qsizetype end = 0;
    int count = 0;
    for (QRegularExpressionMatchIterator found = svg.globalMatch(html); found.hasNext();) {
        const QRegularExpressionMatch match = found.next();
        QSvgRenderer renderer(match.captured().toUtf8());
        out += html.mid(end, match.capturedStart() - end);
        end = match.capturedEnd();
        if (!renderer.isValid()) continue;
        const QString name = QStringLiteral("picture:%1").arg(count++);
        document.addResource(QTextDocument::ImageResource, QUrl(name), drawn(renderer, width));
        out += QStringLiteral("<br><img src=\"%1\" width=\"%2\">").arg(name).arg(width);
    }
    return out + html.mid(end);
}

}  // namespace

void print_report(const Decision& decision, QPagedPaintDevice& device) {
    QTextDocument document;
    document.setDefaultStyleSheet(kStyle);
    const double width = device.pageLayout().paintRect(QPageLayout::Point).width();
    QString html = qtext(decision_html(decision));
    static const QRegularExpression style(QStringLiteral("<style.*?</style>"),
                                          QRegularExpression::DotMatchesEverythingOption);
    html.remove(style);
    html.replace(QStringLiteral("<table"),
                 QStringLiteral("<table cellspacing=\"0\" border=\"0\" width=\"100%\""));
    document.setHtml(with_pictures(html, document, width));
    document.setPageSize(device.pageLayout().paintRect(QPageLayout::Point).size());
    document.print(&device);
}

QByteArray report_pdf(const Decision& decision) {
    QBuffer buffer;
    buffer.open(QIODevice::WriteOnly);
    {
        QPdfWriter writer(&buffer);
        writer.setPageLayout(QPageLayout(QPageSize(QPageSize::A4), QPageLayout::Landscape,
                                         QMarginsF(12, 12, 12, 12), QPageLayout::Millimeter));
        writer.setTitle(qtext(question(decision)));
        print_report(decision, writer);
    }
    return buffer.data();
}

QByteArray picture_pdf(const QByteArray& svg, const QString& title) {
    constexpr double kPointsAPixel = 72.0 / 96;  // of SVG
    QSvgRenderer renderer(svg);
    QBuffer buffer;
    buffer.open(QIODevice::WriteOnly);
    {
        QPdfWriter writer(&buffer);
        writer.setTitle(title);
        writer.setPageSize(QPageSize(QSizeF(renderer.defaultSize()) * kPointsAPixel,
                                     QPageSize::Point, {}, QPageSize::ExactMatch));
        writer.setPageMargins(QMarginsF());
        QPainter painter(&writer);
        renderer.render(&painter);
    }
    return buffer.data();
}

bool print_picture(const QByteArray& svg, const QString& title, QPagedPaintDevice& device) {
    QSvgRenderer renderer(svg);
    QPainter painter;
    if (!painter.begin(&device)) return false;
    QRectF area = painter.viewport();
    painter.drawText(area, Qt::AlignLeft | Qt::AlignTop, title);
    area.setTop(area.top() + 2 * painter.fontMetrics().height());
    QSizeF size = renderer.defaultSize();
    size.scale(area.size(), Qt::KeepAspectRatio);
    renderer.render(&painter, QRectF(area.topLeft(), size));
    return painter.end();
}

}  // namespace sluice
