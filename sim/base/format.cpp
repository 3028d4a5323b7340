#include "sim/base/format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <regex>

namespace sluice {

std::string format_bytes(double bytes) {
    if (std::abs(bytes) >= 1e12) return fmt::format("{:.2f} TB", bytes / 1e12);
    if (std::abs(bytes) >= 1e8) return fmt::format("{:.1f} GB", bytes / 1e9);
    return fmt::format("{:.1f} MB", bytes / 1e6);
}

std::string format_seconds(double seconds) {
    if (seconds >= 100) return fmt::format("{:.0f} s", seconds);
    if (seconds >= 1) return fmt::format("{:.2f} s", seconds);
    if (seconds >= 1e-3) return fmt::format("{:.1f} ms", seconds * 1e3);
    return fmt::format("{:.0f} us", seconds * 1e6);
}

namespace {

struct CountUnit {
    double size;
    int digits;
    const char* name;
};

const CountUnit& unit_of(double count) {
    static constexpr CountUnit kUnits[] = {{1e12, 2, "T"}, {1e9, 2, "B"}, {1e6, 0, "M"}};
    static constexpr CountUnit kThousands = {1e3, 0, "k"};
    const auto* const found =
        std::ranges::find_if(kUnits, [&](const CountUnit& one) { return count >= one.size; });
    return found == std::end(kUnits) ? kThousands : *found;
}

}  // namespace

std::string format_count(double count) {
    const CountUnit& unit = unit_of(count);
    return fmt::format("{:.{}f} {}", count / unit.size, unit.digits, unit.name);
}

std::string format_short_count(double count) {
    const CountUnit& unit = unit_of(count);
    return fmt::format("{} {}", std::round(count / unit.size * 100) / 100, unit.name);
}

std::string format_thousands(double number) {
    std::string digits = fmt::format("{:.0f}", number);
    for (std::ptrdiff_t i = static_cast<std::ptrdiff_t>(digits.size()) - 3;
         i > (digits[0] == '-' ? 1 : 0); i -= 3) {
        digits.insert(static_cast<std::size_t>(i), 1, ',');
    }
    return digits;
}

std::string format_usd(double usd) {
    if (usd >= 1000) return "$" + format_thousands(usd);
    if (usd >= 0.1) return fmt::format("${:.2f}", usd);
    return fmt::format("${:.2g}", usd);
}

std::string format_percent(double share) {
    return fmt::format("{:.{}f}%", share * 100, share < 0.0995 ? 1 : 0);
}

std::string format_error(std::optional<double> error) {
    return error ? fmt::format("{:+.1f}%", 100 * *error) : "-";
}

std::string format_number_of(std::int64_t count, std::string_view noun) {
    return fmt::format("{} {}{}", format_thousands(static_cast<double>(count)), noun,
                       count == 1 ? "" : "s");
}

std::string format_gpus(std::int64_t gpus, const std::string& machine) {
    return gpus <= 1 ? machine : fmt::format("{} x {}", gpus, machine);
}

std::string cut_to_letters(const std::string& text, std::size_t most, const std::string& ending) {
    constexpr std::string_view kLeftOut = "...";
    const auto begins_letter = [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    };
    const auto letters_of = [&](const std::string& words) {
        return static_cast<std::size_t>(std::ranges::count_if(words, begins_letter));
    };
    if (letters_of(text) + letters_of(ending) <= most) return text + ending;
    const std::size_t kept = kLeftOut.size() + letters_of(ending);
    std::size_t end = 0;
    for (std::size_t letters = 0; end < text.size(); ++end)
        if (begins_letter(text[end]) && letters++ + kept >= most) break;
    while (end > 0 && text[end - 1] == ' ') --end;
    return text.substr(0, end).append(kLeftOut) + ending;
}

std::string csv_text(const std::string& plain) {
    // A program of spreadsheets runs a cell that begins so as a formula; the apostrophe hinders it.
    const bool is_formula =
        plain.size() > 1 && std::string_view("=+-@\t\r").find(plain[0]) != std::string_view::npos;
    const std::string text = is_formula ? "'" + plain : plain;
    if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + "\"";
}

std::vector<std::string> split_list(std::string_view list) {
    std::vector<std::string> parts;
    for (std::size_t start = 0; start <= list.size();) {
        const std::size_t end = std::min(list.find(',', start), list.size());
        parts.emplace_back(list.substr(start, end - start));
        start = end + 1;
    }
    return parts;
}

std::optional<double> parse_number(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::string lowercase(std::string text) {
    for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return text;
}

std::optional<double> parse_amount(const std::string& text) {
    // A comma or space stands before three digits; "3,5" is no number, lest it be read as 35.
    static const std::regex separator("[, ](?=\\d{3}(?!\\d))");
    static const std::regex around("^ *\\$? *| +(?=[A-Za-z]?$)");
    std::string digits = std::regex_replace(std::regex_replace(text, around, ""), separator, "");
    double factor = 1;
    if (!digits.empty()) {
        constexpr std::pair<char, double> kFactors[] = {
            {'K', 1e3}, {'M', 1e6}, {'B', 1e9}, {'T', 1e12}};
        const int last = std::toupper(static_cast<unsigned char>(digits.back()));
        for (const auto& [letter, value] : kFactors)
            if (last == letter) factor = value;
        if (factor > 1) digits.pop_back();
    }
    const std::optional<double> number = parse_number(digits);
    return number && *number > 0 ? std::optional(*number * factor) : std::nullopt;
}

}  // namespace sluice
