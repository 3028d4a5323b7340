// The error of tokens/s, a bar a run.
#include <algorithm>
#include <cmath>

#include "sim/base/format.h"
#include "sim/report/svg_canvas.h"
#include "sim/report/svg_geometry.h"
#include "sim/report/validate/validation_svg.h"

namespace sluice {
namespace {

// Pixels.
constexpr double kMargin = 18;
constexpr double kTop = 58;
constexpr double kRow = 20;
constexpr double kBar = 12;
constexpr double kPlot = 420;
constexpr double kValue = 60;  // the column of numbers
constexpr double kLongestName = 330;
// Font sizes.
constexpr double kSmall = 11;
constexpr double kNormal = 13;
constexpr double kTitle = 18;

constexpr int kMostTicks = 5;    // on each side of 0
constexpr double kLeast = 0.06;  // of the axis: the lines at 5% are always there

class ErrorBars {
  public:
    explicit ErrorBars(const Validation& validation) : validation_(validation) {
        double name = 60;
        for (const RunComparison& c : validation.runs) {
            name = std::max(name, text_width(c.run.name, kSmall));
            for (const double value : {c.throughput_error(), band_low(c), band_high(c)})
                most_ = std::max(most_, 1.05 * std::abs(value));
        }
        left_ = kMargin + std::min(name, kLongestName) + 8;
        bottom_ = kTop + kRow * static_cast<double>(validation.runs.size());
    }

    std::string text() {
        canvas_.text(kMargin, 28, kTitle, "Error of predicted tokens/s", "font-weight=\"bold\"");
        canvas_.text(kMargin, 48, kSmall,
                     "grey: the predicted 5 to 95%; where it reaches over 0, the measured step "
                     "lies within",
                     "fill=\"#444\"");
        axis();
        double y = kTop;
        for (const RunComparison& c : validation_.runs) {
            row(c, y);
            y += kRow;
        }
        limits();
        return canvas_.element(left_ + kPlot + kValue + kMargin, bottom_ + 34);
    }

  private:
    /// As throughput_error(), were the step at an end of its band; else 0.
    static double band_low(const RunComparison& c) {
        return c.in_band() ? c.run.step / c.predicted.band->high - 1 : 0;
    }
    static double band_high(const RunComparison& c) {
        return c.in_band() ? c.run.step / c.predicted.band->low - 1 : 0;
    }
    double x(double error) const { return left_ + (error / most_ + 1) / 2 * kPlot; }

    void axis() {
        const double tick = round_tick(most_, kMostTicks);
        for (int i = -kMostTicks; i <= kMostTicks; ++i) {
            if (std::abs(i * tick) > most_) continue;
            canvas_.line(x(i * tick), kTop, x(i * tick), bottom_, "stroke=\"#e4e4e4\"");
            canvas_.text(x(i * tick), bottom_ + 18, kSmall,
                         i == 0 ? "0" : fmt::format("{:+g}%", 100 * i * tick),
                         R"(text-anchor="middle" fill="#444")");
        }
    }

    void limits() {
        canvas_.line(x(0), kTop, x(0), bottom_, "stroke=\"#444\"");
        for (const double limit : {-0.05, 0.05})
            canvas_.line(x(limit), kTop, x(limit), bottom_,
                         R"(stroke="#888" stroke-dasharray="5 4")");
    }

    void row(const RunComparison& c, double y) {
        const double middle = y + kRow / 2;
        canvas_.text(left_ - 8, middle + 4, kSmall,
                     wrap_text(c.run.name, kSmall, kLongestName).front(), "text-anchor=\"end\"");
        if (c.in_band())
            canvas_.add(
                "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{}\" "
                "fill=\"#d0d0d0\"/>\n",
                x(band_low(c)), y + 1, x(band_high(c)) - x(band_low(c)), kRow - 2);
        const double error = c.throughput_error();
        canvas_.add(
            "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{}\" fill=\"{}\"/>\n",
            x(std::min(error, 0.0)), middle - kBar / 2, x(std::abs(error)) - x(0), kBar,
            group_colour(validation_, c.run.group));
        canvas_.text(left_ + kPlot + kValue, middle + 4, kSmall, format_error(error),
                     "text-anchor=\"end\"");
    }

    const Validation& validation_;
    double most_ = kLeast;  // of the axis, on each side of 0
    double left_ = 0, bottom_ = 0;
    SvgCanvas canvas_;
};

}  // namespace

std::string error_bars_svg(const Validation& validation) { return ErrorBars(validation).text(); }

}  // namespace sluice
