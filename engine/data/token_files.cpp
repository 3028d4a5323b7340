#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <filesystem>
#include <future>
#include <limits>

#include "engine/data/token_source.h"
#include "sim/base/input_error.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;

/// Whether the file's name contains "val", "valid", "validation" or "test" as a word.
bool is_for_validation(const std::string& path) {
    std::string words = "_";
    for (const char c : fs::path(path).filename().string()) {
        const auto letter = static_cast<unsigned char>(c);
        words += std::isalpha(letter) ? static_cast<char>(std::tolower(letter)) : '_';
    }
    for (const char* word : {"_val_", "_valid_", "_validation_", "_test_"}) {
        if (words.find(word) != std::string::npos) return true;
    }
    return false;
}

std::vector<std::string> files_ending_in(const std::string& folder,
                                         std::initializer_list<const char*> endings) {
    std::vector<std::string> files;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        const bool wanted = std::any_of(endings.begin(), endings.end(),
                                        [&](const char* ending) { return name.ends_with(ending); });
        if (wanted && !name.starts_with('.')) files.push_back(entry->path().string());
    }
    if (error) {
        throw InputError(fmt::format("{}: cannot be listed ({}); check its permissions", folder,
                                     error.message()));
    }
    std::sort(files.begin(), files.end());
    return files;
}

std::vector<std::string> files_of_folder(const std::string& folder) {
    std::vector<std::string> files = files_ending_in(folder, {".bin"});
    if (files.empty()) files = files_ending_in(folder, {".txt", ".md"});
    if (files.empty()) {
        throw InputError(fmt::format(
            "{}: holds no .bin, .txt or .md file; name the token files themselves", folder));
    }
    const auto validation = std::find_if(files.begin(), files.end(), is_for_validation);
    if (validation != files.end() && !std::all_of(files.begin(), files.end(), is_for_validation)) {
        throw InputError(
            fmt::format("{}: holds {} together with shards for training, which would train on the "
                        "validation set; name the shards themselves",
                        folder, fs::path(*validation).filename().string()));
    }
    return files;
}

}  // namespace

TokenSource::TokenSource(std::vector<TokenShard> shards, std::int64_t vocabulary)
    : shards_(std::move(shards)), vocabulary_(vocabulary) {
    // Batches hold ids as int32.
    if (vocabulary < 1 || vocabulary > std::numeric_limits<std::int32_t>::max())
        throw InternalError(fmt::format("token source: vocabulary of {}", vocabulary));
    for (const TokenShard& shard : shards_) {
        if (shard.width() == TokenWidth::byte && vocabulary < kByteVocabulary) {
            throw InputError(
                fmt::format("{}: text is read as one token per byte, which needs a vocabulary of "
                            "at least {}, but the model's is {}; give token shards (*.bin) instead",
                            shard.path(), kByteVocabulary, vocabulary));
        }
    }
}

void TokenSource::read(std::size_t shard, std::int64_t begin, std::span<std::int32_t> out) const {
    shards_.at(shard).read(begin, vocabulary_, out);
}

void TokenSource::read_targets(std::size_t shard, std::int64_t begin,
                               std::span<std::int32_t> out) const {
    shards_.at(shard).read_targets(begin, vocabulary_, out);
}

std::vector<std::int64_t> TokenSource::modifications() const {
    std::vector<std::int64_t> out;
    for (const TokenShard& shard : shards_) out.push_back(shard.modification());
    return out;
}

void TokenSource::check_some() const {
    constexpr std::int64_t kBlock = 1 << 16, kMostBlocks = 512;
    const std::int64_t most = std::max<std::int64_t>(1, kMostBlocks / std::ssize(shards_));
    std::vector<std::int32_t> tokens;
    for (const TokenShard& shard : shards_) {
        const std::int64_t all = (shard.tokens() - 1) / kBlock + 1, blocks = std::min(all, most);
        for (std::int64_t i = 0; i < blocks; ++i) {
            const std::int64_t begin = i * all / blocks * kBlock;  // evenly spread
            tokens.resize(static_cast<std::size_t>(std::min(kBlock, shard.tokens() - begin)));
            shard.read_targets(begin, vocabulary_, tokens);
        }
    }
}

std::vector<std::int64_t> TokenSource::documents(std::size_t shard, std::int64_t begin,
                                                 std::int64_t count) const {
    const std::optional<DocumentFile>& file = shards_.at(shard).documents();
    return file ? file->begins(begin, count) : std::vector<std::int64_t>();
}

std::string TokenSource::documents_fingerprint() const {
    Checksum all;
    bool any = false;
    for (const TokenShard& shard : shards_) {
        if (!shard.documents()) continue;
        const std::uint64_t sum = shard.documents()->checksum();
        all.add(std::as_bytes(std::span(&sum, 1)));
        any = true;
    }
    return any ? fmt::format("{:016x}", all.value()) : "";
}

std::string TokenSource::fingerprint() const {
    constexpr std::size_t kReaders = 8;  // as many as a disk serves at full rate
    std::vector<std::uint64_t> sums(shards_.size());
    std::atomic<std::size_t> next = 0;
    const auto read_some = [&] {
        for (std::size_t i = next++; i < sums.size(); i = next++)
            sums[i] = shards_[i].checksum(vocabulary_);
    };
    std::vector<std::future<void>> readers;
    for (std::size_t i = 0; i < std::min(kReaders, sums.size()); ++i)
        readers.push_back(std::async(std::launch::async, read_some));
    for (std::future<void>& reader : readers) reader.get();
    Checksum all;
    all.add(std::as_bytes(std::span(sums)));
    return fmt::format("{:016x}", all.value());
}

TokenSource open_tokens(const std::vector<std::string>& paths, std::int64_t vocabulary,
                        bool with_documents) {
    if (paths.empty()) {
        throw InputError("no token files given; name .bin shards, a text or a folder of them");
    }
    std::vector<TokenShard> shards;
    for (const std::string& path : paths) {
        std::error_code error;
        if (!fs::is_directory(path, error)) {
            shards.emplace_back(path, with_documents);
            continue;
        }
        for (std::string& file : files_of_folder(path))
            shards.emplace_back(std::move(file), with_documents);
    }
    return TokenSource(std::move(shards), vocabulary);
}

}  // namespace sluice
