// Is a text well-formed XML? Enough of it for what we write.
#pragma once

#include <optional>
#include <regex>
#include <string>
#include <vector>

namespace sluice {

/// The fault in the nesting of elements or in an entity, or nothing.
inline std::optional<std::string> nesting_error(const std::string& xml) {
    static const std::regex tag(R"re(<(/?)([A-Za-z0-9]+)((?: [A-Za-z:-]+="[^"<>]*")*) ?(/?)>)re");
    static const std::regex entity("&(amp|lt|gt|quot|#39);");
    const auto matches = [&](std::size_t at, std::smatch& match, const std::regex& pattern) {
        return std::regex_search(xml.begin() + static_cast<std::ptrdiff_t>(at), xml.end(), match,
                                 pattern, std::regex_constants::match_continuous);
    };
    std::vector<std::string> open;
    std::smatch match;
    for (std::size_t at = xml.find('&'); at != std::string::npos; at = xml.find('&', at + 1))
        if (!matches(at, match, entity)) return "no entity: " + xml.substr(at, 60);
    // A declaration or a document type may come first.
    std::size_t at = xml.starts_with("<?") || xml.starts_with("<!") ? xml.find('>') : 0;
    for (at = xml.find('<', at); at != std::string::npos; at = xml.find('<', at + 1)) {
        if (!matches(at, match, tag)) return "no tag: " + xml.substr(at, 60);
        if (match[1].length() > 0) {
            if (open.empty() || open.back() != match[2]) return "unexpected end: " + match[0].str();
            open.pop_back();
        } else if (match[4].length() == 0) {
            open.push_back(match[2]);
        }
    }
    if (!open.empty()) return "not closed: " + open.back();
    return std::nullopt;
}

}  // namespace sluice
