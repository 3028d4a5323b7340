#include "sim/report/bars.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "sim/base/format.h"
#include "sim/base/units.h"
#include "sim/report/colours.h"

namespace sluice {
namespace {

// Sizes in units of the font size.
constexpr double kBarRow = 2.4, kBar = 1.45, kGap = 0.6, kHeading = 2.2, kCap = 0.4;
constexpr double kNames = 0.4, kLeastPlot = 0.25;  // share of the width
constexpr double kTickRoom = 6;

/// The longest start of the text that fits into `width`, with dots at its end if it was cut.
std::string cut_to_width(const std::string& words, double font, double width) {
    if (text_width(words, font) <= width) return words;
    return wrap_text(words, font, width - text_width("...", font)).front() + "...";
}

std::string tick_text(double value, bool percent) {
    return percent ? fmt::format("{:g}%", 100 * value) : format_thousands(value);
}

class BarDrawing {
  public:
    BarDrawing(const BarChart& chart, const PictureSpace& space)
        : chart_(chart), font_(space.font), gap_(kGap * space.font) {
        out_.width = space.width;
        double names = 0, labels = 0;
        for (const BarGroup& group : chart.groups)
            for (const Bar& bar : group.bars) {
                names = std::max(names, text_width(bar.name, font_));
                if (bar.misfit.empty()) labels = std::max(labels, text_width(bar.label, font_));
            }
        names_ = std::min(names, kNames * space.width);
        plot_.x = gap_ + names_ + gap_;
        plot_.width =
            std::max(kLeastPlot * space.width, space.width - gap_ - labels - gap_ - plot_.x);
    }

    Picture draw() {
        y_ = add_header(out_, chart_.title, chart_.subtitle, font_);
        const std::span<const BarGroup> all = chart_.groups;
        for (std::size_t i = 0; i < (chart_.own_axes ? all.size() : 1); ++i)
            panel(chart_.own_axes ? all.subspan(i, 1) : all);
        const double width = out_.width - 2 * font_;
        y_ = add_legend(out_, chart_.legend, {font_, y_}, width, font_);
        y_ = add_paragraph(out_, {font_, y_}, width, chart_.note, font_, paint(Role::muted));
        if (!chart_.note.empty()) out_.description += ". " + chart_.note;
        out_.height = y_ + gap_;
        return std::move(out_);
    }

  private:
    double x(double value) const { return plot_.x + axis_.share(value) * plot_.width; }

    /// The range of all values, bands and limits, which includes 0.
    Axis axis_of(std::span<const BarGroup> groups) const {
        double least = 0, most = 0;
        for (const BarGroup& group : groups)
            for (const Bar& bar : group.bars) {
                least = std::min({least, bar.value, bar.misfit.empty() ? bar.low : 0});
                most = std::max({most, bar.value, bar.most, bar.misfit.empty() ? bar.high : 0});
            }
        for (const double limit : chart_.limits) {
            least = std::min(least, 1.05 * limit);
            most = std::max(most, 1.05 * limit);
        }
        // Gives an axis to bars that are all 0.
        if (most - least <= 0) most = least + (chart_.percent ? 0.01 : 1);
        return linear_axis(least, most,
                           std::max(2, static_cast<int>(plot_.width / (kTickRoom * font_))));
    }

    /// Groups that share an axis.
    void panel(std::span<const BarGroup> groups) {
        axis_ = axis_of(groups);
        plot_.y = y_;
        plot_.height = 0;
        for (const BarGroup& one : groups)
            plot_.height += (one.heading.empty() ? 0 : kHeading * font_) +
                            kBarRow * font_ * static_cast<double>(one.bars.size());
        add_horizontal_axis(
            out_, plot_, axis_, [this](double at) { return tick_text(at, chart_.percent); }, font_);
        if (axis_.low < 0) out_.line({x(0), plot_.y}, {x(0), plot_.bottom()}, paint(Role::axis));
        for (const BarGroup& one : groups) group(one);
        for (const double limit : chart_.limits)
            out_.line({x(limit), plot_.y}, {x(limit), plot_.bottom()}, paint(Role::muted), 1, true);
        y_ += 2 * font_;
    }

    void group(const BarGroup& one) {
        if (!one.heading.empty()) {
            out_.words({font_, y_ + kHeading * font_ - 0.7 * font_}, one.heading, font_,
                       paint(Role::text), Anchor::start, true);
            y_ += kHeading * font_;
        }
        for (const Bar& bar : one.bars) {
            row(bar);
            y_ += kBarRow * font_;
        }
    }

