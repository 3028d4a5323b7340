// Text of a table: aligned columns. In a table that is too wide for a terminal, titles take several
// lines, and long remarks stand below it as numbered notes.
#include <fmt/format.h>

#include <algorithm>

#include "sim/report/table_page.h"

namespace sluice {
namespace {

constexpr std::size_t kTitleLines = 3;      ///< at most, of a title that is broken
constexpr std::size_t kLongestRemark = 20;  ///< of a cell that need not become a note

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

/// The words in lines of at most this width; a longer word has a line of its own.
std::vector<std::string> broken(const std::string& text, std::size_t width) {
    std::vector<std::string> out;
    for (std::size_t start = 0; start <= text.size();) {
        const std::size_t end = std::min(text.find(' ', start), text.size());
        const std::string word = text.substr(start, end - start);
        if (!out.empty() && width_of(out.back()) + 1 + width_of(word) <= width)
            out.back() += " " + word;
        else
            out.push_back(word);
        start = end + 1;
    }
    return out;
}

struct TextColumn {
    std::vector<std::string> title;
    std::vector<std::string> cells;
    bool right = false;

    std::size_t cells_width() const {
        std::size_t out = 0;
        for (const std::string& cell : cells) out = std::max(out, width_of(cell));
        return out;
    }
    std::size_t width() const {
        std::size_t out = cells_width();
        for (const std::string& line : title) out = std::max(out, width_of(line));
        return out;
    }
};

std::vector<TextColumn> text_columns(const Table& table, const std::vector<std::size_t>& shown) {
    std::vector<TextColumn> out;
    for (const std::size_t i : shown) {
        const Column& column = table.columns[i];
        TextColumn& one = out.emplace_back();
        one.title = lines_of(column.title);
        one.right = is_aligned_right(column.unit);
        for (const Row& row : table.rows) one.cells.push_back(cell_text(row.cells[i], column.unit));
    }
    return out;
}

bool is_too_wide(const std::vector<TextColumn>& columns) {
    std::size_t width = 0;
    for (const TextColumn& one : columns) width += one.width() + 2;
    return width > kWidestTable + 2;
}

/// Breaks titles that are wider than the cells below them.
void break_titles(std::vector<TextColumn>& columns) {
    for (TextColumn& one : columns) {
        if (one.title.size() > 1) continue;
        const std::string title = one.title.front();
        std::size_t width = std::max<std::size_t>(one.cells_width(), 1);
        while (broken(title, width).size() > kTitleLines) ++width;
        one.title = broken(title, width);
    }
}

/// Moves the remarks of the widest columns below the table, until it is narrow enough. Equal
/// remarks are one note. The first column names the rows, and stays.
std::vector<std::string> move_remarks(std::vector<TextColumn>& columns) {
    std::vector<std::string> notes;
    while (is_too_wide(columns)) {
        TextColumn* widest = nullptr;
        for (std::size_t i = 1; i < columns.size(); ++i)
            if (!columns[i].right && columns[i].cells_width() > kLongestRemark &&
                (widest == nullptr || columns[i].cells_width() > widest->cells_width()))
                widest = &columns[i];
        if (widest == nullptr) break;
        for (std::string& cell : widest->cells) {
            if (width_of(cell) <= kLongestRemark) continue;
            const auto place = std::ranges::find(notes, cell) - notes.begin();
            if (place == std::ssize(notes)) notes.push_back(cell);
            cell = fmt::format("[{}]", place + 1);
        }
    }
    return notes;
}

std::string trimmed(std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    return line + "\n";
}

/// A row as one line; `widths`: of the columns' widest cells.
std::string aligned(const std::vector<std::string>& texts, const std::vector<TextColumn>& columns,
                    const std::vector<std::size_t>& widths, std::string_view indent) {
    std::string line(indent);
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const std::string space(widths[i] - width_of(texts[i]), ' ');
        line += (i == 0 ? "" : "  ") + (columns[i].right ? space + texts[i] : texts[i] + space);
    }
    return trimmed(line);
}

}  // namespace

