#include "sim/report/svg_text.h"

#include <algorithm>

namespace sluice {
namespace {

constexpr double kEmsPerByte = 0.6;  // mean width of a character is about 0.52 em, of capitals 0.68

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

}  // namespace

std::string escape_xml(std::string_view text) {
    std::string escaped;
    for (const char c : text) {
        switch (c) {
            case '&':
                escaped += "&amp;";
                break;
            case '<':
                escaped += "&lt;";
                break;
            case '>':
                escaped += "&gt;";
                break;
            case '"':
                escaped += "&quot;";
                break;
            case '\'':
                escaped += "&#39;";
                break;
            default:
                escaped += static_cast<unsigned char>(c) < 0x20 && c != '\n' ? ' ' : c;
        }
    }
    return escaped;
}

double text_width(std::string_view text, double size) {
    return kEmsPerByte * size * static_cast<double>(text.size());
}

std::vector<std::string> wrap_text(std::string_view text, double size, double width) {
    const auto most = std::max<std::size_t>(
        8, static_cast<std::size_t>(std::max(0.0, width) / text_width("x", size)));
    std::vector<std::string> lines;
    while (text.size() > most) {
        std::size_t end = text.rfind(' ', most);
        const bool at_space = end != std::string_view::npos && end > 0;
        if (!at_space) {
            end = most;
            while (end > 1 && continues_character(text[end])) --end;
        }
        lines.emplace_back(text.substr(0, end));
        text.remove_prefix(at_space ? end + 1 : end);
    }
    lines.emplace_back(text);
    return lines;
}

}  // namespace sluice
