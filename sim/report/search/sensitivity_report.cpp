// What upgrades gain, as a tornado picture.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/answers/search/sensitivity.h"
#include "sim/base/format.h"
#include "sim/report/colours.h"
#include "sim/report/report.h"
#include "sim/report/svg_canvas.h"
#include "sim/report/svg_geometry.h"

namespace sluice {
namespace {

std::string signed_percent(double share) {
    // No "-0.0%".
    return fmt::format("{:+.1f}%", std::abs(share) < 0.0005 ? 0.0 : 100 * share);
}

// Pixels, font sizes.
constexpr double kMargin = 18, kRow = 38, kBar = 20, kPlot = 460, kValue = 150;
constexpr double kSmall = 12, kNormal = 13, kTitle = 18;
constexpr int kMostTicks = 6;
constexpr const char* kGrey = "fill=\"#444\"";
constexpr const char* kLine = R"(stroke="#222" stroke-width="1.5")";

class Tornado {
  public:
    explicit Tornado(const Sensitivity& all) : all_(all) {
        for (const Upgrade& upgrade : all.upgrades) {
            names_ = std::max(names_, text_width(upgrade.name, kNormal));
            most_ = std::max(most_, upgrade.gain_high);
            least_ = std::min(least_, upgrade.gain_low);
        }
        left_ = kMargin + names_ + 12;
    }

    std::string text() {
        const Prediction& r = all_.base;
        canvas_.text(kMargin, 30, kTitle, r.asked.model_name + " on " + r.asked.machine_id,
                     "font-weight=\"bold\"");
        canvas_.text(kMargin, 52, kNormal,
                     fmt::format("gain of tokens/s, predicted, from {}; batch {} x {} tokens",
                                 format_thousands(r.tokens_per_s()), r.asked.training.batch,
                                 format_thousands(static_cast<double>(r.asked.training.sequence))),
                     kGrey);
        const double bottom = kTop + kRow * static_cast<double>(all_.upgrades.size());
        axis(bottom);
        double y = kTop;
        for (const Upgrade& upgrade : all_.upgrades) {
            row(upgrade, y + kRow / 2);
            y += kRow;
        }
        canvas_.text(
            kMargin, bottom + 48, kSmall,
            "Black line: where nine of ten gains should lie. In brackets: what limits then.",
            kGrey);
        return canvas_.element(left_ + kPlot + kValue + kMargin, bottom + 62);
    }

  private:
    static constexpr double kTop = 72;

    double x(double gain) const { return left_ + (gain - least_) / (most_ - least_) * kPlot; }

    void axis(double bottom) {
        const double tick = round_tick(most_ - least_, kMostTicks);
        for (int i = static_cast<int>(std::ceil(least_ / tick)); i * tick <= most_; ++i) {
            canvas_.line(x(i * tick), kTop, x(i * tick), bottom,
                         i == 0 ? "stroke=\"#888\"" : "stroke=\"#e4e4e4\"");
            canvas_.text(x(i * tick), bottom + 18, kSmall, fmt::format("{:g}%", 100 * i * tick),
                         R"(text-anchor="middle" fill="#444")");
        }
    }

    void row(const Upgrade& upgrade, double y) {
        const double from = x(std::min(0.0, upgrade.gain)), to = x(std::max(0.0, upgrade.gain));
        canvas_.text(left_ - 8, y + 4, kNormal, upgrade.name, "text-anchor=\"end\"");
        canvas_.add(
            "<rect x=\"{:.6g}\" y=\"{:.6g}\" width=\"{:.6g}\" height=\"{}\" fill=\"{}\"/>\n", from,
            y - kBar / 2, to - from, kBar, upgrade.sure() ? kPointedOut : kBeaten);
        canvas_.line(x(upgrade.gain_low), y, x(upgrade.gain_high), y, kLine);
        canvas_.text(x(upgrade.gain_high) + 8, y + 4, kSmall,
                     fmt::format("{} ({})", signed_percent(upgrade.gain), upgrade.successor),
                     "fill=\"#222\"");
    }

    const Sensitivity& all_;
    SvgCanvas canvas_;
    double names_ = 0, most_ = 0.01, least_ = 0, left_ = 0;
};

}  // namespace

std::string sensitivity_svg(const Sensitivity& all) { return Tornado(all).text(); }

}  // namespace sluice
