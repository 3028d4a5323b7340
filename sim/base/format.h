// How do bytes, seconds and counts read in a sentence or a table? And which lists and numbers does
// a text hold?
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// "121.3 GB" (1e9); small values in MB, large in TB.
std::string format_bytes(double bytes);
/// How a sentence says bytes: as format_bytes() does, or in other units.
using BytesText = std::function<std::string(double bytes)>;
/// "2.89 s", "31.2 ms", "415 us".
std::string format_seconds(double seconds);
/// "7.62 B", "494 M".
std::string format_count(double count);
/// "14,320".
std::string format_thousands(double number);
/// "1 row", "1,200 rows"; `noun` is one that takes an s.
std::string format_number_of(std::int64_t count, std::string_view noun);
/// "$0.24", "$1,234"; two digits of less than ten cents.
std::string format_usd(double usd);
/// "87%"; tenths below ten percent.
std::string format_percent(double share);
/// "+1.2%"; "-" where it is not known.
std::string format_error(std::optional<double> error);
/// A field of a CSV line: between quotes where it holds what separates.
std::string csv_text(const std::string& text);

/// The parts of "a,b,c"; parts may be empty.
std::vector<std::string> split_list(std::string_view list);
/// The number that the whole text is; nothing where it is none.
std::optional<double> parse_number(std::string_view text);

}  // namespace sluice
