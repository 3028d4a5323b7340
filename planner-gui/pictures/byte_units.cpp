#include "planner-gui/pictures/byte_units.h"

#include <array>
#include <cmath>

#include "sim/report/report.h"

namespace sluice {

QString byte_text(double bytes, ByteUnits units) {
    static constexpr std::array kDecimal = {"B", "kB", "MB", "GB", "TB", "PB"};
    static constexpr std::array kBinary = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    const bool decimal = units == ByteUnits::decimal;
    const double step = decimal ? 1000 : 1024;
    std::size_t unit = 0;
    while (std::abs(bytes) >= step && unit + 1 < kDecimal.size()) {
        bytes /= step;
        ++unit;
    }
    const int digits = unit == 0 || std::abs(bytes) >= 1000 ? 0 : unit >= 4 ? 2 : 1;
    return QStringLiteral("%1 %2")
        .arg(bytes, 0, 'f', digits)
        .arg(QLatin1StringView((decimal ? kDecimal : kBinary)[unit]));
}

BytesText bytes_text(ByteUnits units) {
    return [units](double bytes) { return byte_text(bytes, units).toStdString(); };
}

}  // namespace sluice
