#include "sim/base/json_text.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "sim/base/input_error.h"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kBrokenLevels = 2;

std::string plain(const Json& value) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool on_one_line(const Json& value, int level) {
    if (!value.is_structured() || value.empty()) return true;
    if (level < kBrokenLevels) return false;
    return std::none_of(value.begin(), value.end(),
                        [](const Json& entry) { return entry.is_structured(); });
}

void write(const Json& value, int level, std::string& out) {
    if (!value.is_structured()) {
        out += plain(value);
        return;
    }
    const bool one_line = on_one_line(value, level);
    const auto break_line = [&](int indent) {
        if (!one_line) out += "\n" + std::string(2 * static_cast<std::size_t>(indent), ' ');
    };
    out += value.is_object() ? '{' : '[';
    bool first = true;
    for (const auto& entry : value.items()) {
        if (!first) out += one_line ? ", " : ",";
        first = false;
        break_line(level + 1);
        if (value.is_object()) out += plain(Json(entry.key())) + ": ";
        write(entry.value(), level + 1, out);
    }
    break_line(level);
    out += value.is_object() ? '}' : ']';
}

/// A number that is not finite, at the beginning of `text`; empty if there is none.
std::string_view not_finite(std::string_view text) {
    for (const std::string_view number : {"NaN", "Infinity", "-Infinity"})
        if (text.starts_with(number)) return number;
    return {};
}

}  // namespace

std::string standard_json(std::string_view text) {
    if (text.find("NaN") == text.npos && text.find("Infinity") == text.npos)
        return std::string(text);
    std::string out;
    bool quoted = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const std::string_view number = quoted ? "" : not_finite(text.substr(i));
        if (!number.empty()) {
            out += fmt::format(R"({{"{}": "{}"}})", kFloat, number);
            i += number.size() - 1;
            continue;
        }
        if (text[i] == '"') quoted = !quoted;
        out += text[i];
        if (quoted && text[i] == '\\' && i + 1 < text.size()) out += text[++i];
    }
    return out;
}

std::string readable_json(const Json& value) {
    std::string out;
    write(value, 0, out);
    return out + "\n";
}

Json json_number(double value) {
    if (!std::isfinite(value)) throw InternalError("a number that is not finite for a JSON file");
    constexpr double kExactIntegers = 9007199254740992;  // 2^53
    if (std::floor(value) == value && std::abs(value) <= kExactIntegers)
        return static_cast<std::int64_t>(value);
    return value;
}

double rounded(double value, int digits) {
    // Through text, since multiplying by powers of ten leaves digits like 0.30000000000000004.
    // std::stod refuses numbers below the least normal one, such as shares of almost nothing.
    return std::strtod(fmt::format("{:.{}g}", value, digits).c_str(), nullptr);
}

}  // namespace sluice
