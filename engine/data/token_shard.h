// Which tokens does one file hold: how wide are they, and where do they start?
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "engine/data/mapped_file.h"

namespace sluice {

/// Bytes of a token id in a file.
enum class TokenWidth : std::uint8_t { byte = 1, uint16 = 2, uint32 = 4 };

/// Ids that a token of one byte can have: 0 to 255.
inline constexpr std::int64_t kByteVocabulary = 256;

/// A file of tokens, memory-mapped. Names that end in .bin are shards of little-endian ids:
///   with llm.c's header of 256 int32 (magic, version, number of tokens, zeros): magic 20240520
///   and version 1 is uint16, magic 20240801 and version 7 is uint32;
///   without a header (nanoGPT): uint32 where the name ends in .u32.bin, else uint16.
/// Any other file is text, a token a byte.
class TokenShard {
  public:
    /// Throws InputError for a file that is none of the above.
    explicit TokenShard(std::string path);

    const std::string& path() const { return file_.path(); }
    TokenWidth width() const { return width_; }
    std::int64_t tokens() const { return tokens_; }

    /// Tokens [begin, begin + out.size()). Throws InputError where an id is not less than
    /// `vocabulary`, and InternalError for a range outside the file.
    void read(std::int64_t begin, std::int64_t vocabulary, std::span<std::int32_t> out) const;

  private:
    void read_header();
    void accept_headerless(TokenWidth width);
    void accept_text();
    [[noreturn]] void refuse_id(std::int64_t index, std::int64_t vocabulary) const;
    template <typename Id>
    std::int64_t id_at(std::int64_t index) const;

    MappedFile file_;
    TokenWidth width_ = TokenWidth::byte;
    std::int64_t data_begin_ = 0;  ///< bytes
    std::int64_t tokens_ = 0;
};

}  // namespace sluice
