#include "sim/specs/scenario/quotes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "sim/base/format.h"
#include "sim/base/input_error.h"
#include "sim/base/json_object.h"

namespace sluice {
namespace {

enum Column { kMachine, kProvider, kDate, kGpus, kUsdPerHour, kUsd, kColumns };
constexpr std::array<std::string_view, kColumns> kNames = {"machine", "provider",     "date",
                                                           "gpus",    "usd_per_hour", "usd"};

using Cells = std::vector<std::string>;

/// Cells may stand in double quotes, and then hold commas and doubled quotes (RFC 4180).
Cells cells_of(const std::string& line) {
    Cells out = {""};
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        const bool doubled = quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"';
        if (doubled)
            out.back() += line[++i];
        else if (c == '"')
            quoted = !quoted;
        else if (c == ',' && !quoted)
            out.emplace_back();
        else
            out.back() += c;
    }
    for (std::string& cell : out) {
        const auto first = cell.find_first_not_of(" \t\r");
        const auto last = cell.find_last_not_of(" \t\r");
        cell = first == std::string::npos ? "" : cell.substr(first, last - first + 1);
    }
    return out;
}

/// Where each column stands in the file.
std::array<std::optional<std::size_t>, kColumns> places(const Cells& header,
                                                        const std::string& file) {
    std::array<std::optional<std::size_t>, kColumns> out;
    const auto known = [](const std::string& cell) {
        return std::find(kNames.begin(), kNames.end(), cell) != kNames.end();
    };
    if (std::none_of(header.begin(), header.end(), known))
        throw InputError(
            fmt::format("{}: expected a CSV file of quotes, whose line 1 is: {}; leave out "
                        "usd_per_hour or usd if there are only purchases or rents",
                        file, fmt::join(kNames, ",")));
    for (std::size_t at = 0; at < header.size(); ++at) {
        const auto* const name = std::find(kNames.begin(), kNames.end(), header[at]);
        if (name == kNames.end())
            throw InputError(
                fmt::format("{}: line 1 has the column \"{}\", expected {} separated by commas",
                            file, header[at], fmt::join(kNames, ", ")));
        auto& place = out[static_cast<std::size_t>(name - kNames.begin())];
        if (place) throw InputError(fmt::format("{}: line 1 has {} twice", file, *name));
        place = at;
    }
    for (const Column column : {kMachine, kProvider, kDate, kGpus})
        if (!out[column])
            throw InputError(fmt::format("{}: line 1 lacks the column {}", file, kNames[column]));
    if (!out[kUsdPerHour] && !out[kUsd])
        throw InputError(fmt::format(
            "{}: line 1 lacks the column usd_per_hour for rents, or usd for purchases", file));
    return out;
}

class Line {
  public:
    Line(const Cells& cells, const std::array<std::optional<std::size_t>, kColumns>& places,
         std::string where)
        : cells_(cells), places_(places), where_(std::move(where)) {}

    std::string text(Column column) const {
        return places_[column] ? cells_[*places_[column]] : "";
    }
    std::string required(Column column) const {
        std::string out = text(column);
        if (out.empty()) throw InputError(fmt::format("{}: {} is empty", where_, kNames[column]));
        return out;
    }
    /// 0 for an empty cell.
    double number(Column column, double low) const {
        constexpr double kHigh = 1e10;
        const std::string cell = text(column);
        if (cell.empty()) return 0;
        std::optional<double> value = parse_number(cell);
        if (!value) value = parse_amount(cell);  // "$260,000"
        if (!value || !(*value >= low && *value <= kHigh))
            throw InputError(fmt::format("{}: {} is \"{}\", expected a number from {:g} to {:g}",
                                         where_, kNames[column], cell, low, kHigh));
        return *value;
    }

