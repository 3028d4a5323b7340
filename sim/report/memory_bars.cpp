#include "sim/report/memory_bars.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/base/format.h"
#include "sim/base/units.h"
#include "sim/report/chart_parts.h"
#include "sim/report/colours.h"
#include "sim/report/svg_text.h"

namespace sluice {
namespace {

// In sizes of the font.
constexpr double kMemoryRow = 2.3, kMemoryBar = 1.4;
constexpr int kMostMemoryTicks = 8;

double gb(Bytes bytes) { return static_cast<double>(bytes) / kGiga; }

std::string value_text(const Fit::OfTier& tier) {
    return fmt::format("{} of {}{}", format_bytes(static_cast<double>(tier.peak.bytes)),
                       format_bytes(static_cast<double>(tier.usable)),
                       tier.shortfall() > 0 ? ": too small" : "");
}

class MemoryDrawing {
  public:
    MemoryDrawing(const std::vector<MemoryBar>& bars, const PictureSpace& space)
        : bars_(bars), font_(space.font) {
        out_.width = space.width;
        out_.title = "Memory at its peak, by kind";
        double names = 0, values = 0;
        for (const MemoryBar& bar : bars) {
            names = std::max(names, text_width(bar.name, font_));
            for (const Fit::OfTier* tier : {&bar.fit.device, &bar.fit.host})
                values = std::max(values, text_width(value_text(*tier), font_));
        }
        plot_.x = names + 2 * font_;
        plot_.width = std::max(space.width / 4, space.width - plot_.x - values - 2 * font_);
    }

    Picture draw() {
        panel("device memory, GB", true);
        panel("host memory, GB", false);
        std::vector<LegendEntry> entries;
        for (int i = 0; i < kMemoryKindCount; ++i)
            if (used_[static_cast<std::size_t>(i)])
                entries.push_back({memory_kind_name(static_cast<MemoryKind>(i)),
                                   memory_paint(static_cast<MemoryKind>(i))});
        y_ = add_legend(out_, entries, {plot_.x, y_}, out_.width - plot_.x - font_, font_);
        y_ = add_paragraph(out_, {plot_.x, y_}, out_.width - plot_.x, "Thick line: what there is.",
                           font_, paint(Role::muted));
        out_.height = y_ + font_;
        return std::move(out_);
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
        y_ = add_paragraph(out_, {font_, y_ + font_}, out_.width, title, font_, paint(Role::text),
                           true);
        plot_.y = y_;
        plot_.height = kMemoryRow * font_ * static_cast<double>(shown.size());
        axis_ = linear_axis(0, most, kMostMemoryTicks);
        add_horizontal_axis(
            out_, plot_, axis_, [](double at) { return format_thousands(at); }, font_);
        for (const MemoryBar* bar : shown) row(*bar, device ? bar->fit.device : bar->fit.host);
        y_ += 2 * font_;
    }

    void row(const MemoryBar& bar, const Fit::OfTier& tier) {
        const double middle = y_ + kMemoryRow * font_ / 2, height = kMemoryBar * font_;
        out_.words({plot_.x - font_ / 2, baseline(middle, font_)}, bar.name, font_,
                   paint(Role::text), Anchor::end);
        double x = plot_.x;
        for (int i = 0; i < kMemoryKindCount; ++i) {
            const Bytes bytes = tier.peak.by_kind[static_cast<std::size_t>(i)];
            if (bytes == 0) continue;
            used_[static_cast<std::size_t>(i)] = true;
            const auto kind = static_cast<MemoryKind>(i);
            const double width = axis_.share(gb(bytes)) * plot_.width;
            out_.rectangle({x, middle - height / 2, width, height}, memory_paint(kind), kNoId,
                           fmt::format("{}: {} {}", bar.name, memory_kind_name(kind),
                                       format_bytes(static_cast<double>(bytes))));
            x += width;
        }
        const double there = plot_.x + axis_.share(gb(tier.usable)) * plot_.width;
        out_.line({there, middle - 0.7 * height}, {there, middle + 0.7 * height}, paint(Role::text),
                  2.5);
        out_.label({std::max(x, there) + 0.6 * font_, baseline(middle, font_)}, value_text(tier),
                   font_);
        y_ += kMemoryRow * font_;
    }

    const std::vector<MemoryBar>& bars_;
    const double font_;
    Picture out_;
    Box plot_;
    Axis axis_;
    std::array<bool, kMemoryKindCount> used_{};
    double y_ = 0;
};

}  // namespace

Picture memory_bars_picture(const std::vector<MemoryBar>& bars, const PictureSpace& space) {
    return MemoryDrawing(bars, space).draw();
}

}  // namespace sluice
