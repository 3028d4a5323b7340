#include "sim/report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/input_error.h"
#include "sim/report/table_page.h"
#include "sim/report/to_svg.h"

namespace sluice {
namespace {

constexpr std::size_t kMany = 16;  // columns; a page prints more in smaller letters

template <typename... Functions>
struct Overloaded : Functions... {
    using Functions::operator()...;
};
template <typename... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;  // Clang 16 needs to be told

std::string number_text(double number, Unit unit, const BytesText& bytes) {
    switch (unit) {
        case Unit::whole:
            return format_thousands(number);
        case Unit::count:
            return format_count(number);
        case Unit::bytes:
            return bytes(number);
        case Unit::seconds:
            return format_seconds(number);
        case Unit::usd:
            return format_usd(number);
        case Unit::share:
            return format_percent(number);
        case Unit::error:
            return fmt::format("{:.1f}%", 100 * number);
        case Unit::change:  // no "-0.0%"
            return format_error(std::abs(number) < 0.0005 ? 0.0 : number);
        case Unit::ratio:
            return fmt::format("{:.2f}x", number);
        case Unit::text:
        case Unit::flag:
        case Unit::number:
            break;
    }
    return fmt::format("{:g}", number);
}

/// Columns with a title in which at least one row has a value.
std::vector<std::size_t> shown_columns(const Table& table) {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
        const Unit unit = table.columns[i].unit;
        if (!table.columns[i].title.empty() &&
            std::any_of(table.rows.begin(), table.rows.end(), [&](const Row& row) {
                return row.cells[i].is_shown() && !cell_text(row.cells[i], unit).empty();
            }))
            out.push_back(i);
    }
    return out;
}

/// The text that all rows show in a column; empty if they differ, or fewer than two show something.
std::string common_text(const Table& table, std::size_t column) {
    std::string out;
    int shown = 0;
    for (const Row& row : table.rows) {
        const std::string text = cell_text(row.cells[column], table.columns[column].unit);
        if (text.empty() || !row.cells[column].is_shown()) continue;
        if (shown++ > 0 && text != out) return "";
        out = text;
    }
    return shown < 2 ? "" : out;
}

/// An element whose `value` attribute has all digits.
std::string data_element(double number, const std::string& shown) {
    return fmt::format("<data value=\"{}\">{}</data>", number, escape_xml(shown));
}

std::string html_content(const Cell& cell, Unit unit) {
    const std::string text = cell_text(cell, unit);
    std::string out = escape_xml(text);
    if (!cell.is_shown()) return out;
    if (const auto* range = std::get_if<Range>(&cell.value); range && cell.shown.empty())
        out = data_element(range->low, number_text(range->low, unit, format_bytes)) + " to " +
              data_element(range->high, number_text(range->high, unit, format_bytes));
    else if (const auto* number = std::get_if<double>(&cell.value))
        out = data_element(*number, text);
    else if (const auto* whole = std::get_if<std::int64_t>(&cell.value))
        out = data_element(static_cast<double>(*whole), text);
    return cell.marked ? "<strong>" + out + "</strong>" : out;
}

std::string html_cell(const char* tag, Unit unit, const std::string& tooltip,
                      const std::string& content) {
    return fmt::format("<{0}{1}{2}>{3}</{0}>", tag, is_aligned_right(unit) ? "" : " class=\"text\"",
                       tooltip.empty() ? "" : " title=\"" + escape_xml(tooltip) + "\"", content);
}

}  // namespace

PageColumns page_columns(const Table& table) {
    PageColumns out;
    for (const std::size_t i : shown_columns(table)) {
        const Column& column = table.columns[i];
        const std::string common = column.once_if_equal ? common_text(table, i) : "";
        if (common.empty()) {
            out.columns.push_back(i);
            continue;
        }
        std::string title = column.title;
        std::replace(title.begin(), title.end(), '\n', ' ');
        out.in_all_rows +=
            (out.in_all_rows.empty() ? "in all rows: " : ", ") + title + " " + common;
    }
    return out;
}

Table select(const Table& table, const std::vector<std::string>& keys) {
    Table out;
    std::vector<std::size_t> kept;
    for (const std::string& key : keys) {
        const auto found = std::find_if(
            table.columns.begin(), table.columns.end(),
            [&](const Column& one) { return (one.key.empty() ? one.title : one.key) == key; });
        if (found == table.columns.end())
            throw InternalError(fmt::format("table: no column {}", key));
        kept.push_back(static_cast<std::size_t>(found - table.columns.begin()));
        out.columns.push_back(*found);
    }
    for (const Row& row : table.rows) {
        Row& copy = out.rows.emplace_back(Row{{}, row.heading, row.marked});
        for (const std::size_t i : kept) copy.cells.push_back(row.cells[i]);
    }
    return out;
}

std::string cell_text(const Cell& cell, Unit unit, const BytesText& bytes) {
    if (!cell.is_shown()) return "-";
    if (!cell.shown.empty()) return cell.shown;
    return std::visit(Overloaded{[](const std::monostate&) { return std::string("-"); },
                                 [](bool flag) { return std::string(flag ? "yes" : "NO"); },
                                 [](const std::string& text) { return text; },
                                 [&](const Range& range) {
                                     return number_text(range.low, unit, bytes) + " to " +
                                            number_text(range.high, unit, bytes);
                                 },
                                 [&](auto number) {
                                     return number_text(static_cast<double>(number), unit, bytes);
                                 }},
                      cell.value);
}

bool is_aligned_right(Unit unit) { return unit != Unit::text && unit != Unit::flag; }

std::string to_html(const Table& table) {
    if (table.rows.empty()) return "";
    const auto [columns, in_all_rows] = page_columns(table);
    std::string out = fmt::format("<div class=\"wide\"><table{}>\n<thead><tr>",
                                  columns.size() > kMany ? " class=\"many\"" : "");
    for (const std::size_t i : columns) {
        std::string title = table.columns[i].title;
        std::replace(title.begin(), title.end(), '\n', ' ');
        out += html_cell("th", table.columns[i].unit, table.columns[i].help, escape_xml(title));
    }
    out += "</tr></thead>\n";
    for (const Row& row : table.rows) {
        if (!row.heading.empty())
            out += fmt::format("<tr class=\"group\"><td colspan=\"{}\">{}</td></tr>\n",
                               columns.size(), escape_xml(row.heading));
        out += row.marked ? "<tr class=\"marked\">" : "<tr>";
        for (const std::size_t i : columns)
            out += html_cell("td", table.columns[i].unit, row.cells[i].tooltip,
                             html_content(row.cells[i], table.columns[i].unit));
        out += "</tr>\n";
    }
    out += "</table></div>\n";
    return in_all_rows.empty() ? out : out + html_element("p", in_all_rows);
}

}  // namespace sluice
