#include "engine/data/token_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cstring>
#include <string_view>
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

/// The first numbers of a header; zeros if the file is shorter. llm.c leaves all after the tokens
/// 0.
struct Header {
    std::int32_t magic = 0, version = 0, tokens = 0, learned = 0, documents = 0, sequence = 0,
                 cut = 0, left_out = 0, lost = 0;
};

Header first_numbers(const ReadFile& file) {
    std::array<std::int32_t, 9> numbers{};
    const auto bytes = std::as_writable_bytes(std::span(numbers));
    file.read(0, bytes.first(std::min(bytes.size(), static_cast<std::size_t>(file.size()))));
    return {numbers[0], numbers[1], numbers[2], numbers[3], numbers[4],
            numbers[5], numbers[6], numbers[7], numbers[8]};
}

/// Files whose bytes are text or look like it, but are not to be learned.
struct OtherKind {
    std::string_view ending, what_to_do;
};
constexpr std::string_view kDocuments =
    "holds documents, not tokens; turn them into tokens with ./dev data";
constexpr std::string_view kTable =
    "is a table; write each row as an object a line to a .jsonl file, and turn that into tokens "
    "with ./dev data";
constexpr std::string_view kPacked = "is compressed; unpack it first";
constexpr OtherKind kOtherKinds[] = {
    {".jsonl", kDocuments},   {".ndjson", kDocuments}, {".json", kDocuments},
    {".parquet", kDocuments}, {".csv", kTable},        {".tsv", kTable},
    {".gz", kPacked},         {".bz2", kPacked},       {".xz", kPacked},
    {".zst", kPacked},        {".zip", kPacked},
};

void refuse_other_kinds(const std::string& path) {
    std::string name = path;
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    for (const OtherKind& kind : kOtherKinds)
        if (name.ends_with(kind.ending))
            throw InputError(fmt::format("{}: {}", path, kind.what_to_do));
}

/// The width that Megatron's index says, NAME.idx beside NAME.bin; empty without one.
std::optional<TokenWidth> megatron_width(const std::string& path) {
    constexpr std::string_view kMagic("MMIDIDX\0\0", 9);
    constexpr std::size_t kCode = kMagic.size() + sizeof(std::uint64_t);  // after its version
    constexpr int kInt16 = 3, kInt32 = 4, kUint16 = 8;                    // its codes of types
    const std::string index =
        path.substr(0, path.size() - std::string_view(".bin").size()) + ".idx";
    if (!is_there(index)) return std::nullopt;
    const ReadFile file(index);
    std::array<std::byte, kCode + 1> start{};
    if (file.size() < std::ssize(start)) return std::nullopt;
    file.read(0, start);
    if (std::memcmp(start.data(), kMagic.data(), kMagic.size()) != 0) return std::nullopt;
    const int code = std::to_integer<int>(start[kCode]);
    if (code == kInt32) return TokenWidth::uint32;
    if (code == kInt16 || code == kUint16) return TokenWidth::uint16;
    throw InputError(fmt::format(
        "{}: its code of a type is {}, expected {} (int16), {} (int32) or {} (uint16); prepare the "
        "data again with one of these",
        index, code, kInt16, kInt32, kUint16));
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

TokenShard::TokenShard(std::string path, bool with_documents) : file_(std::move(path)) {
    const std::int32_t magic = first_numbers(file_).magic;
    refuse_other_kinds(this->path());
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
        accept_headerless(
            megatron_width(this->path()).value_or(wide ? TokenWidth::uint32 : TokenWidth::uint16));
    }
    if (with_documents) documents_.emplace(this->path(), tokens_, documents_begin_);
    open_mask();
}

void TokenShard::open_mask() {
    std::string mask = path() + ".mask";
    if (!is_there(mask)) {
        if (learned_ == 0) return;
        throw InputError(
            fmt::format("{}: says that {} of its {} tokens are learned, but {} is missing, which "
                        "says which; copy it there, or prepare the data again",
                        path(), learned_, tokens_, mask));
    }
    mask_.emplace(std::move(mask));
    if (mask_->size() == tokens_) return;
    throw InputError(
        fmt::format("{}: has {} bytes, expected {}, one for each token of {}; prepare both files "
                    "again{}",
                    mask_->path(), mask_->size(), tokens_, path(),
                    learned_ == 0 ? ", or remove the mask to learn all tokens" : ""));
}

void TokenShard::read_header() {
    const auto [magic, version, tokens, learned, documents, sequence, cut, left_out, lost] =
        first_numbers(file_);
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
    learned_ = std::max(learned, 0);
    documents_begin_ = std::max(documents, 0);
    prepared_ = {std::max(sequence, 0), std::max(cut, 0), std::max(left_out, 0), std::max(lost, 0)};
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

std::int64_t TokenShard::modification() const {
    return file_.modified_ns() + (mask_ ? mask_->modified_ns() : 0) +
           (documents_ ? documents_->modified_ns() : 0);
}

void TokenShard::read_targets(std::int64_t begin, std::int64_t vocabulary,
                              std::span<std::int32_t> out) const {
    read(begin, vocabulary, out);
    hide_unlearned(begin, out);
}

std::int64_t TokenShard::hide_unlearned(std::int64_t begin, std::span<std::int32_t> targets) const {
    if (!mask_) return std::ssize(targets);
    std::vector<std::byte> learned(targets.size());
    mask_->read(begin, learned);
    std::int64_t count = 0;
    for (std::size_t i = 0; i < targets.size(); ++i) {
        if (learned[i] > std::byte{1}) {
            throw InputError(fmt::format(
                "{}: byte {} is {}, expected 1 for a token to learn or 0; prepare the file again",
                mask_->path(), begin + static_cast<std::int64_t>(i), static_cast<int>(learned[i])));
        }
        if (learned[i] == std::byte{0})
            targets[i] = -1;
        else
            ++count;
    }
    return count;
}

std::int64_t TokenShard::learned() const {
    if (!mask_) return tokens_;
    if (learned_ > 0) return learned_;
    constexpr std::int64_t kBlock = 1 << 20;  // tokens
    std::int64_t learned = 0;
    std::vector<std::int32_t> block;
    for (std::int64_t begin = 0; begin < tokens_; begin += kBlock) {
        block.resize(static_cast<std::size_t>(std::min(kBlock, tokens_ - begin)));
        learned += hide_unlearned(begin, block);
    }
    return learned;
}

std::uint64_t TokenShard::checksum(std::int64_t vocabulary) const {
    constexpr std::int64_t kBlock = 1 << 20;  // tokens
    Checksum checksum;
    std::int64_t learned = 0;
    std::vector<std::int32_t> block;
    for (std::int64_t begin = 0; begin < tokens_; begin += kBlock) {
        block.resize(static_cast<std::size_t>(std::min(kBlock, tokens_ - begin)));
        read(begin, vocabulary, block);
        checksum.add(std::as_bytes(std::span(block)));
        learned += hide_unlearned(begin, block);
        if (mask_) checksum.add(std::as_bytes(std::span(block)));
    }
    if (learned == 0) {
        throw InputError(fmt::format(
            "{}: all {} bytes are 0, expected a 1 for each token to learn; prepare the file again",
            mask_->path(), tokens_));
    }
    if (learned_ > 0 && learned != learned_) {
        throw InputError(fmt::format(
            "{}: learns {} tokens, but {} says {}; one of them is of other data or damaged: copy "
            "both, or prepare the data again",
            mask_->path(), learned, path(), learned_));
    }
    return checksum.value();
}

}  // namespace sluice
