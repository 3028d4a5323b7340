#include "engine/data/document_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "engine/data/checksum.h"
#include "sim/base/input_error.h"

namespace sluice {
namespace {

std::string documents_path(const std::string& tokens) {
    std::string path = tokens + ".documents";
    if (is_there(path)) return path;
    throw InputError(
        fmt::format("--attend-within document: {} is missing, which says where the documents of "
                    "{} begin; prepare the data with ./dev data, or leave the option out",
                    path, tokens));
}

}  // namespace

DocumentFile::DocumentFile(const std::string& path, std::int64_t tokens, std::int64_t documents)
    : tokens_(tokens), file_(documents_path(path)) {
    const bool is_whole = file_.size() % kBytes == 0 && count() >= 1 && count() <= tokens;
    if (is_whole && (documents == 0 || documents == count())) return;
    if (is_whole) {
        throw InputError(
            fmt::format("{}: has {} documents, but {} says {}; one of them is of other data or "
                        "damaged: copy both, or prepare the data again",
                        file_.path(), count(), path, documents));
    }
    throw InputError(
        fmt::format("{}: has {} bytes, expected 8 for each document, at least 1 and at most one "
                    "for each of {} tokens; prepare the data again",
                    file_.path(), file_.size(), tokens));
}

std::vector<std::int64_t> DocumentFile::read(std::int64_t first, std::int64_t count) const {
    std::vector<std::int64_t> values(static_cast<std::size_t>(count));
    file_.read(first * kBytes, std::as_writable_bytes(std::span(values)));
    return values;
}

std::vector<std::int64_t> DocumentFile::begins(std::int64_t begin, std::int64_t count) const {
    // The first document that begins after `begin`.
    std::int64_t low = 0, high = this->count();
    while (low < high) {
        const std::int64_t middle = low + (high - low) / 2;
        if (read(middle, 1).front() <= begin)
            low = middle + 1;
        else
            high = middle;
    }
    std::vector<std::int64_t> result = {begin};
    const std::int64_t most = std::min(count - 1, this->count() - low);
    for (const std::int64_t next : read(low, most)) {
        if (next >= begin + count) break;
        if (next <= result.back()) refuse(low, next, result.back() + 1);
        result.push_back(next);
        ++low;
    }
    return result;
}

std::uint64_t DocumentFile::checksum() const {
    constexpr std::int64_t kBlock = 1 << 17;
    Checksum checksum;
    std::int64_t least = 0;
    for (std::int64_t first = 0; first < count(); first += kBlock) {
        const std::vector<std::int64_t> block = read(first, std::min(kBlock, count() - first));
        for (std::size_t i = 0; i < block.size(); ++i) {
            const std::int64_t index = first + static_cast<std::int64_t>(i);
            const bool wrong_first = index == 0 && block[i] != 0;
            if (wrong_first || block[i] < least || block[i] >= tokens_)
                refuse(index, block[i], least);
            least = block[i] + 1;
        }
        checksum.add(std::as_bytes(std::span(block)));
    }
    return checksum.value();
}

void DocumentFile::refuse(std::int64_t index, std::int64_t value, std::int64_t least) const {
    const std::string expected =
        index == 0 ? "0" : fmt::format("a token from {} to {}", least, tokens_ - 1);
    throw InputError(
        fmt::format("{}: document {} begins at token {}, expected {}; prepare the data again",
                    file_.path(), index, value, expected));
}

}  // namespace sluice
