// Which colours does the window paint with? The colours of the reports, with ground and text of the
// desktop's light or dark style.
#pragma once

#include <QColor>
#include <QPalette>

#include "sim/report/colours.h"

namespace sluice {

Colours colours_of(const QPalette& palette);
inline QColor qcolor(Rgb colour) { return {colour.red, colour.green, colour.blue}; }
inline QColor qcolor(const Colours& colours, const Paint& paint) {
    QColor out = qcolor(colours.of(paint));
    out.setAlphaF(static_cast<float>(paint.opacity));
    return out;
}

/// A dark palette where the platform has none (offscreen, or chosen in the menu).
QPalette dark_palette();
QPalette light_palette();
/// For check boxes on it: Fusion draws their outline somewhat darker than the window, where it
/// is hardly seen.
QPalette check_box_palette(QPalette palette);

}  // namespace sluice
