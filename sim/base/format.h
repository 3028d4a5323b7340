// How do bytes, seconds and counts read in a sentence or a table? Which list or number does a text
// contain?
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// ASCII letters in lower case.
std::string lowercase(std::string text);

/// "121.3 GB" (units of 1e9 bytes); small values in MB, large ones in TB.
std::string format_bytes(double bytes);
/// How a sentence writes bytes: like format_bytes(), or in other units.
using BytesText = std::function<std::string(double bytes)>;
/// "2.89 s", "31.2 ms", "415 us".
std::string format_seconds(double seconds);
/// "7.62 B", "494 M".
std::string format_count(double count);
/// With two digits behind the point at most: "20 B", "1.5 M".
std::string format_short_count(double count);
/// "14,320".
std::string format_thousands(double number);
/// "1 row", "1,200 rows"; `noun` must form its plural with an s.
std::string format_number_of(std::int64_t count, std::string_view noun);
/// "16 x h200-sxm-pcie5"; one GPU is the machine's name alone.
std::string format_gpus(std::int64_t gpus, const std::string& machine);
/// "$0.24", "$1,234"; two significant digits below ten cents.
std::string format_usd(double usd);
/// "87%"; with tenths below ten percent.
std::string format_percent(double share);
/// "+1.2%"; "-" if it is not known.
std::string format_error(std::optional<double> error);
/// `text` and `ending` in at most `most` letters (of UTF-8): "..." stands for what is left out at
/// the end of `text`, and `ending` stays whole.
std::string cut_to_letters(const std::string& text, std::size_t most,
                           const std::string& ending = "");
/// Letters of a machine's name in tables, cards and reports.
inline constexpr std::size_t kMostNameLetters = 30;
/// A field of a CSV line, quoted if it contains a separator.
std::string csv_text(const std::string& text);

/// The parts of "a,b,c"; parts may be empty.
std::vector<std::string> split_list(std::string_view list);
/// The number that the whole text denotes; empty if it is not a number.
std::optional<double> parse_number(std::string_view text);
/// "2e9", "2,000,000", "$20,000", "2B", "1.5 T", "500 M"; empty if it is none of them.
std::optional<double> parse_amount(const std::string& text);

}  // namespace sluice
