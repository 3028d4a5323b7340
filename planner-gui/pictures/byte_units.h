// In which units are bytes shown; how do texts of the libraries become Qt's?
#pragma once

#include <QString>
#include <string>

#include "sim/base/format.h"

namespace sluice {

inline QString qtext(const std::string& utf8) { return QString::fromStdString(utf8); }

/// 10^9 or 2^30 bytes, and what belongs to them.
enum class ByteUnits { decimal, binary };

/// "24.8 GB" or "23.1 GiB"; of 1000 (1024) and more the next larger unit.
QString byte_text(double bytes, ByteUnits units);
/// The same for sentences of the libraries.
BytesText bytes_text(ByteUnits units);

}  // namespace sluice
