// In which units are bytes shown?
#pragma once

#include <QString>

namespace sluice {

/// 10^9 or 2^30 bytes, and what belongs to them.
enum class ByteUnits { decimal, binary };

/// "24.8 GB" or "23.1 GiB"; of 1000 (1024) and more the next larger unit.
QString byte_text(double bytes, ByteUnits units);

}  // namespace sluice
