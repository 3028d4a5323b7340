#include "sim/report/decision/memory_bars.h"

#include <algorithm>
#include <array>

#include "sim/base/format.h"
#include "sim/base/units.h"
#include "sim/report/colours.h"
#include "sim/report/svg_canvas.h"
#include "sim/report/svg_geometry.h"

namespace sluice {
namespace {

// Pixels.
constexpr double kMargin = 18;
constexpr double kRow = 30;
constexpr double kBar = 18;
constexpr double kPlot = 620;
constexpr double kValue = 190;  // beyond the axis, for "used of what there is"
constexpr double kSwatch = 13;
// Font sizes.
constexpr double kSmall = 12;
constexpr double kNormal = 13;

constexpr int kMostTicks = 8;
constexpr const char* kGrey = "fill=\"#444\"";
constexpr const char* kHalo =
    R"(fill="#222" stroke="#fff" stroke-width="3" paint-order="stroke" stroke-linejoin="round")";

double gb(Bytes bytes) { return static_cast<double>(bytes) / kGiga; }

class Drawing {
  public:
    explicit Drawing(const std::vector<MemoryBar>& bars) : bars_(bars) {
        double name = 0;
        for (const MemoryBar& bar : bars) name = std::max(name, text_width(bar.name, kNormal));
        left_ = kMargin + name + 10;
    }

    std::string text() {
        y_ = 8;
        panel("device memory, GB", true);
        panel("host memory, GB", false);
        legend();
        return canvas_.element(left_ + kPlot + kValue + kMargin, y_ + kMargin);
    }

  private:
    void panel(const char* title, bool device) {
        std::vector<const MemoryBar*> shown;
        double most = 1e-9;
        for (const MemoryBar& bar : bars_) {
            if (device && bar.unified) continue;
            const Fit::OfTier& tier = device ? bar.fit.device : bar.fit.host;
            shown.push_back(&bar);
            most = std::max({most, gb(tier.peak.bytes), gb(tier.usable)});
        }
        if (shown.empty()) return;
        y_ += 16;
        canvas_.text(kMargin, y_, kNormal, title, "font-weight=\"bold\"");
        y_ += 8;
        axis(most, kRow * static_cast<double>(shown.size()));
        for (const MemoryBar* bar : shown) {
            row(*bar, device ? bar->fit.device : bar->fit.host, most);
            y_ += kRow;
        }
        y_ += 30;
    }

    static double width(double gigabytes, double most) { return gigabytes / most * kPlot; }

    void axis(double most, double height) {
        const double tick = round_tick(most, kMostTicks);
        for (int i = 0; i * tick <= most; ++i) {
            const double x = left_ + width(i * tick, most);
            canvas_.line(x, y_, x, y_ + height, "stroke=\"#e4e4e4\"");
            canvas_.text(x, y_ + height + 16, kSmall, format_thousands(i * tick),
                         R"(text-anchor="middle" fill="#444")");
        }
    }

    void row(const MemoryBar& bar, const Fit::OfTier& tier, double most) {
        const double middle = y_ + kRow / 2;
        canvas_.text(left_ - 8, middle + 4, kNormal, bar.name, "text-anchor=\"end\"");
        double x = left_;
        for (int i = 0; i < kMemoryKindCount; ++i) {
            const Bytes bytes = tier.peak.by_kind[static_cast<std::size_t>(i)];
            if (bytes == 0) continue;
            used_[static_cast<std::size_t>(i)] = true;
            canvas_.add(
                "<rect x=\"{:.6g}\" y=\"{:.6g}\" width=\"{:.6g}\" height=\"{}\" fill=\"{}\">"
                "<title>{}: {} {}</title></rect>\n",
                x, middle - kBar / 2, width(gb(bytes), most), kBar,
                kMemoryColours[static_cast<std::size_t>(i)], escape_xml(bar.name),
                memory_kind_name(static_cast<MemoryKind>(i)),
                format_bytes(static_cast<double>(bytes)));
            x += width(gb(bytes), most);
        }
        const double there = left_ + width(gb(tier.usable), most);
        canvas_.line(there, middle - kBar / 2 - 4, there, middle + kBar / 2 + 4,
                     R"(stroke="#222" stroke-width="2.5")");
        canvas_.text(std::max(x, there) + 8, middle + 4, kSmall,
                     fmt::format("{} of {}{}", format_bytes(static_cast<double>(tier.peak.bytes)),
                                 format_bytes(static_cast<double>(tier.usable)),
                                 tier.shortfall() > 0 ? ": too small" : ""),
                     kHalo);
    }

    void legend() {
        double x = left_;
        const double right = left_ + kPlot + kValue;
        y_ += 10;
        for (int i = 0; i < kMemoryKindCount; ++i) {
            if (!used_[static_cast<std::size_t>(i)]) continue;
            const char* const name = memory_kind_name(static_cast<MemoryKind>(i));
            const double wide = kSwatch + 5 + text_width(name, kSmall) + 12;
            if (x + wide > right) {
                x = left_;
                y_ += 20;
            }
            canvas_.add(
                "<rect x=\"{:.6g}\" y=\"{:.6g}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>\n", x,
                y_ - kSwatch + 2, kSwatch, kSwatch, kMemoryColours[static_cast<std::size_t>(i)]);
            canvas_.text(x + kSwatch + 5, y_, kSmall, name);
            x += wide;
        }
        y_ += 22;
        canvas_.text(left_, y_, kSmall, "Black line: what there is.", kGrey);
    }

    const std::vector<MemoryBar>& bars_;
    SvgCanvas canvas_;
    std::array<bool, kMemoryKindCount> used_{};
    double left_ = 0, y_ = 0;
};

}  // namespace

std::string memory_bars_svg(const std::vector<MemoryBar>& bars) { return Drawing(bars).text(); }

}  // namespace sluice