    void row(const Bar& bar) {
        const int id = static_cast<int>(out_.keys.ids.size());
        out_.keys.ids.push_back(id);
        out_.rectangle({0, y_, out_.width, kBarRow * font_}, {}, id);
        const double middle = y_ + kBarRow * font_ / 2, base = baseline(middle, font_);
        const double from = x(std::min(0.0, bar.value)), to = x(std::max(0.0, bar.value));
        out_.words({plot_.x - gap_, base}, cut_to_width(bar.name, font_, names_), font_,
                   paint(Role::text), Anchor::end);
        const bool fits = bar.misfit.empty();
        const Paint fill = fits ? bar.colour : paint(Role::misfit);
        out_.rectangle({from, middle - kBar * font_ / 2, to - from, kBar * font_}, fill, id,
                       fits ? bar.tooltip : bar.tooltip + "\ndoes not fit: " + bar.misfit);
        if (!fits) return misfit(bar, to, base);
        stack(bar, middle);
        double end = std::max(to, x(bar.most));
        if (bar.high > bar.low) {
            band(bar, middle);
            end = std::max(x(bar.high), x(0));
        }
        out_.label({end + gap_, base}, bar.label, font_);
    }

    /// The parts above the bar, and the line of the available memory.
    void stack(const Bar& bar, double middle) {
        double from = 0;
        for (const BarPart& part : bar.parts) {
            out_.rectangle(
                {x(from), middle - kBar * font_ / 2, x(from + part.value) - x(from), kBar * font_},
                part.colour, kNoId, part.tooltip);
            from += part.value;
        }
        if (bar.most > 0)
            out_.line({x(bar.most), middle - kBar * font_ * 0.7},
                      {x(bar.most), middle + kBar * font_ * 0.7}, paint(Role::text), 2.5);
    }

    /// Inside its bar if there is room, else after it.
    void misfit(const Bar& bar, double end, double base) {
        const std::string words = "does not fit: " + bar.misfit;
        const bool on_bar = text_width(words, font_) < end - x(0) - 2 * gap_;
        const double at = (on_bar ? x(0) : end) + gap_;
        out_.label({at, base}, cut_to_width(words, font_, out_.width - at), font_);
        if (!on_bar) return;
        out_.shapes.back().fill = text_on(paint(Role::misfit));
        out_.shapes.back().stroke = {};
    }

    void band(const Bar& bar, double middle) {
        const double cap = kCap * font_;
        out_.line({x(bar.low), middle}, {x(bar.high), middle}, paint(Role::text), 1.5);
        for (const double end : {bar.low, bar.high})
            out_.line({x(end), middle - cap}, {x(end), middle + cap}, paint(Role::text), 1.5);
    }

    const BarChart& chart_;
    const double font_, gap_;
    Picture out_;
    Box plot_;
    Axis axis_;
    double names_ = 0, y_ = 0;
};

double gb(Bytes bytes) { return static_cast<double>(bytes) / kGiga; }

Bar memory_bar(const std::string& name, const Fit::OfMemory& tier) {
    Bar out;
    out.name = name;
    out.value = gb(tier.peak.bytes);
    out.most = gb(tier.usable);
    out.label = fmt::format("{} of {}{}", format_bytes(tier.peak.bytes), format_bytes(tier.usable),
                            tier.shortfall() > 0 ? ": too small" : "");
    for (int i = 0; i < kMemoryKindCount; ++i) {
        const Bytes bytes = tier.peak.by_kind[static_cast<std::size_t>(i)];
        const auto kind = static_cast<MemoryKind>(i);
        if (bytes > 0)
            out.parts.push_back(
                {gb(bytes), memory_paint(kind),
                 fmt::format("{}: {} {}", name, memory_kind_name(kind), format_bytes(bytes))});
    }
    return out;
}

}  // namespace

Picture bars_picture(const BarChart& chart, const PictureSpace& space) {
    return BarDrawing(chart, space).draw();
}

Picture memory_bars_picture(const std::vector<MemoryBar>& bars, const PictureSpace& space) {
    BarGroup devices{"device memory, GB", {}}, hosts{"host memory, GB", {}};
    BytesByKind all{};
    for (const MemoryBar& bar : bars) {
        if (!bar.unified) devices.bars.push_back(memory_bar(bar.name, bar.fit.device()));
        hosts.bars.push_back(memory_bar(bar.name, bar.fit.host()));
        for (std::size_t i = 0; i < all.size(); ++i)
            all[i] += bar.fit.host().peak.by_kind[i] +
                      (bar.unified ? 0 : bar.fit.device().peak.by_kind[i]);
    }
    BarChart chart;
    chart.title = "Memory at its peak, by kind";
    chart.note = "Thick line: available memory.";
    chart.own_axes = true;
    if (!devices.bars.empty()) chart.groups.push_back(std::move(devices));
    chart.groups.push_back(std::move(hosts));
    for (int i = 0; i < kMemoryKindCount; ++i)
        if (const auto kind = static_cast<MemoryKind>(i); all[static_cast<std::size_t>(i)] > 0)
            chart.legend.push_back({memory_kind_name(kind), memory_paint(kind)});
    return bars_picture(chart, space);
}

}  // namespace sluice
