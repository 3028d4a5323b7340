// How is JSON that Python wrote made standard JSON, and JSON of measurements laid out, so that
// people can read it and compare versions line by line?
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace sluice {

/// Python writes numbers that are not finite as NaN, Infinity and -Infinity, which is no JSON.
/// Returns the text with these as transformers 5 writes them: {"__float__": "Infinity"}.
std::string standard_json(std::string_view text);
inline constexpr const char* kFloat = "__float__";

/// Ends with a line break. A list or object of plain values is on one line, such as a row of a
/// table. All others, and the two outermost levels, have one line per entry.
std::string readable_json(const nlohmann::ordered_json& value);

/// Writes whole numbers without a point (4096), and others with the digits that read back to the
/// same double. Precondition: finite (InternalError).
nlohmann::ordered_json json_number(double value);

/// `value` rounded to that many significant decimal digits.
double rounded(double value, int digits);

}  // namespace sluice
