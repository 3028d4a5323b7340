// Which drawing functions do the parts of the memory picture share: bytes in the chosen unit, axes,
// titles?
#pragma once

#include <algorithm>
#include <cmath>

#include "planner-gui/pictures/memory_stack.h"
#include "sim/report/chart_parts.h"

namespace sluice {

// In lines of text: above a part, below it, between parts.
inline constexpr double kPartTitle = 1.4, kPartAxis = 1.6, kPartGap = 0.9;

struct MemoryPen {
    ByteUnits units;
    double font, line;
    Picture out = {};

    std::string bytes(Bytes count) const { return bytes_text(units)(static_cast<double>(count)); }

    /// Ticks are round numbers in the chosen unit.
    Axis byte_axis(Bytes full, double room, double tick_room) const {
        constexpr int kMostTicks = 8;
        const double base = units == ByteUnits::decimal ? 1000 : 1024;
        const double most = std::max(1.0, static_cast<double>(full));
        const double unit = std::pow(base, std::floor(std::log(most) / std::log(base)));
        const int ticks = std::clamp(static_cast<int>(room / tick_room), 1, kMostTicks);
        Axis axis = linear_axis(0, most / unit, ticks);
        axis.high = most;
        for (double& tick : axis.ticks) tick *= unit;
        return axis;
    }
    TickLabel tick_label() const {
        return [units = units](double at) { return at == 0 ? "0" : bytes_text(units)(at); };
    }

    void title(Point at, const std::string& words, const std::string& more, Paint colour) {
        out.words({at.x, at.y + font}, words, font, paint(Role::text), Anchor::start, true);
        out.words({at.x + 1.08 * text_width(words, font) + font / 2, at.y + font}, more, font,
                  colour);
    }

    /// Memory beyond the available amount: paler, and hatched.
    void lacking(const Box& box) {
        out.rectangle(box, paint(Role::window, 0.55));
        out.hatching(box, paint(Role::waiting));
    }
};

/// Segments that the table beside the bars names, and their colours.
using NamedColours = std::vector<std::pair<std::string, Paint>>;

/// Draws from `top` on the stacks as bars, and next to them a table of their segments, which is the
/// legend. Returns where the next part begins.
double draw_peaks(MemoryPen& pen, double top, const std::vector<MemoryStack>& stacks,
                  const NamedColours& names);

}  // namespace sluice
