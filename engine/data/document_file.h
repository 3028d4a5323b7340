// Where do the documents of a token file begin?
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/data/files.h"

namespace sluice {

/// The file beside a token file, under its name with ".documents" added: a little-endian int64 a
/// document, ascending from 0, the index of its first token.
class DocumentFile {
  public:
    /// That of the token file `path`, which has `tokens` and, if that is known, `documents`. Throws
    /// InputError if there is none, or if its size cannot be right.
    DocumentFile(const std::string& path, std::int64_t tokens, std::int64_t documents = 0);

    /// The first tokens of the documents that tokens [begin, begin + count) belong to, but `begin`
    /// in place of what is before it. Throws InputError where they do not ascend.
    std::vector<std::int64_t> begins(std::int64_t begin, std::int64_t count) const;
    std::int64_t modified_ns() const { return file_.modified_ns(); }
    /// Reads all. Throws InputError unless they ascend from 0 and are below the tokens.
    std::uint64_t checksum() const;

  private:
    std::int64_t count() const { return file_.size() / kBytes; }
    std::vector<std::int64_t> read(std::int64_t first, std::int64_t count) const;
    [[noreturn]] void refuse(std::int64_t index, std::int64_t value, std::int64_t least) const;

    static constexpr std::int64_t kBytes = sizeof(std::int64_t);
    std::int64_t tokens_;
    ReadFile file_;
};

}  // namespace sluice
