#include "sim/report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/input_error.h"
#include "sim/report/to_svg.h"

namespace sluice {
namespace {

template <typename... Functions>
struct Overloaded : Functions... {
    using Functions::operator()...;
};

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

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> out;
    for (std::size_t start = 0; start <= text.size();) {
        const std::size_t end = std::min(text.find('\n', start), text.size());
        out.push_back(text.substr(start, end - start));
        start = end + 1;
    }
    return out;
}

/// Number of UTF-8 characters.
std::size_t width_of(const std::string& text) {
    return static_cast<std::size_t>(std::ranges::count_if(
        text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
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

/// What all rows show in a column; empty if they differ, or fewer than two show something.
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

/// The columns of a page, and the line below them: "in all rows: products bf16".
struct PageColumns {
    std::vector<std::size_t> columns;
    std::string in_all_rows;
};
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

std::string trimmed(std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    return line + "\n";
}

/// Each row as one line; every column has the width of its widest cell.
std::string aligned(const std::vector<std::string>& texts, const std::vector<std::size_t>& widths,
                    const std::vector<bool>& right, std::string_view indent) {
    std::string line(indent);
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const std::string space(widths[i] - width_of(texts[i]), ' ');
        line += (i == 0 ? "" : "  ") + (right[i] ? space + texts[i] : texts[i] + space);
    }
    return trimmed(line);
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

std::string to_text(const Table& table, std::string_view indent) {
    if (table.rows.empty()) return "";
    std::vector<std::vector<std::string>> titles;
    std::vector<std::vector<std::string>> texts(table.rows.size());
    std::vector<std::size_t> widths;
    std::vector<bool> right;
    std::size_t height = 0;
    const PageColumns page = page_columns(table);
    for (const std::size_t i : page.columns) {
        titles.push_back(lines_of(table.columns[i].title));
        height = std::max(height, titles.back().size());
        std::size_t width = 0;
        for (const std::string& line : titles.back()) width = std::max(width, width_of(line));
        for (std::size_t row = 0; row < table.rows.size(); ++row) {
            texts[row].push_back(cell_text(table.rows[row].cells[i], table.columns[i].unit));
            width = std::max(width, width_of(texts[row].back()));
        }
        widths.push_back(width);
        right.push_back(is_aligned_right(table.columns[i].unit));
    }
    std::string out;
    for (std::size_t line = 0; line < height;
         ++line) {  // aligns short titles with the last line of long ones
        std::vector<std::string> parts;
        for (const auto& title : titles)
            parts.push_back(line + title.size() < height ? ""
                                                         : title[line + title.size() - height]);
        out += aligned(parts, widths, right, indent);
    }
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
        if (!table.rows[row].heading.empty())
            out += trimmed(std::string(indent) + table.rows[row].heading);
        out += aligned(texts[row], widths, right, indent);
    }
    return page.in_all_rows.empty() ? out : out + trimmed(std::string(indent) + page.in_all_rows);
}

std::string to_html(const Table& table) {
    if (table.rows.empty()) return "";
    const auto [columns, in_all_rows] = page_columns(table);
    std::string out = "<div class=\"wide\"><table>\n<thead><tr>";
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
