#include "planner-gui/pictures/palette.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace sluice {
namespace {

/// WCAG 2.1, definition of relative luminance.
double luminance(const QColor& colour) {
    const auto linear = [](double channel) {
        return channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(colour.redF()) + 0.7152 * linear(colour.greenF()) +
           0.0722 * linear(colour.blueF());
}

QPalette palette_from(const QColor& window, const QColor& base, const QColor& button,
                      const QColor& text, const QColor& highlight) {
    QPalette palette(text, button, mix(button, text, 0.2), mix(button, Qt::black, 0.4),
                     mix(button, Qt::black, 0.2), text, text, base, window);
    palette.setColor(QPalette::AlternateBase, mix(base, text, 0.05));
    palette.setColor(QPalette::ToolTipBase, mix(base, text, 0.1));
    palette.setColor(QPalette::ToolTipText, text);
    palette.setColor(QPalette::PlaceholderText, mix(text, base, 0.4));
    palette.setColor(QPalette::Highlight, highlight);
    palette.setColor(QPalette::HighlightedText, Palette::text_on(highlight));
    palette.setColor(QPalette::Link, highlight);
    for (const QPalette::ColorRole role :
         {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        palette.setColor(QPalette::Disabled, role, mix(text, window, 0.5));
    palette.setColor(QPalette::Disabled, QPalette::Highlight, mix(button, text, 0.2));
    return palette;
}

}  // namespace

double contrast(const QColor& one, const QColor& other) {
    const double a = luminance(one), b = luminance(other);
    return (std::max(a, b) + 0.05) / (std::min(a, b) + 0.05);
}

QColor mix(const QColor& one, const QColor& other, double share) {
    const auto between = [&](float a, float b) { return static_cast<float>(a + (b - a) * share); };
    return QColor::fromRgbF(between(one.redF(), other.redF()),
                            between(one.greenF(), other.greenF()),
                            between(one.blueF(), other.blueF()));
}

Palette::Palette(const QPalette& of)
    : Palette(luminance(of.color(QPalette::Window)) < luminance(of.color(QPalette::WindowText)),
              of) {}

Palette::Palette(bool dark, const QPalette& of)
    : dark_(dark),
      window_(of.color(QPalette::Base)),
      plot_(mix(window_, of.color(QPalette::Text), dark ? 0.07 : 0.055)),
      grid_(mix(window_, of.color(QPalette::Text), dark ? 0.2 : 0.14)),
      axis_(mix(window_, of.color(QPalette::Text), 0.55)),
      text_(of.color(QPalette::Text)),
      muted_(mix(text_, window_, 0.27)),
      selection_(text_),
      misfit_(dark ? QColor(0x4a, 0x4a, 0x4a) : colour(kMisfitBar)),
      beaten_(dark ? QColor(0x77, 0x77, 0x77) : colour(kBeaten)),
      waiting_(dark ? QColor(0xff, 0x6b, 0x5e) : colour(kWaiting)),
      good_(dark ? QColor(0x2f, 0xc4, 0x9a) : QColor(0x00, 0x76, 0x56)) {}

Palette Palette::light() { return {false, light_palette()}; }
Palette Palette::dark() { return {true, dark_palette()}; }

QColor Palette::family(Family family) { return colour(family_colours(family).fill); }
QColor Palette::family_text(Family family) { return colour(family_colours(family).text); }

QColor Palette::memory(MemoryKind kind) const {
    const char* const name = kMemoryColours[static_cast<std::size_t>(kind)];
    // Dark grey would be lost on a dark ground.
    if (dark_ && kind == MemoryKind::process) return {0xd8, 0xd8, 0xd8};
    return colour(name);
}

QColor Palette::series(int index) {
    return colour(kSeriesColours[static_cast<std::size_t>(index) % kSeriesColours.size()]);
}

QColor Palette::pointed_out() { return colour(kPointedOut); }
QColor Palette::other() { return colour(kOtherBar); }

QColor Palette::scale(double share) {
    // Ten equidistant colours of viridis (van der Walt and Smith, matplotlib 1.5, CC0).
    static constexpr std::array<QRgb, 10> kViridis = {
        0xff440154, 0xff482878, 0xff3e4a89, 0xff31688e, 0xff26828e,
        0xff1f9e89, 0xff35b779, 0xff6dcd59, 0xffb4de2c, 0xfffde725};
    const double at = std::clamp(std::isnan(share) ? 0.0 : share, 0.0, 1.0) * (kViridis.size() - 1);
    const auto below = std::min(static_cast<std::size_t>(at), kViridis.size() - 2);
    return mix(QColor(kViridis[below]), QColor(kViridis[below + 1]),
               at - static_cast<double>(below));
}

QColor Palette::text_on(const QColor& ground) {
    return contrast(Qt::black, ground) >= contrast(Qt::white, ground) ? Qt::black : Qt::white;
}

QPalette dark_palette() {
    return palette_from(QColor(0x2b, 0x2b, 0x2e), QColor(0x1e, 0x1e, 0x20),
                        QColor(0x3a, 0x3a, 0x3e), QColor(0xf0, 0xf0, 0xf0),
                        QColor(0x56, 0xb4, 0xe9));
}

QPalette light_palette() {
    return palette_from(QColor(0xf3, 0xf3, 0xf3), Qt::white, QColor(0xe8, 0xe8, 0xe8),
                        QColor(0x1a, 0x1a, 0x1a), colour(kBlue));
}

}  // namespace sluice
