#include "planner-gui/window/printed_report.h"

#include <QAbstractTextDocumentLayout>
#include <QBuffer>
#include <QImage>
#include <QPainter>
#include <QPdfWriter>
#include <QRegularExpression>
#include <QSvgRenderer>
#include <QTextDocument>
#include <QUrl>
#include <memory>

#include "planner-gui/pictures/byte_units.h"
#include "planner-gui/window/report_sheets.h"
#include "sim/report/answers/answer_reports.h"

namespace sluice {
namespace {

constexpr double kDocumentDpi = 96;  // of Qt's documents
constexpr double kPictureScale = 3;  // pixels of a picture for each of the document
constexpr double kHighest = 0.33;    // of a page: a picture
constexpr std::size_t kMostPages = 6;
constexpr int kAppendixColumns = 2;                            // of the appendix
constexpr double kGap = 20;                                    // between them, in pixels
constexpr double kLargest = 7, kSmallest = 3.5, kStep = 0.25;  // of letters, in points
constexpr double kLegible = 6;                                 // points
constexpr double kOfMany = 0.85;  // of them: letters of tables with many columns

/// The styles that Qt's documents know.
QString style_of(double points) {
    return QStringLiteral(
               "h1{font-size:%1pt}h2{font-size:%2pt}h3{font-size:%3pt}"
               "p,li,td,th,dt,dd{font-size:%4pt}th{text-align:left;background:#eeeeee}"
               "table.many th,table.many "
               "td{font-size:%5pt}code{font-size:%4pt}small{font-size:%4pt}"
               "tr.group td{font-weight:bold;background:#eeeeee}tr.marked td{background:#dfeefa}"
               "p,ul,h3{margin-top:2px;margin-bottom:2px}h2{margin-top:8px;margin-bottom:2px}")
        .arg(2 * points)
        .arg(1.5 * points)
        .arg(1.15 * points)
        .arg(points)
        .arg(kOfMany * points);
}

QImage drawn(QSvgRenderer& renderer, double width) {
    const QSizeF size = renderer.defaultSize();
    const double height = width * size.height() / size.width();
    QImage image((QSizeF(width, height) * kPictureScale).toSize(), QImage::Format_RGB32);
    image.fill(Qt::white);
    QPainter painter(&image);
    renderer.render(&painter);
    return image;
}

/// Each figure becomes an image of the document, half as wide as the page; two share a line, as
/// long as no text is between them.
QString with_pictures(const QString& html, QTextDocument& document, const QSizeF& page) {
    static const QRegularExpression figure(
        QStringLiteral("<figure>(.*?)(<svg.*?</svg>)\\s*</figure>"),
        QRegularExpression::DotMatchesEverythingOption);
    QString out;
    qsizetype end = 0;
    int count = 0;
    for (QRegularExpressionMatchIterator found = figure.globalMatch(html); found.hasNext();) {
        const QRegularExpressionMatch match = found.next();
        QSvgRenderer renderer(match.captured(2).toUtf8());
        const QString before = html.mid(end, match.capturedStart() - end);
        if (!before.trimmed().isEmpty()) out += before + QStringLiteral("<p>");
        end = match.capturedEnd();
        if (!renderer.isValid()) continue;
        const QSizeF size = renderer.defaultSize();
        const double width = std::min(page.width() / 2 - kGap,
                                      kHighest * page.height() * size.width() / size.height());
        const QString name = QStringLiteral("picture:%1").arg(count++);
        document.addResource(QTextDocument::ImageResource, QUrl(name), drawn(renderer, width));
        out += QStringLiteral(
                   "<img src=\"%1\" width=\"%2\" height=\"%3\" "
                   "style=\"vertical-align:top\">")
                   .arg(name)
                   .arg(width)
                   .arg(width * size.height() / size.width());
    }
    return out + html.mid(end);
}

/// A sheet's size in the document, in pixels.
QSizeF sheet_of(const QPageLayout& layout) {
    return layout.paintRect(QPageLayout::Inch).size() * kDocumentDpi;
}

/// `sheet`: in pixels of the document.
ReportPart part_of(const QString& html, const QSizeF& sheet, double points, int columns) {
    ReportPart out{std::make_unique<QTextDocument>(), columns};
    out.document->setDocumentMargin(0);
    out.document->setDefaultStyleSheet(style_of(points));
    out.document->setHtml(with_pictures(html, *out.document, sheet));
    out.document->setTextWidth((sheet.width() - (columns - 1) * kGap) / columns);
    return out;
}

/// The parts that are printed, and their places.
struct Printed {
    std::vector<ReportPart> parts;
    std::vector<ReportSheet> sheets;
};

Printed printed(const QString& html, const QSizeF& sheet, double points) {
    static const QString appendix = QStringLiteral("<div class=\"appendix\">");
    const qsizetype split = html.indexOf(appendix);
    const QString front = html.left(split), back = split < 0 ? QString() : html.mid(split);
    Printed out;
    out.parts.push_back(part_of(front, sheet, points, 1));
    if (!back.isEmpty()) out.parts.push_back(part_of(back, sheet, points, kAppendixColumns));
    out.sheets = report_sheets(out.parts, sheet, kGap);
    return out;
}

/// The letters are as large as the number of pages allows, or a little smaller where that saves a
/// page.
Printed printed(const QString& html, const QSizeF& sheet) {
    double points = kLargest;
    Printed out = printed(html, sheet, points);
    while (out.sheets.size() > kMostPages && points > kSmallest)
        out = printed(html, sheet, points -= kStep);
    while (points - kStep >= kLegible) {
        Printed smaller = printed(html, sheet, points -= kStep);
        if (smaller.sheets.size() < out.sheets.size()) return smaller;
    }
    return out;
}

void draw(QPainter& painter, const PlacedPiece& one) {
    painter.save();
    painter.translate(one.at - one.piece.topLeft());
    painter.setClipRect(one.piece);
    QAbstractTextDocumentLayout::PaintContext context;
    context.clip = one.piece;
    context.palette.setColor(QPalette::Text, Qt::black);
    one.document->documentLayout()->draw(&painter, context);
    painter.restore();
}

Printed printed(const Decision& decision, const QPageLayout& layout) {
    Decision on_paper = decision;
    // Paper carries no scenarios that a program could open.
    for (AskedMachine& asked : on_paper.request.machines) asked.planned = {};
    QString html = qtext(decision_html(on_paper));
    static const QRegularExpression unseen(QStringLiteral("<style.*?</style>|<script.*?</script>"),
                                           QRegularExpression::DotMatchesEverythingOption);
    html.remove(unseen);
    static const QRegularExpression machine_readable(QStringLiteral("</?data[^>]*>"));
    html.remove(machine_readable);  // Qt takes the letters within for text outside of the table
    html.replace(
        QStringLiteral("<table"),
        // Qt counts this padding, but not that of a style, when it fits words into columns.
        QStringLiteral("<table cellspacing=\"0\" cellpadding=\"2\" border=\"0\" "
                       "width=\"100%\""));
    return printed(html, sheet_of(layout));
}

QPageLayout a4_landscape() {
    return {QPageSize(QPageSize::A4), QPageLayout::Landscape, QMarginsF(12, 12, 12, 12),
            QPageLayout::Millimeter};
}

}  // namespace

void print_report(const Decision& decision, QPagedPaintDevice& device) {
    QPainter painter(&device);
    const double scale = device.logicalDpiX() / kDocumentDpi;
    painter.scale(scale, scale);
    const Printed all = printed(decision, device.pageLayout());
    for (std::size_t i = 0; i < all.sheets.size(); ++i) {
        if (i > 0) device.newPage();
        for (const PlacedPiece& one : all.sheets[i]) draw(painter, one);
    }
}

QByteArray report_pdf(const Decision& decision) {
    QBuffer buffer;
    buffer.open(QIODevice::WriteOnly);
    {
        QPdfWriter writer(&buffer);
        writer.setPageLayout(a4_landscape());
        writer.setTitle(qtext(question(decision)));
        print_report(decision, writer);
    }
    return buffer.data();
}

QString report_pdf_text(const Decision& decision) {
    QString out;
    for (const ReportPart& part : printed(decision, a4_landscape()).parts)
        out += part.document->toPlainText() + QLatin1Char('\n');
    return out;
}

QByteArray picture_png(const QByteArray& svg) {
    constexpr double kPixels = 2;
    QSvgRenderer renderer(svg);
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    drawn(renderer, renderer.defaultSize().width() * kPixels / kPictureScale).save(&buffer, "PNG");
    return bytes;
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
