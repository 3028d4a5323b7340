// Which tokens does training read: which shards and texts, in which order?
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/data/document_file.h"
#include "engine/data/files.h"

namespace sluice {

/// Bytes of a token id in a file.
enum class TokenWidth : std::uint8_t { byte = 1, uint16 = 2, uint32 = 4 };

/// Number of ids of one-byte tokens: 0 to 255.
inline constexpr std::int64_t kByteVocabulary = 256;

/// How `./dev data` made a file, as its header says; zeros where it says nothing.
struct PreparedData {
    std::int64_t sequence = 0;       ///< tokens that documents are packed into
    std::int64_t cut_documents = 0;  ///< those longer than a sequence, of which parts are there
    std::int64_t left_out_documents = 0;  ///< too long, or wrong
    std::int64_t lost_tokens = 0;         ///< of documents that were left out or end early
};

/// A file of tokens. Names that end in .bin are shards of little-endian ids. With
/// llm.c's header of 256 int32 (magic, version, number of tokens, zeros): magic 20240520 and
/// version 1 is uint16, magic 20240801 and version 7 is uint32. Without a header (nanoGPT): uint32
/// if the name ends in .u32.bin, or the type that Megatron's index NAME.idx says, else uint16. Any
/// other file is text, one token per byte, unless
/// its name ends like that of documents, a table or a compressed file. A mask may lie beside it,
/// under its name with ".mask" added: a byte per token, 1 if the model learns to predict that
/// token, 0 if not. Without one, it learns all. After the number of tokens a header may say how
/// many are learned, so that the mask must be there, how many documents begin, and PreparedData.
/// Where documents begin is read only if that is asked for (DocumentFile).
class TokenShard {
  public:
    /// Throws InputError for a file that is none of these.
    explicit TokenShard(std::string path, bool with_documents = false);

    const std::string& path() const { return file_.path(); }
    TokenWidth width() const { return width_; }
    std::int64_t tokens() const { return tokens_; }

    /// Tokens [begin, begin + out.size()). Throws InputError if an id is not less than
    /// `vocabulary`, and InternalError for a range outside the file.
    /// Also if the file has become shorter.
    void read(std::int64_t begin, std::int64_t vocabulary, std::span<std::int32_t> out) const;
    /// The same for tokens as targets: one that is not learned is -1. Also throws InputError for a
    /// byte of the mask that is neither 0 nor 1.
    void read_targets(std::int64_t begin, std::int64_t vocabulary,
                      std::span<std::int32_t> out) const;
    /// The checksum of all token ids as int32, the same for each width, and of the mask if there is
    /// one. Throws as read_targets(), and InputError for a mask without any 1, or with other than
    /// the header says.
    std::uint64_t checksum(std::int64_t vocabulary) const;
    const std::optional<DocumentFile>& documents() const { return documents_; }
    const PreparedData& prepared() const { return prepared_; }
    /// Tokens that the mask says are learned, or all without a mask. Reads the mask if the header
    /// does not say it.
    std::int64_t learned() const;
    /// Another number once its file, mask or documents were written to.
    std::int64_t modification() const;

  private:
    void read_header();
    void accept_headerless(TokenWidth width);
    void accept_text();
    void open_mask();
    /// Sets targets that are not learned to -1, and returns how many are learned.
    std::int64_t hide_unlearned(std::int64_t begin, std::span<std::int32_t> targets) const;

    ReadFile file_;
    std::optional<ReadFile> mask_;
    std::optional<DocumentFile> documents_;
    TokenWidth width_ = TokenWidth::byte;
    std::int64_t data_begin_ = 0;  ///< bytes
    std::int64_t tokens_ = 0;
    std::int64_t learned_ = 0, documents_begin_ = 0;  ///< as the header says, or 0
    PreparedData prepared_;
};

/// Token files in the given order.
class TokenSource {
  public:
    TokenSource(std::vector<TokenShard> shards, std::int64_t vocabulary);

    std::size_t shard_count() const { return shards_.size(); }
    const TokenShard& shard(std::size_t index) const { return shards_[index]; }

    /// Tokens [begin, begin + out.size()) of a shard. Throws InputError unless all are less than
    /// the vocabulary.
    void read(std::size_t shard, std::int64_t begin, std::span<std::int32_t> out) const;
    /// The same as targets; see TokenShard::read_targets.
    void read_targets(std::size_t shard, std::int64_t begin, std::span<std::int32_t> out) const;

    /// First tokens of the documents of tokens [begin, begin + count), as DocumentFile::begins();
    /// none if they were not asked for.
    std::vector<std::int64_t> documents(std::size_t shard, std::int64_t begin,
                                        std::int64_t count) const;

    /// TokenShard::modification() of each shard.
    std::vector<std::int64_t> modifications() const;

    /// Throws as fingerprint() for a wrong id or mask in blocks that are evenly spread: of 32
    /// million tokens in all, at least one block of each file.
    void check_some() const;

    /// 16 digits that other tokens do not give. Reads all shards, several at once. Throws
    /// InputError for the first id outside the vocabulary and for a wrong mask.
    std::string fingerprint() const;
    /// The same of where documents begin; "" if that was not asked for.
    std::string documents_fingerprint() const;

  private:
    std::vector<TokenShard> shards_;
    std::int64_t vocabulary_;
};

/// Opens files (see TokenShard for their formats) and folders. A folder stands for its *.bin files
/// in the order of their names, or, if there are none, for its *.txt and *.md files. Throws
/// InputError; also for a folder that mixes training shards with validation shards, and for text if
/// `vocabulary` is less than 256.
TokenSource open_tokens(const std::vector<std::string>& paths, std::int64_t vocabulary,
                        bool with_documents = false);

}  // namespace sluice
