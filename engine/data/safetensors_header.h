// Which tensors does a safetensors file say it holds, and can that be true?
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/data/dtype.h"

namespace sluice {

/// The same limit as that of the format's other readers.
inline constexpr std::int64_t kMaxSafetensorsHeader = 100'000'000;

struct TensorEntry {
    std::string name;
    Dtype dtype = Dtype::u8;
    std::vector<std::int64_t> shape;
    std::int64_t begin = 0, end = 0;  ///< bytes from the start of the file
};

struct SafetensorsHeader {
    std::vector<TensorEntry> tensors;  ///< in the order of their bytes
};

/// Reads and checks the header of a whole file (8 bytes: length of the header, little-endian; the
/// header, JSON; the data). The tensors then lie within `file`, without gap or overlap, each as
/// long as its dtype and shape say. Throws InputError otherwise; `path` is used only in messages.
SafetensorsHeader read_safetensors_header(std::span<const std::byte> file, const std::string& path);

/// A name from a file, in quotes, on one line and not too long for a message.
std::string in_quotes(std::string_view name);

}  // namespace sluice
