// Which colours does the window paint with? Those of the reports, on the grounds and with the text
// of the light or dark style that the desktop has.
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

/// A dark desktop's palette, where the platform has none (rendering without a desktop, a choice in
/// the menu).
QPalette dark_palette();
QPalette light_palette();

}  // namespace sluice
