// How is a field of a message of protocol buffers written?
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace sluice::protobuf {

static_assert(std::endian::native == std::endian::little, "numbers of messages are little-endian");

enum class Wire : std::uint32_t { varint = 0, fixed64 = 1, length = 2, fixed32 = 5 };

template <typename Number>
std::string bytes_of(Number number) {
    std::string bytes(sizeof number, '\0');
    std::memcpy(bytes.data(), &number, sizeof number);
    return bytes;
}

inline std::string varint(std::uint64_t value) {
    std::string out;
    for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
    return out + static_cast<char>(value);
}
inline std::string key(std::uint32_t field, Wire wire) {
    return varint(field << 3 | static_cast<std::uint32_t>(wire));
}
inline std::string integer_field(std::uint32_t field, std::int64_t value) {
    return key(field, Wire::varint) + varint(static_cast<std::uint64_t>(value));
}
inline std::string double_field(std::uint32_t field, double value) {
    return key(field, Wire::fixed64) + bytes_of(value);
}
inline std::string float_field(std::uint32_t field, float value) {
    return key(field, Wire::fixed32) + bytes_of(value);
}
/// A text or a message, too.
inline std::string bytes_field(std::uint32_t field, std::string_view value) {
    return key(field, Wire::length) + varint(value.size()) + std::string(value);
}

}  // namespace sluice::protobuf
