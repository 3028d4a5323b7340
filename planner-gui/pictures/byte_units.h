// In which units are bytes shown?
#pragma once

#include <QString>
#include <vector>

#include "sim/answers/predict/prediction.h"
#include "sim/base/format.h"

namespace sluice {

/// 10^9 or 2^30 bytes, and what belongs to them.
enum class ByteUnits { decimal, binary };

/// "24.8 GB" or "23.1 GiB"; of 1000 (1024) and more the next larger unit.
QString byte_text(double bytes, ByteUnits units);
/// The same for sentences of the libraries.
BytesText bytes_text(ByteUnits units);

/// Why something is not as good as it seems: what was found, or what is short.
QString reason_text(const std::string& reason, const std::vector<Shortage>& shortages,
                    ByteUnits units);

}  // namespace sluice
