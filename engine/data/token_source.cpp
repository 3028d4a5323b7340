#include "engine/data/token_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <future>
#include <limits>
#include <utility>

#include "sim/base/input_error.h"

namespace sluice {
namespace {

static_assert(std::endian::native == std::endian::little, "token ids in files are little-endian");

// Magic numbers of llm.c's files: training shards, and evaluation sets.
constexpr std::int32_t kUint16Magic = 20240520, kUint16Version = 1;
constexpr std::int32_t kUint32Magic = 20240801, kUint32Version = 7;
constexpr std::int32_t kEvaluationMagic = 20240522;
constexpr std::int64_t kHeaderBytes = 256 * sizeof(std::int32_t);

constexpr std::int64_t bytes_of(TokenWidth width) { return static_cast<std::int64_t>(width); }

/// The first three numbers of a header; zeros if the file is shorter.
struct Header {
    std::int32_t magic = 0, version = 0, tokens = 0;
};

Header first_numbers(const ReadFile& file) {
    std::array<std::int32_t, 3> numbers{};
    const auto bytes = std::as_writable_bytes(std::span(numbers));
    file.read(0, bytes.first(std::min(bytes.size(), static_cast<std::size_t>(file.size()))));
    return {numbers[0], numbers[1], numbers[2]};
}

/// Copies ids and returns the largest.
template <typename Id>
std::uint32_t copy_ids(const std::byte* from, std::span<std::int32_t> out) {
    std::uint32_t largest = 0;
    for (std::size_t i = 0; i < out.size(); ++i) {
        Id id;
        std::memcpy(&id, from + i * sizeof(Id), sizeof(Id));
        largest = std::max(largest, static_cast<std::uint32_t>(id));
        out[i] = static_cast<std::int32_t>(id);
    }
    return largest;
}

}  // namespace

TokenShard::TokenShard(std::string path) : file_(std::move(path)) {
    const std::int32_t magic = first_numbers(file_).magic;
    if (!this->path().ends_with(".bin")) {
        accept_text();
    } else if (magic == kUint16Magic || magic == kUint32Magic) {
        read_header();
    } else if (magic == kEvaluationMagic) {
        throw InputError(
            fmt::format("{}: magic number is {}, an evaluation set of llm.c, expected training "
                        "tokens ({} or {}); name another shard",
                        this->path(), magic, kUint16Magic, kUint32Magic));
    } else {
        const bool wide = this->path().ends_with(".u32.bin");
        accept_headerless(wide ? TokenWidth::uint32 : TokenWidth::uint16);
    }
}

void TokenShard::read_header() {
    const auto [magic, version, tokens] = first_numbers(file_);
    width_ = magic == kUint16Magic ? TokenWidth::uint16 : TokenWidth::uint32;
    data_begin_ = kHeaderBytes;
    tokens_ = tokens;
    if (file_.size() < kHeaderBytes) {
        throw InputError(
            fmt::format("{}: has {} bytes, expected a header of {} bytes after magic number {}; "
                        "the shard is truncated, download it again",
                        path(), file_.size(), kHeaderBytes, magic));
    }
    const std::int32_t expected = magic == kUint16Magic ? kUint16Version : kUint32Version;
    if (version != expected) {
        throw InputError(
            fmt::format("{}: header version is {}, expected {} for magic number {}; write the "
                        "shard again with the current llm.c",
                        path(), version, expected, magic));
    }
    const std::int64_t expected_bytes = data_begin_ + tokens_ * bytes_of(width_);
    if (tokens_ < 1 || file_.size() != expected_bytes) {
        throw InputError(
            fmt::format("{}: has {} bytes, but its header says {} tokens of {} bytes ({} bytes in "
                        "all); the shard is damaged, download it again",
                        path(), file_.size(), tokens_, bytes_of(width_), expected_bytes));
    }
}

void TokenShard::accept_headerless(TokenWidth width) {
    width_ = width;
    const std::int64_t size = file_.size();
    tokens_ = size / bytes_of(width);
    if (size % bytes_of(width) != 0) {
        throw InputError(
            fmt::format("{}: has {} bytes, expected a multiple of {} (uint{} tokens without a "
                        "header); the shard is truncated or has another width",
                        path(), size, bytes_of(width), 8 * bytes_of(width)));
    }
}

void TokenShard::accept_text() {
    tokens_ = file_.size();
    // A zero byte near the start distinguishes an archive, array or table from a text.
    constexpr std::int64_t kLooked = 4096;
    std::vector<std::byte> start(static_cast<std::size_t>(std::min(file_.size(), kLooked)));
    file_.read(0, start);
    const auto zero = std::find(start.begin(), start.end(), std::byte{0});
    if (zero != start.end()) {
        throw InputError(
            fmt::format("{}: byte {} is zero, so this is no text, expected plain text or token "
                        "shards named *.bin; convert or rename it",
                        path(), zero - start.begin()));
    }
}

void TokenShard::read(std::int64_t begin, std::int64_t vocabulary,
                      std::span<std::int32_t> out) const {
    if (begin < 0 || std::cmp_greater(out.size(), tokens_) ||
        begin > tokens_ - static_cast<std::int64_t>(out.size()))
        throw InternalError(fmt::format("{}: tokens {} to {} asked for, the shard has {}", path(),
                                        begin, begin + static_cast<std::int64_t>(out.size()),
                                        tokens_));
    std::vector<std::byte> ids(out.size() * static_cast<std::size_t>(width_));
    file_.read(data_begin_ + begin * bytes_of(width_), ids);
    const std::byte* const from = ids.data();
    const std::uint32_t largest = width_ == TokenWidth::uint32 ? copy_ids<std::uint32_t>(from, out)
                                  : width_ == TokenWidth::uint16
                                      ? copy_ids<std::uint16_t>(from, out)
                                      : copy_ids<std::uint8_t>(from, out);
    if (out.empty() || std::cmp_less(largest, vocabulary)) return;
    // uint32 ids from 2^31 on are negative in `out`.
    const auto wrong = std::find_if(out.begin(), out.end(), [&](std::int32_t id) {
        return std::cmp_greater_equal(static_cast<std::uint32_t>(id), vocabulary);
    });
    const std::int64_t index = begin + (wrong - out.begin());
    throw InputError(
        fmt::format("{}: token {} (byte {}) is {}, expected less than the vocabulary of {}; "
                    "tokenize the text with the tokenizer of this model",
                    path(), index, data_begin_ + index * bytes_of(width_),
                    static_cast<std::uint32_t>(*wrong), vocabulary));
}

std::uint64_t TokenShard::checksum(std::int64_t vocabulary) const {
    constexpr std::int64_t kBlock = 1 << 20;  // tokens
    Checksum checksum;
    std::vector<std::int32_t> block;
    for (std::int64_t begin = 0; begin < tokens_; begin += kBlock) {
        block.resize(static_cast<std::size_t>(std::min(kBlock, tokens_ - begin)));
        read(begin, vocabulary, block);
        checksum.add(std::as_bytes(std::span(block)));
    }
    return checksum.value();
}

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

TokenSource open_tokens(const std::vector<std::string>& paths, std::int64_t vocabulary) {
    if (paths.empty()) {
        throw InputError("no token files given; name .bin shards, a text or a folder of them");
    }
    std::vector<TokenShard> shards;
    for (const std::string& path : paths) {
        std::error_code error;
        if (!fs::is_directory(path, error)) {
            shards.emplace_back(path);
            continue;
        }
        for (std::string& file : files_of_folder(path)) shards.emplace_back(std::move(file));
    }
    return TokenSource(std::move(shards), vocabulary);
}

}  // namespace sluice