  private:
    const Cells& cells_;
    const std::array<std::optional<std::size_t>, kColumns>& places_;
    std::string where_;
};

/// "2026", "2026-11" or "2026-11-25", of the calendar.
bool is_date(const std::string& text) {
    std::array<int, 3> parts = {0, 1, 1};  // year, month, day
    std::size_t at = 0;
    for (std::size_t i = 0; i < parts.size() && at < text.size(); ++i) {
        const std::size_t digits = i == 0 ? 4 : 2;
        if (i > 0 && text[at++] != '-') return false;
        const std::string part = text.substr(at, digits);
        if (part.size() != digits || part.find_first_not_of("0123456789") != std::string::npos)
            return false;
        parts[i] = std::stoi(part);
        at += digits;
    }
    const std::chrono::year_month_day day{std::chrono::year(parts[0]),
                                          std::chrono::month(static_cast<unsigned>(parts[1])),
                                          std::chrono::day(static_cast<unsigned>(parts[2]))};
    return at == text.size() && !text.empty() && day.ok();
}

/// The machines of a file by their names in it. Reading a profile takes 2 ms.
using MachineIds = std::map<std::string, std::string>;

Quote quote_of(const Line& line, const std::string& file, const std::string& where,
               MachineIds& machines) {
    constexpr double kLeastUsd = 1e-4;
    Quote out;
    std::string& id = machines[line.required(kMachine)];
    const std::string flag = where + ": machine";
    if (id.empty()) id = read_machine_profile(line.required(kMachine), flag.c_str()).id;
    out.machine = id;
    out.provider = line.required(kProvider);
    out.date = line.required(kDate);
    if (!is_date(out.date))
        throw InputError(fmt::format(
            "{}: date is \"{}\", expected a day, month or year as 2026-11-25, 2026-11 or 2026",
            where, out.date));
    line.required(kGpus);
    out.gpus = line.number(kGpus, 1);
    if (out.gpus != std::floor(out.gpus))
        throw InputError(
            fmt::format("{}: gpus is \"{}\", expected a whole number", where, line.text(kGpus)));
    out.usd_per_hour = line.number(kUsdPerHour, kLeastUsd);
    out.usd = line.number(kUsd, kLeastUsd);
    out.file = file;
    if ((out.usd_per_hour == 0) == (out.usd == 0))
        throw InputError(fmt::format(
            "{}: usd_per_hour is \"{}\" and usd is \"{}\", expected one of them: usd_per_hour for "
            "a rent, usd for a purchase",
            where, line.text(kUsdPerHour), line.text(kUsd)));
    return out;
}

/// As an input of a price, in place of a path of the profile.
std::string name_of(const Quote& quote) {
    return fmt::format("{}: line {}, {}", quote.file, quote.line, quote.provider);
}

}  // namespace

std::vector<Quote> read_quotes(const std::string& file) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // as spreadsheets write it
    std::istringstream stream(read_text_file(file));
    std::string text;
    std::getline(stream, text);
    if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
    const Cells header = cells_of(text);
    const auto columns = places(header, file);
    std::vector<Quote> out;
    MachineIds machines;
    for (int number = 2; std::getline(stream, text); ++number) {
        const Cells cells = cells_of(text);
        if (cells.size() == 1 && cells.front().empty()) continue;
        const std::string where = fmt::format("{}: line {}", file, number);
        if (cells.size() != header.size())
            throw InputError(fmt::format("{} has {} cells, expected {} as in line 1", where,
                                         cells.size(), header.size()));
        out.push_back(quote_of(Line(cells, columns, where), file, where, machines));
        out.back().line = number;
    }
    if (out.empty()) throw InputError(fmt::format("{}: no quotes follow line 1", file));
    return out;
}

PriceList price_list(const MachineProfile& profile, const std::vector<Quote>& quotes) {
    PriceList prices = price_list(profile);
    std::vector<SystemPrice> systems;
    for (const Quote& quote : quotes) {
        if (quote.machine != profile.id && quote.machine != without_host_memory(profile.id))
            continue;
        if (quote.usd_per_hour > 0) {
            prices.offers.push_back({.name = quote.provider,
                                     .path = name_of(quote),
                                     .kind = OfferKind::quoted,
                                     .usd_per_hour = quote.usd_per_hour / quote.gpus,
                                     .rented_gpus = quote.gpus,
                                     .most_gpus = quote.gpus,
                                     .date = quote.date,
                                     .source = quote.file});
            continue;
        }
        systems.push_back({.usd = quote.usd,
                           .gpus = quote.gpus,
                           .memory_gb = prices.memory_gb,
                           .inputs = {name_of(quote)},
                           .source = fmt::format("quoted by {}, {}", quote.provider, quote.date)});
    }
    prices.systems_quoted = !systems.empty();
    if (prices.systems_quoted) prices.systems = std::move(systems);
    sort_offers(prices.offers);
    return prices;
}

std::vector<std::string> priced_machines(const std::vector<Quote>& quotes) {
    std::vector<std::string> out = library_machines();
    std::erase_if(out, [&](const std::string& id) {
        return price_list(read_machine_profile(id), quotes).empty();
    });
    return out;
}

}  // namespace sluice
