// How is a table shown? A table is a value: typed columns and rows. Each format has one renderer.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "sim/base/format.h"

namespace sluice {

/// How people read a column's values. Text and flags are aligned left, numbers right.
enum class Unit : std::uint8_t {
    text,
    flag,     ///< "yes", "NO"
    whole,    ///< "14,320"
    number,   ///< "0.25": six digits
    count,    ///< "7.62 B"
    bytes,    ///< "121.3 GB"
    seconds,  ///< "31.2 ms"
    usd,      ///< "$0.24"
    share,    ///< 0.87 is "87%"
    error,    ///< 0.2 is "20.0%"
    change,   ///< 0.012 is "+1.2%"
    ratio,    ///< 0.25 is "0.25x"
};

/// The 5 to 95% band of a value.
struct Range {
    double low = 0, high = 0;
    bool operator==(const Range&) const = default;
};

struct Cell {
    /// In SI units and shares; monostate: no value.
    std::variant<std::monostate, bool, std::int64_t, double, Range, std::string> value = {};
    std::string tooltip = {};
    bool marked = false;     ///< bold
    std::string shown = {};  ///< text for people in place of the value; empty: the value
    bool hidden = false;     ///< people see "-", since the value is not relevant here
    int series = -1;         ///< index of a legend colour before the text; -1: none

    Cell() = default;
    Cell(const char* text) : value(std::string(text)) {}
    Cell(std::string text) : value(std::move(text)) {}
    Cell(Range range) : value(range) {}
    template <typename Number>
    requires std::is_arithmetic_v<Number> Cell(Number number) {
        if constexpr (std::is_same_v<Number, bool>)
            value = number;
        else if constexpr (std::is_integral_v<Number>)
            value = static_cast<std::int64_t>(number);
        else
            value = static_cast<double>(number);
    }
    template <typename Value>
    Cell(const std::optional<Value>& maybe) {
        if (maybe) *this = Cell(*maybe);
    }

    Cell with_tooltip(std::string words) && { return tooltip = std::move(words), std::move(*this); }
    Cell with_mark(bool mark = true) && { return marked = mark, std::move(*this); }
    /// `value` stays for programs and for sorting.
    Cell shown_as(std::string words) && { return shown = std::move(words), std::move(*this); }
    Cell hidden_if(bool says_nothing) && { return hidden = says_nothing, std::move(*this); }
    Cell in_series(int number) && { return series = number, std::move(*this); }
    /// The words are a cut value: the tooltip has it whole.
    Cell cut_as(const std::string& words) && {
        if (const auto* whole = std::get_if<std::string>(&value); whole && *whole != words)
            tooltip = *whole, shown = words;
        return std::move(*this);
    }
    bool is_missing() const { return std::holds_alternative<std::monostate>(value); }
    /// Whether people see anything but "-".
    bool is_shown() const { return !hidden && !(is_missing() && shown.empty()); }
    bool operator==(const Cell&) const = default;
};

enum class Programs : std::uint8_t { all, json, csv };

struct Column {
    /// The key in JSON and CSV, with its unit: "step_s". A dot makes a JSON object, and is "_" in
    /// CSV: "device.peak_bytes". A column of ranges has "{}", which becomes 5 and 95. A key for CSV
    /// only is written unchanged. Empty: only for people.
    std::string key;
    std::string title;  ///< lower case, with line breaks allowed; empty: only for programs
    Unit unit = Unit::text;
    std::string help = {};  ///< tooltip of the title
    Programs programs = Programs::all;
    /// Where all its values look the same, pages have no such column but a line below the table.
    bool once_if_equal = false;
    bool operator==(const Column&) const = default;
};

struct Row {
    std::vector<Cell> cells;   ///< as many as columns
    std::string heading = {};  ///< a line above this row that names a group of rows
    bool marked = false;       ///< bold
    bool muted = false;        ///< less important than other rows
    std::string tooltip = {};  ///< tooltip of cells that have none
    bool operator==(const Row&) const = default;
};

struct Table {
    std::vector<Column> columns;
    std::vector<Row> rows = {};
    bool operator==(const Table&) const = default;
};

/// A column, and the source of its cell: a function of the item, a member, or a member function.
template <typename Item>
struct ColumnOf {
    ColumnOf(std::string key, std::string title, Unit unit, std::function<Cell(const Item&)> of,
             std::string help = {}, Programs programs = Programs::all)
        : column{std::move(key), std::move(title), unit, std::move(help), programs},
          cell(std::move(of)) {}

    ColumnOf(std::string key, std::string title, std::function<Cell(const Item&)> of,
             std::string help = {}, Programs programs = Programs::all)
        : ColumnOf(std::move(key), std::move(title), Unit::text, std::move(of), std::move(help),
                   programs) {}

    ColumnOf once_if_equal() && { return column.once_if_equal = true, std::move(*this); }

    Column column;
    std::function<Cell(const Item&)> cell;
};

template <typename Item, typename Items>
Table table_of(const Items& items, const std::vector<ColumnOf<Item>>& columns) {
    Table out;
    for (const ColumnOf<Item>& one : columns) out.columns.push_back(one.column);
    for (const Item& item : items) {
        Row& row = out.rows.emplace_back();
        for (const ColumnOf<Item>& one : columns) row.cells.push_back(one.cell(item));
    }
    return out;
}

/// The table with only these columns, given by key or else by title. Throws InternalError if one is
/// missing.
Table select(const Table& table, const std::vector<std::string>& keys);

/// The cell as people see it; "-" if the value is missing.
std::string cell_text(const Cell& cell, Unit unit, const BytesText& bytes = format_bytes);
bool is_aligned_right(Unit unit);

/// Lines of aligned columns, each after `indent`; "" without rows. Columns without a value are left
/// out.
std::string to_text(const Table& table, std::string_view indent = "");
/// Columns of a screen, at which text is folded.
inline constexpr std::size_t kWidestTable = 160;
/// The lines of a text, those that are wider than a table may be broken between words, and those of
/// a command before flags, so that a shell reads on.
std::string folded(const std::string& text);
/// A line of keys, then one line per row; missing values are empty. Numbers have this many
/// significant digits: 17 read back to the same number, and digits after the tenth are noise.
std::string to_csv(const Table& table, int digits = 10);
/// An array with one object per row. A missing value is null, and so is an object without values;
/// with `leave_out` they have no key.
nlohmann::ordered_json to_json(const Table& table, bool leave_out = false);
/// A <table>; numbers are in <data> elements whose value has all digits. "" without rows.
std::string to_html(const Table& table);

}  // namespace sluice
