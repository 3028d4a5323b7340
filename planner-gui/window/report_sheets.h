// Where on which sheet does each piece of a printed report stand? Sheets are filled: a part begins
// below the one before, and what belongs together is not divided.
#pragma once

#include <QList>
#include <QPointF>
#include <QRectF>
#include <QSizeF>
#include <memory>
#include <vector>

class QTextDocument;

namespace sluice {

/// A document without pages, as wide as one of its columns.
struct ReportPart {
    std::unique_ptr<QTextDocument> document;
    int columns = 1;
};

/// A range of a document from top to bottom, and where its upper left corner is on the sheet.
struct PlacedPiece {
    const QTextDocument* document = nullptr;
    QRectF piece;
    QPointF at;
};
using ReportSheet = std::vector<PlacedPiece>;

/// Headings stay with what follows them, lines and rows of tables are whole, and so are paragraphs
/// and tables of a third of a sheet. A table that goes on repeats its header. Columns of the last
/// sheet are equally long. `sheet` and `gap`, which is between columns, are in pixels of the
/// documents.
std::vector<ReportSheet> report_sheets(const std::vector<ReportPart>& parts, const QSizeF& sheet,
                                       double gap);

}  // namespace sluice
