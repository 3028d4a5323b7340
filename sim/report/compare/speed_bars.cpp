#include "sim/report/compare/speed_bars.h"

#include <algorithm>

#include "sim/base/format.h"
#include "sim/report/svg_canvas.h"
#include "sim/report/svg_geometry.h"

namespace sluice {
namespace {

// Pixels.
constexpr double kMargin = 18;
constexpr double kRow = 34;
constexpr double kBar = 20;
constexpr double kGroup = 30;  // the line above the bars of a group
constexpr double kPlot = 560;
constexpr double kValue = 130;  // beyond the axis at least, for the number of the longest bar
constexpr double kGap = 8;
constexpr double kCap = 5;  // half of the height of a band's ends
// Font sizes.
constexpr double kSmall = 12;
constexpr double kNormal = 13;
constexpr double kTitle = 18;

constexpr int kMostTicks = 8;
constexpr const char* kGrey = "fill=\"#444\"";
// A label is read across lines.
constexpr const char* kHalo =
    R"(fill="#222" stroke="#fff" stroke-width="3" paint-order="stroke" stroke-linejoin="round")";

/// Draws from top to bottom; y_ is where the next thing goes.
class Bars {
  public:
    explicit Bars(const SpeedBars& chart) : chart_(chart) {
        double name = 0;
        for (const SpeedBarGroup& group : chart.groups)
            for (const SpeedBar& bar : group.bars) {
                name = std::max(name, text_width(bar.name, kNormal));
                most_ = std::max(most_, bar.misfit.empty() ? bar.high : bar.tokens_per_s);
            }
        left_ = kMargin + name + 10;
        width_ = left_ + kPlot + kValue + kMargin;
        for (const SpeedBarGroup& group : chart.groups)
            for (const SpeedBar& bar : group.bars)
                if (bar.misfit.empty())
                    width_ = std::max(
                        width_, x(bar.high) + kGap + text_width(label(bar), kNormal) + kMargin);
    }

    std::string text() {
        y_ = 30;
        paragraph(chart_.title, kTitle, "font-weight=\"bold\"");
        paragraph(chart_.subtitle, kNormal, kGrey);
        const double top = y_;
        // The grid goes below the bars, whose number decides its height.
        axis(top, top + bars_height());
        for (const SpeedBarGroup& one : chart_.groups) group(one);
        y_ += 44;
        paragraph(chart_.note, kSmall, kGrey);
        return canvas_.element(width_, y_ + kMargin);
    }

  private:
    double x(double tokens_per_s) const { return left_ + tokens_per_s / most_ * kPlot; }

    static std::string label(const SpeedBar& bar) {
        return format_thousands(bar.tokens_per_s) + bar.beside;
    }

    double bars_height() const {
        double height = 0;
        for (const SpeedBarGroup& one : chart_.groups)
            height +=
                (one.heading.empty() ? 0 : kGroup) + kRow * static_cast<double>(one.bars.size());
        return height;
    }

    void paragraph(const std::string& words, double size, const char* attributes) {
        for (const std::string& line : wrap_text(words, size, width_ - 2 * kMargin)) {
            canvas_.text(kMargin, y_, size, line, attributes);
            y_ += size * 1.45;
        }
    }

    void axis(double top, double bottom) {
        const double tick = round_tick(most_, kMostTicks);
        for (int i = 0; i * tick <= most_; ++i) {
            canvas_.line(x(i * tick), top, x(i * tick), bottom, "stroke=\"#e4e4e4\"");
            canvas_.text(x(i * tick), bottom + 18, kSmall, format_thousands(i * tick),
                         R"(text-anchor="middle" fill="#444")");
        }
    }

    void group(const SpeedBarGroup& one) {
        if (!one.heading.empty()) {
            canvas_.text(kMargin, y_ + kGroup - 9, kNormal, one.heading, "font-weight=\"bold\"");
            y_ += kGroup;
        }
        for (const SpeedBar& bar : one.bars) {
            row(bar);
            y_ += kRow;
        }
    }

    void row(const SpeedBar& bar) {
        const double middle = y_ + kRow / 2;
        canvas_.text(left_ - 8, middle + 4, kNormal, bar.name, "text-anchor=\"end\"");
        canvas_.add(
            "<rect x=\"{:.6g}\" y=\"{:.6g}\" width=\"{:.6g}\" height=\"{}\" fill=\"{}\"><title>{}"
            "</title></rect>\n",
            left_, middle - kBar / 2, x(bar.tokens_per_s) - left_, kBar,
            bar.misfit.empty() ? bar.fill : kMisfitBar, escape_xml(bar.tooltip));
        if (!bar.misfit.empty()) {
            canvas_.text(left_ + 8, middle + 4, kSmall, "does not fit: " + bar.misfit, kHalo);
            return;
        }
        band(bar, middle);
        canvas_.text(x(bar.high) + kGap, middle + 4, kNormal, label(bar), kHalo);
    }

    void band(const SpeedBar& bar, double middle) {
        constexpr const char* kLine = R"(stroke="#222" stroke-width="1.5")";
        canvas_.line(x(bar.low), middle, x(bar.high), middle, kLine);
        for (const double end : {bar.low, bar.high})
            canvas_.line(x(end), middle - kCap, x(end), middle + kCap, kLine);
    }

    const SpeedBars& chart_;
    SvgCanvas canvas_;
    double most_ = 1e-9, left_ = 0, width_ = 0, y_ = 0;
};

}  // namespace

std::string speed_bars_svg(const SpeedBars& chart) { return Bars(chart).text(); }

}  // namespace sluice
