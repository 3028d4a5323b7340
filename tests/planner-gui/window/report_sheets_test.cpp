// Are the sheets of a printed report filled, and is nothing divided that belongs together?
#include "planner-gui/window/report_sheets.h"

#include <QAbstractTextDocumentLayout>
#include <QTextBlock>
#include <QTextDocument>
#include <algorithm>

#include "tests/catch.h"

namespace sluice {
namespace {

constexpr QSizeF kSheet(600, 400);
constexpr double kGap = 20;

ReportPart part_of(const QString& html, int columns) {
    ReportPart out{std::make_unique<QTextDocument>(), columns};
    out.document->setDocumentMargin(0);
    out.document->setHtml(html);
    out.document->setTextWidth((kSheet.width() - (columns - 1) * kGap) / columns);
    return out;
}

QString paragraphs(int count) {
    QString out;
    for (int i = 0; i < count; ++i) out += QStringLiteral("<p>paragraph %1</p>").arg(i);
    return out;
}

/// The pieces of a document in order, without repeated headers.
std::vector<QRectF> pieces_of(const std::vector<ReportSheet>& sheets, const QTextDocument& of) {
    std::vector<QRectF> out;
    for (const ReportSheet& sheet : sheets)
        for (const PlacedPiece& one : sheet)
            if (one.document == &of && (out.empty() || one.piece.top() > out.back().top()))
                out.push_back(one.piece);
    return out;
}

double end_of(const ReportSheet& sheet) {
    double out = 0;
    for (const PlacedPiece& one : sheet) out = std::max(out, one.at.y() + one.piece.height());
    return out;
}

}  // namespace

TEST_CASE("report sheets: all blocks are on a sheet, once, and none is divided", "[window]") {
    std::vector<ReportPart> parts;
    parts.push_back(part_of(paragraphs(60), 1));
    const QTextDocument& document = *parts.front().document;
    const std::vector<ReportSheet> sheets = report_sheets(parts, kSheet, kGap);
    REQUIRE(sheets.size() > 2);
    const std::vector<QRectF> pieces = pieces_of(sheets, document);
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
        const QRectF box = document.documentLayout()->blockBoundingRect(block);
        CHECK(std::ranges::count_if(pieces, [&](const QRectF& piece) {
                  return piece.top() <= box.top() + 0.01 && box.bottom() <= piece.bottom() + 0.01;
              }) == 1);
    }
    for (const ReportSheet& sheet : sheets) CHECK(end_of(sheet) <= kSheet.height() + 0.01);
}

TEST_CASE("report sheets: a heading goes to the next sheet with what follows it", "[window]") {
    const double line = [] {
        const ReportPart one = part_of(paragraphs(2), 1);
        const auto* const layout = one.document->documentLayout();
        return layout->blockBoundingRect(one.document->begin().next()).top() -
               layout->blockBoundingRect(one.document->begin()).top();
    }();
    const int before = static_cast<int>(kSheet.height() / line) - 2;  // room for the heading alone
    for (int more = -2; more <= 2; ++more) {
        std::vector<ReportPart> parts;
        parts.push_back(part_of(
            paragraphs(before + more) + QStringLiteral("<h2>heading</h2>") + paragraphs(5), 1));
        const QTextDocument& document = *parts.front().document;
        const QTextBlock heading = document.findBlockByNumber(before + more);
        REQUIRE(heading.text() == QStringLiteral("heading"));
        const auto* const layout = document.documentLayout();
        const double top = layout->blockBoundingRect(heading).top(),
                     next = layout->blockBoundingRect(heading.next()).bottom();
        for (const QRectF& piece : pieces_of(report_sheets(parts, kSheet, kGap), document))
            CHECK((piece.bottom() <= top + 0.01 || piece.bottom() >= next - 0.01));
    }
}

TEST_CASE("report sheets: a table that goes on repeats its header", "[window]") {
    QString table = QStringLiteral("<table><thead><tr><th>number</th></tr></thead>");
    for (int i = 0; i < 60; ++i) table += QStringLiteral("<tr><td>%1</td></tr>").arg(i);
    std::vector<ReportPart> parts;
    parts.push_back(part_of(table + QStringLiteral("</table>"), 1));
    const std::vector<ReportSheet> sheets = report_sheets(parts, kSheet, kGap);
    REQUIRE(sheets.size() >= 3);
    for (std::size_t i = 1; i < sheets.size(); ++i) {
        REQUIRE(sheets[i].size() == 2);
        CHECK(sheets[i][0].piece.top() == sheets[0][0].piece.top());
        CHECK(sheets[i][1].at.y() == Approx(sheets[i][0].piece.height()));
    }
}

TEST_CASE("report sheets: a part begins below the one before, in columns equally long",
          "[window]") {
    std::vector<ReportPart> parts;
    parts.push_back(part_of(paragraphs(3), 1));
    parts.push_back(part_of(paragraphs(10), 2));
    const std::vector<ReportSheet> sheets = report_sheets(parts, kSheet, kGap);
    REQUIRE(sheets.size() == 1);
    REQUIRE(sheets[0].size() == 3);
    const PlacedPiece &left = sheets[0][1], &right = sheets[0][2];
    CHECK(left.at.y() > sheets[0][0].piece.bottom());
    CHECK(left.at.y() == right.at.y());
    CHECK(right.at.x() == Approx((kSheet.width() + kGap) / 2));
    CHECK(left.piece.height() < 1.3 * right.piece.height());
}

}  // namespace sluice
