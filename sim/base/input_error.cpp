#include "sim/base/input_error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <numeric>
#include <utility>

namespace sluice {
namespace {

/// Without its middle if it has more than `most` bytes; characters of several bytes stay whole.
std::string without_middle(std::string_view text, std::size_t most) {
    if (text.size() <= most) return std::string(text);
    const auto inside = [&](std::size_t at) {
        return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U;
    };
    std::size_t head = most / 2, tail = text.size() - most / 3;
    while (head > 0 && inside(head)) --head;
    while (inside(tail)) ++tail;
    return fmt::format("{}...{}", text.substr(0, head), text.substr(tail));
}

}  // namespace

std::string with_short_words(std::string_view sentence) {
    constexpr std::size_t kLongestWord = 300, kLongestSentence = 4000;
    constexpr std::string_view kBetweenWords = " \t\n";
    std::string out;
    for (std::size_t begin = 0; begin < sentence.size();) {
        const std::size_t end =
            std::min(sentence.find_first_of(kBetweenWords, begin), sentence.size());
        out += without_middle(sentence.substr(begin, end - begin), kLongestWord);
        if (end < sentence.size()) out += sentence[end];
        begin = end + 1;
    }
    return without_middle(out, kLongestSentence);
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
        }
    }
    return row[b.size()];
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates) {
    constexpr std::size_t kLongestCompared = 100;
    if (name.size() > kLongestCompared) return "";
    double best = static_cast<double>(std::max<std::size_t>(2, name.size() / 3) + 1);
    std::string_view nearest;
    for (const std::string& candidate : candidates) {
        const auto edits = static_cast<double>(edit_distance(name, candidate));
        // A shortened name counts as nearer than its missing letters: link.host_to_device for
        // ..._gb_per_s.
        constexpr std::size_t kTellingPrefix = 4;
        const bool cut_short = name.size() >= kTellingPrefix && candidate.starts_with(name);
        const double distance = cut_short ? edits / (1 + edits) : edits;
        if (distance < best) {
            best = distance;
            nearest = candidate;
        }
    }
    return nearest.empty() ? "" : may_be_meant({std::string(nearest)});
}

// Not in the header: nvcc 13 with GCC 13's library does not compile the copy of the strings there.
InputError::InputError(const Refusal& why) : InputError(why.sentence, why.field) {}

std::string names_like(std::string_view name, const std::vector<std::string>& candidates,
                       std::size_t most) {
    const auto same = [](char a, char b) {
        const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
        return lower(a) == lower(b);
    };
    std::vector<std::string> having;
    if (!name.empty())
        std::ranges::copy_if(candidates, std::back_inserter(having), [&](const std::string& one) {
            return std::search(one.begin(), one.end(), name.begin(), name.end(), same) != one.end();
        });
    if (having.empty()) return did_you_mean(name, candidates);
    const auto rank = [&](const std::string& one) {
        return std::pair(std::ranges::mismatch(name, one, same).in1 != name.end(), one.size());
    };
    std::ranges::stable_sort(having, {}, rank);
    having.resize(std::min(having.size(), most));
    return may_be_meant(having);
}

std::string may_be_meant(const std::vector<std::string>& names) {
    std::string out;
    for (std::size_t i = 0; i < names.size(); ++i)
        out += fmt::format("{}\"{}\"",
                           i == 0                  ? "; did you mean "
                           : i + 1 == names.size() ? " or "
                                                   : ", ",
                           names[i]);
    return out.empty() ? "" : out + "?";
}

}  // namespace sluice
