// Which colours does the window paint with? Those of the SVG reports, with the grounds, lines and
// texts of the light or dark style that the desktop has.
#pragma once

#include <QColor>
#include <QPalette>
#include <QString>

#include "sim/report/colours.h"

namespace sluice {

class Palette {
  public:
    /// Light or dark as `of` is.
    explicit Palette(const QPalette& of = QPalette());
    /// As the SVG reports and what is printed: on white.
    static Palette light();
    static Palette dark();

    bool is_dark() const { return dark_; }

    // Grounds, lines, texts.
    QColor window() const { return window_; }  ///< behind a picture
    QColor plot() const { return plot_; }      ///< of a plot area or a lane, beside window()
    QColor grid() const { return grid_; }
    QColor axis() const { return axis_; }
    QColor text() const { return text_; }
    QColor muted() const { return muted_; }  ///< of less important text; contrast 4.5 at least
    QColor selection() const { return selection_; }  ///< outline of what is selected

    // What a colour means.
    static QColor family(Family family);
    static QColor family_text(Family family);
    QColor memory(MemoryKind kind) const;
    QColor memory_text(MemoryKind kind) const { return text_on(memory(kind)); }
    static QColor series(int index);  ///< one after another; repeats after kSeriesColours
    static QColor pointed_out();
    static QColor other();
    QColor misfit() const { return misfit_; }    ///< what does not fit
    QColor beaten() const { return beaten_; }    ///< what another beats in all respects
    QColor waiting() const { return waiting_; }  ///< compute waits; a shortage; an error
    QColor capacity() const { return text_; }    ///< the line of what there is
    QColor good() const { return good_; }

    /// Viridis, for values between 0 (dark violet) and 1 (yellow): ordered by lightness, so that
    /// any colour vision and a grey print keep the order. Other shares are cut.
    static QColor scale(double share);

    /// Black or white, whichever has the greater contrast to `ground` (WCAG 2.1).
    static QColor text_on(const QColor& ground);

  private:
    Palette(bool dark, const QPalette& of);

    bool dark_ = false;
    QColor window_, plot_, grid_, axis_, text_, muted_, selection_, misfit_, beaten_, waiting_,
        good_;
};

/// Contrast of two opaque colours, 1 to 21: (L1 + 0.05) / (L2 + 0.05) of relative luminances, the
/// lighter above (WCAG 2.1, 1.4.3).
double contrast(const QColor& one, const QColor& other);

/// `share` of `other`, the rest of `one`: 0 is one, 1 the other.
QColor mix(const QColor& one, const QColor& other, double share);

/// A dark desktop's palette, where the platform has none (rendering without a desktop, a choice in
/// the menu).
QPalette dark_palette();
QPalette light_palette();

/// "#0072b2".
inline QColor colour(const char* name) { return QColor(QLatin1StringView(name)); }

}  // namespace sluice
