#include "planner-gui/window/report_sheets.h"

#include <QAbstractTextDocumentLayout>
#include <QTextBlock>
#include <QTextDocument>
#include <QTextLayout>
#include <QTextTable>
#include <algorithm>

namespace sluice {
namespace {

constexpr double kWhole = 1.0 / 3;       // of a sheet: lower tables and paragraphs are not divided
constexpr double kLeastBegun = 1.0 / 4;  // of a sheet: less room begins no part
constexpr int kTries = 12;               // to make columns equally long

/// A piece that is not divided.
struct Piece {
    double top = 0, bottom = 0;
    double header_top = 0, header_bottom = 0;  ///< of its table, which goes before a later piece
    double header() const { return header_bottom - header_top; }
};

/// The pieces of a document in their order.
class Pieces {
  public:
    Pieces(const QTextDocument& document, double sheet)
        : layout_(*document.documentLayout()), sheet_(sheet) {
        add(*document.rootFrame());
    }
    std::vector<Piece> take() { return std::move(out_); }

  private:
    void add(const QTextFrame& frame) {
        for (auto at = frame.begin(); !at.atEnd(); ++at) {
            if (const auto* const table = qobject_cast<const QTextTable*>(at.currentFrame()))
                add_table(*table);
            else if (at.currentFrame() != nullptr)
                add(*at.currentFrame());
            else
                add_block(at.currentBlock());
        }
    }
    void add_block(const QTextBlock& block) {
        if (block.length() <= 1) return;  // empty; before a table it lies on the table's first row
        const QRectF box = layout_.blockBoundingRect(block);
        const bool heading = block.blockFormat().headingLevel() > 0;
        // A sentence below a heading introduces what follows.
        const bool joins = heading || (after_heading_ && block.textList() == nullptr);
        after_heading_ = heading;
        if (box.height() <= kWhole * sheet_) return add({box.top(), box.bottom()}, joins);
        const QTextLayout& lines = *block.layout();
        for (int i = 0; i < lines.lineCount(); ++i) {
            const QRectF line = lines.lineAt(i).rect().translated(box.topLeft());
            add({line.top(), line.bottom()}, false);
        }
    }
    void add_table(const QTextTable& table) {
        const QRectF box = layout_.frameBoundingRect(const_cast<QTextTable*>(&table));
        const int headers = table.format().headerRowCount();
        const bool whole = box.height() <= kWhole * sheet_;
        double top = box.top();
        const double header_bottom = headers > 0 ? bottom_of(table, headers - 1) : top;
        for (int row = 0; row < table.rows(); ++row) {
            const bool last = row + 1 == table.rows();
            Piece piece{top, last ? box.bottom() : bottom_of(table, row)};
            if (row > headers) piece.header_top = box.top(), piece.header_bottom = header_bottom;
            const bool heading =
                table.columns() > 1 && table.cellAt(row, 0).columnSpan() == table.columns();
            top = piece.bottom;
            add(piece, !last && (whole || row < headers || heading));
        }
    }
    /// Halfway to the next row.
    double bottom_of(const QTextTable& table, int row) const {
        double bottom = 0, next = 1e9;
        for (int column = 0; column < table.columns(); ++column) {
            const QTextTableCell cell = table.cellAt(row, column);
            bottom = std::max(
                bottom, layout_.blockBoundingRect(cell.lastCursorPosition().block()).bottom());
            if (row + 1 < table.rows())
                next = std::min(next,
                                layout_
                                    .blockBoundingRect(
                                        table.cellAt(row + 1, column).firstCursorPosition().block())
                                    .top());
        }
        return next < 1e9 ? (bottom + next) / 2 : bottom;
    }
    void add(const Piece& piece, bool joins_next) {
        if (joins_ && piece.bottom - out_.back().top <= sheet_)
            out_.back().bottom = piece.bottom;
        else
            out_.push_back(piece);
        joins_ = joins_next;
    }

    const QAbstractTextDocumentLayout& layout_;
    const double sheet_;
    std::vector<Piece> out_;
    bool joins_ = false;  ///< the next piece belongs to the last one
    bool after_heading_ = false;
};

/// One part, column by column.
class Filling {
  public:
    Filling(const ReportPart& part, const QSizeF& sheet, double gap)
        : part_(part),
          sheet_(sheet),
          gap_(gap),
          pieces_(Pieces(*part.document, sheet.height()).take()) {}

    bool ends() const { return next_ == pieces_.size(); }

    /// Fills a sheet from `top` on, and returns how far it is filled. Equally long columns, where
    /// the part ends on it.
    double fill(double top, ReportSheet& sheet) {
        double height = sheet_.height() - top;
        const auto ends_within = [&](double tried) {
            Filling copy(*this);
            ReportSheet unused;
            copy.place(top, tried, unused);
            return copy.ends();
        };
        if (part_.columns > 1 && ends_within(height)) {
            double low = 0;
            for (int i = 0; i < kTries; ++i) {
                const double middle = (low + height) / 2;
                (ends_within(middle) ? height : low) = middle;
            }
        }
        return place(top, height, sheet);
    }

  private:
    double place(double top, double height, ReportSheet& sheet) {
        double filled = top;
        for (int column = 0; column < part_.columns && !ends(); ++column) {
            const double width = part_.document->textWidth();
            double y = top;
            const auto add = [&](double from, double to) {
                sheet.push_back({part_.document.get(),
                                 {0, from, width, to - from},
                                 {column * (width + gap_), y}});
                y += to - from;
            };
            Piece& first = pieces_[next_];
            const double room = height - first.header();
            const bool cut = first.bottom - first.top > room;
            if (cut && height < sheet_.height()) break;  // the next sheet has room for it
            if (first.header() > 0) add(first.header_top, first.header_bottom);
            double end = first.top + room;
            if (!cut)
                for (double begin = first.top; !ends() && pieces_[next_].bottom <= begin + room;)
                    end = pieces_[next_++].bottom;
            add(first.top, end);
            if (cut) first.top = end;
            filled = std::max(filled, y);
        }
        return filled;
    }

    const ReportPart& part_;
    const QSizeF sheet_;
    const double gap_;
    std::vector<Piece> pieces_;
    std::size_t next_ = 0;
};

}  // namespace

std::vector<ReportSheet> report_sheets(const std::vector<ReportPart>& parts, const QSizeF& sheet,
                                       double gap) {
    std::vector<ReportSheet> out(1);
    double filled = 0;
    for (const ReportPart& part : parts) {
        Filling filling(part, sheet, gap);
        double top = filled > 0 ? filled + gap : 0;
        if (sheet.height() - top < kLeastBegun * sheet.height()) top = sheet.height();
        while (!filling.ends()) {
            if (top >= sheet.height()) {
                out.emplace_back();
                top = 0;
            }
            filled = filling.fill(top, out.back());
            top = sheet.height();
        }
    }
    return out;
}

}  // namespace sluice
