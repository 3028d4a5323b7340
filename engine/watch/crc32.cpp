#include "engine/watch/crc32.h"

#include <array>

namespace sluice {
namespace {

using CrcTable = std::array<std::uint32_t, 256>;

CrcTable crc_table(std::uint32_t reversed_polynomial) {
    CrcTable table{};
    for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
        std::uint32_t rest = byte;
        for (int bit = 0; bit < 8; ++bit)
            rest = rest >> 1 ^ ((rest & 1) != 0 ? reversed_polynomial : 0);
        table[byte] = rest;
    }
    return table;
}

std::uint32_t crc_by(const CrcTable& table, std::string_view bytes) {
    std::uint32_t crc = ~std::uint32_t{0};
    for (const char c : bytes) crc = table[(crc ^ static_cast<unsigned char>(c)) & 0xff] ^ crc >> 8;
    return ~crc;
}

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
    static const CrcTable kTable = crc_table(0x82f63b78);
    return crc_by(kTable, bytes);
}

std::uint32_t crc32(std::string_view bytes) {
    static const CrcTable kTable = crc_table(0xedb88320);
    return crc_by(kTable, bytes);
}

}  // namespace sluice
