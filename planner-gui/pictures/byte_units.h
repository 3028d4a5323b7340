// In which units are bytes shown, and how do texts of the libraries become Qt's?
#pragma once

#include <QString>
#include <string>

#include "sim/base/format.h"

namespace sluice {

inline QString qtext(const std::string& utf8) { return QString::fromStdString(utf8); }

/// Decimal units of 10^9 bytes, or binary ones of 2^30.
enum class ByteUnits { decimal, binary };

/// "24.8 GB" or "23.1 GiB"; from 1000 (1024) on in the next larger unit.
QString byte_text(double bytes, ByteUnits units);
/// The same as a function for texts of the libraries.
BytesText bytes_text(ByteUnits units);

}  // namespace sluice