std::string to_text(const Table& table, std::string_view indent) {
    if (table.rows.empty()) return "";
    const PageColumns page = page_columns(table);
    std::vector<TextColumn> columns = text_columns(table, page.columns);
    if (is_too_wide(columns)) break_titles(columns);
    const std::vector<std::string> notes = move_remarks(columns);
    std::size_t height = 0;
    std::vector<std::size_t> widths;
    for (const TextColumn& one : columns) {
        height = std::max(height, one.title.size());
        widths.push_back(one.width());
    }
    std::string out;
    for (std::size_t line = 0; line < height;
         ++line) {  // aligns short titles with the last line of long ones
        std::vector<std::string> parts;
        for (const auto& [title, cells, right] : columns)
            parts.push_back(line + title.size() < height ? ""
                                                         : title[line + title.size() - height]);
        out += aligned(parts, columns, widths, indent);
    }
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
        if (!table.rows[row].heading.empty())
            out += trimmed(std::string(indent) + table.rows[row].heading);
        std::vector<std::string> parts;
        for (const TextColumn& one : columns) parts.push_back(one.cells[row]);
        out += aligned(parts, columns, widths, indent);
    }
    if (!page.in_all_rows.empty()) out += trimmed(std::string(indent) + page.in_all_rows);
    for (std::size_t i = 0; i < notes.size(); ++i)
        out += trimmed(fmt::format("{}[{}] {}", indent, i + 1, notes[i]));
    return out;
}

namespace {

/// Whether a line may be broken at this space: not between a flag and its value, or between two
/// flags of one command, which a reader copies.
bool may_break(std::string_view line, std::size_t space) {
    constexpr std::string_view kFlag = "--";
    const auto word_before = [&](std::size_t end) {
        const std::size_t begin = line.rfind(' ', end == 0 ? 0 : end - 1);
        return line.substr(begin == std::string_view::npos ? 0 : begin + 1,
                           end - (begin == std::string_view::npos ? 0 : begin + 1));
    };
    const std::string_view before = word_before(space);
    if (before.starts_with(kFlag)) return before.ends_with(',') || before.ends_with(';');
    if (!line.substr(space + 1).starts_with(kFlag)) return true;
    const std::size_t start = space - before.size();
    const bool is_value = start > 0 && word_before(start - 1).starts_with(kFlag);
    return !is_value || before.ends_with(',') || before.ends_with(';');
}

/// The last space within the width at which the line may be broken, or else the first one behind;
/// npos: none.
std::size_t break_of(const std::string& line, std::size_t indent) {
    std::size_t out = std::string::npos;
    for (std::size_t i = line.find(' ', indent); i != std::string::npos;
         i = line.find(' ', i + 1)) {
        if (i <= indent || !may_break(line, i)) continue;
        const bool within = width_of(line.substr(0, i)) <= kWidestTable;
        if (!within && out != std::string::npos) break;
        out = i;
        if (!within) break;
    }
    return out;
}

/// The last space before a flag within the width, less the " \" with which a shell reads on, or
/// else the first one behind; npos: none.
std::size_t break_of_command(const std::string& line, std::size_t indent) {
    constexpr std::string_view kNext = " --";
    std::size_t out = std::string::npos;
    for (std::size_t i = line.find(kNext, indent); i != std::string::npos;
         i = line.find(kNext, i + 1)) {
        const std::string before = line.substr(0, i);
        if (std::ranges::count(before, '\'') % 2 != 0) continue;  // within a quoted word
        const bool within = width_of(before) + 2 <= kWidestTable;
        if (!within && out != std::string::npos) break;
        out = i;
        if (!within) break;
    }
    return out;
}

}  // namespace

std::string folded(const std::string& text) {
    std::string out;
    for (std::string line : lines_of(text)) {
        // Further lines begin below the first one's text, which may follow a label and spaces.
        const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
        const std::size_t label = line.find("  ", begin);
        const bool has_label = label != std::string::npos && label < begin + kLongestRemark;
        const std::size_t indent = has_label ? line.find_first_not_of(' ', label) : begin + 2;
        const bool is_command = line.compare(begin, 6, "./dev ") == 0;
        while (width_of(line) > kWidestTable) {
            const std::size_t cut =
                is_command ? break_of_command(line, indent) : break_of(line, indent);
            if (cut == std::string::npos) break;
            out += line.substr(0, cut) + (is_command ? " \\\n" : "\n");
            line = std::string(indent, ' ') + line.substr(cut + 1);
        }
        out += line + '\n';
    }
    out.pop_back();
    return out;
}

}  // namespace sluice
