// How do the logs of other programs check their records?
#pragma once

#include <cstdint>
#include <string_view>

namespace sluice {

/// CRC-32C (Castagnoli), which RFC 3720 defines.
std::uint32_t crc32c(std::string_view bytes);

/// CRC-32 of zlib and Ethernet (IEEE 802.3).
std::uint32_t crc32(std::string_view bytes);

}  // namespace sluice
