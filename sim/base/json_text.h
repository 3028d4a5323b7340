// How is JSON of measurements laid out, so that people read it and a change shows as a changed
// line?
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace sluice {

/// Ends with a line break. Lists and objects of plain values stand on one line each: a row of a
/// table, a quantity with its origin. All else, and the two outermost levels, take a line an entry.
std::string readable_json(const nlohmann::ordered_json& value);

/// A whole number is written without a point, so that 4096 stays 4096; any other with the digits
/// that read back to the same double. Precondition: finite (InternalError).
nlohmann::ordered_json json_number(double value);

/// `value` to so many significant decimal digits.
double rounded(double value, int digits);

}  // namespace sluice
