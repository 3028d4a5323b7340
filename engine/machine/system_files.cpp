#include "engine/machine/system_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

namespace sluice {
namespace {

/// No machine has as many CPUs or nodes; keeps a wrong list from filling memory.
constexpr std::int64_t kMostIds = 1 << 16;

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kBlanks = " \t\r\n";
    const std::size_t begin = text.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

}  // namespace

std::string SystemFiles::text(std::string_view path) const {
    const std::ifstream in(std::filesystem::path(root_) / path, std::ios::binary);
    std::ostringstream out;
    if (in) out << in.rdbuf();  // a folder, or a file that fails when read, counts as empty
    return out.str();
}

std::optional<std::int64_t> SystemFiles::integer(std::string_view path) const {
    return parse_integer(text(path));
}

std::vector<std::string> SystemFiles::names(std::string_view folder) const {
    std::vector<std::string> names;
    std::error_code error;
    std::filesystem::directory_iterator it(std::filesystem::path(root_) / folder, error);
    for (; !error && it != std::filesystem::directory_iterator(); it.increment(error))
        names.push_back(it->path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

std::optional<std::string_view> field(std::string_view text, std::string_view key) {
    for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1))
        if (at == 0 || text[at - 1] == '\n') {
            const std::string_view rest = text.substr(at + key.size());
            return trimmed(rest.substr(0, rest.find('\n')));
        }
    return std::nullopt;
}

std::optional<Bytes> kilobyte_field(std::string_view text, std::string_view key) {
    constexpr std::string_view kUnit = " kB";
    const auto value = field(text, key);
    if (!value || !value->ends_with(kUnit)) return std::nullopt;
    const auto kilobytes = parse_integer(value->substr(0, value->size() - kUnit.size()));
    if (!kilobytes || *kilobytes < 0 || *kilobytes > std::numeric_limits<Bytes>::max() / 1024)
        return std::nullopt;
    return *kilobytes * 1024;
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
    text = trimmed(text);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::optional<std::vector<int>> parse_id_list(std::string_view text) {
    std::vector<int> ids;
    text = trimmed(text);
    while (!text.empty()) {
        const std::string_view range = text.substr(0, text.find(','));
        text.remove_prefix(std::min(text.size(), range.size() + 1));
        const std::size_t dash = range.find('-');
        const auto first = parse_integer(range.substr(0, dash));
        const auto last =
            dash == std::string_view::npos ? first : parse_integer(range.substr(dash + 1));
        if (!first || !last || *first < 0 || *last < *first || *last >= kMostIds)
            return std::nullopt;
        for (std::int64_t id = *first; id <= *last; ++id) ids.push_back(static_cast<int>(id));
    }
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    return ids;
}

std::string format_id_list(const std::vector<int>& ids) {
    std::string list;
    for (std::size_t i = 0; i < ids.size();) {
        std::size_t end = i + 1;
        while (end < ids.size() && ids[end] == ids[end - 1] + 1) ++end;
        if (!list.empty()) list += ',';
        list +=
            end - i == 1 ? fmt::format("{}", ids[i]) : fmt::format("{}-{}", ids[i], ids[end - 1]);
        i = end;
    }
    return list;
}

}  // namespace sluice
