#include "sim/answers/decision/track_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "sim/base/embedded_files.h"
#include "sim/base/input_error.h"

namespace sluice {
namespace {

using Cells = std::vector<std::string_view>;

constexpr const char* kFile = "hwprofiles/history.md";

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" `");
    if (first == std::string_view::npos) return "";
    return text.substr(first, text.find_last_not_of(" `") - first + 1);
}

/// Of "| a | b |".
Cells cells_of(std::string_view line) {
    Cells out;
    line.remove_prefix(1);
    for (std::size_t end = line.find('|'); end != std::string_view::npos; end = line.find('|')) {
        out.push_back(trimmed(line.substr(0, end)));
        line.remove_prefix(end + 1);
    }
    return out;
}

[[noreturn]] void fail(std::string_view column, std::string_view text, const char* expected) {
    throw InternalError(
        fmt::format("{}: {} is \"{}\", expected {}", kFile, column, text, expected));
}

std::string_view cell(const Cells& head, const Cells& row, std::string_view column) {
    const auto at = std::find(head.begin(), head.end(), column);
    if (at == head.end() || head.size() != row.size())
        fail(column, fmt::format("{}", fmt::join(row, " | ")), "a row with that column");
    return row[static_cast<std::size_t>(at - head.begin())];
}

double number(std::string_view column, std::string_view text, bool percent) {
    std::string_view digits = text;
    if (percent && digits.ends_with('%')) digits.remove_suffix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size() ||
        percent != (digits.size() < text.size()))
        fail(column, text, percent ? "a number of percent" : "a number");
    return value;
}

ErrorPair errors(const Cells& head, const Cells& row, std::string_view column) {
    const std::string_view text = cell(head, row, column);
    const std::size_t comma = text.find(", ");
    if (comma == std::string_view::npos) fail(column, text, "mean and worst, as in 3.0%, 8.9%");
    return {number(column, text.substr(0, comma), true),
            number(column, text.substr(comma + 2), true)};
}

TrackRecord record_of(const Cells& head, const Cells& row) {
    TrackRecord out;
    out.date = cell(head, row, "date");
    out.profile = cell(head, row, "profile");
    out.runs = cell(head, row, "runs");
    out.tokens_per_s = errors(head, row, "tokens/s mean, worst");
    out.device = errors(head, row, "device");
    out.host = errors(head, row, "host");
    out.tau = number("tau", cell(head, row, "tau"), false);
    out.band_percent = number("band", cell(head, row, "band"), true);
    return out;
}

}  // namespace

std::vector<TrackRecord> read_track_records(std::string_view markdown) {
    std::vector<TrackRecord> out;
    Cells head;
    while (!markdown.empty()) {
        const std::size_t end = std::min(markdown.find('\n'), markdown.size());
        const std::string_view line = markdown.substr(0, end);
        markdown.remove_prefix(std::min(end + 1, markdown.size()));
        if (!line.starts_with("| ")) {
            head.clear();
            continue;
        }
        const Cells row = cells_of(line);
        if (head.empty()) {
            head = row;
        } else if (head.front() == "date" && !row.front().starts_with("---")) {
            out.push_back(record_of(head, row));
        }
    }
    return out;
}

std::vector<TrackRecord> track_records() {
    std::vector<TrackRecord> out;
    for (const EmbeddedFile& file : embedded_history())
        for (TrackRecord& record : read_track_records(file.text)) out.push_back(std::move(record));
    return out;
}

std::string track_record_words(const TrackRecord& r) {
    return fmt::format(
        "Calibrated machine {}, {}, held-out runs ({}): error in tokens/s {:.1f}% on average, "
        "{:.1f}% at worst; in device memory {:.1f}% and {:.1f}%, in host memory {:.1f}% and "
        "{:.1f}%; {:g}% of the steps were within the band.",
        r.profile, r.date, r.runs, r.tokens_per_s.mean_percent, r.tokens_per_s.worst_percent,
        r.device.mean_percent, r.device.worst_percent, r.host.mean_percent, r.host.worst_percent,
        r.band_percent);
}

}  // namespace sluice
