// Which tokens is a text without a trained tokenizer? One a byte, so that any text trains any
// model.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// Token ids are the bytes 0 to 255.
inline constexpr std::int64_t kByteVocabulary = 256;

std::vector<std::int32_t> encode_bytes(std::string_view text);

/// The bytes of `tokens`, the inverse of encode_bytes(). An id that is no byte, which a model with
/// a larger vocabulary can produce, becomes U+FFFD, the replacement character.
std::string decode_bytes(std::span<const std::int32_t> tokens);

}  // namespace sluice
