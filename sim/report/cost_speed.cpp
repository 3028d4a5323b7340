#include "sim/report/cost_speed.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "sim/base/format.h"
#include "sim/report/picture.h"

namespace sluice {
namespace {

// Sizes in units of the font size.
constexpr double kRadius = 0.4, kBelow = 3.4, kAbove = 1.8, kLeastHeight = 8;
constexpr int kMostTicks = 6;
constexpr std::size_t kMostNames = 80;  // more would cover the points and take long to place

std::string usd_tick(double usd) { return fmt::format("${:g}", usd); }

std::string title_of(const std::string& words, const Axis& axis) {
    return axis.logarithmic ? words + " (logarithmic)" : words;
}

class Plot {
  public:
    Plot(Picture& picture, const CostSpeed& plot, const Box& room, double font)
        : out_(picture),
          what_(plot.cost),
          points_(plot.points),
          cost_(cost_axis(plot)),
          speed_(speed_axis(plot)),
          font_(font) {
        const double left = widest_label(speed_, format_thousands_tick, font) + font;
        plot_ = {room.x + left, room.y + kAbove * font, room.width - left,
                 std::max(kLeastHeight * font, room.height - (kAbove + kBelow) * font)};
        std::ranges::stable_sort(points_, [](const auto& a, const auto& b) {
            return std::pair(a.usd, -a.tokens_per_s) < std::pair(b.usd, -b.tokens_per_s);
        });
    }

    void draw() {
        if (points_.empty()) return;
        add_horizontal_axis(out_, plot_, cost_, usd_tick, font_);
        add_vertical_axis(out_, plot_, speed_, format_thousands_tick, font_);
        out_.words({plot_.centre().x, plot_.bottom() + 3 * font_}, title_of(what_, cost_), font_,
                   paint(Role::muted), Anchor::middle);
        out_.words({plot_.x - font_, plot_.y - 0.7 * font_}, title_of("tokens/s", speed_), font_,
                   paint(Role::muted));
        for (const Line& line : front())
            out_.line(line.first, line.second, paint(Role::pointed_out), 1.5);
        for (const bool on_front : {false, true})
            for (const CostSpeedPoint& point : points_)
                if (point.on_front == on_front) dot(point);
        names();
        for (const CostSpeedPoint& point : points_) out_.keys.ids.push_back(point.id);
    }

  private:
    static std::string format_thousands_tick(double value) { return format_thousands(value); }
    Point place(double usd, double tokens_per_s) const {
        return {plot_.x + cost_.share(usd) * plot_.width,
                plot_.bottom() - speed_.share(tokens_per_s) * plot_.height};
    }
    Point place(const CostSpeedPoint& point) const { return place(point.usd, point.tokens_per_s); }
    Line band(const CostSpeedPoint& point) const {
        return {place(point.usd, point.low), place(point.usd, point.high)};
    }
    std::vector<Line> front() const {
        std::vector<Line> lines;
        const CostSpeedPoint* before = nullptr;
        for (const CostSpeedPoint& point : points_) {
            if (!point.on_front) continue;
            if (before != nullptr) lines.emplace_back(place(*before), place(point));
            before = &point;
        }
        return lines;
    }

    void dot(const CostSpeedPoint& point) {
        const Role role = point.on_front ? Role::pointed_out : Role::beaten;
        if (point.high > 0) out_.line(band(point).first, band(point).second, paint(role, 0.5), 1.5);
        out_.shapes.push_back({.form = Disc{place(point), kRadius * font_},
                               .fill = paint(role),
                               .id = point.id,
                               .tooltip = point.tooltip});
    }

    /// Order of naming: required names, then the front from the most expensive point on, since the
    /// border has less room.
    void names() {
        std::vector<const CostSpeedPoint*> order;
        std::vector<Point> dots;
        std::vector<Line> lines = front();
        for (const CostSpeedPoint& point : points_) {
            order.insert(order.begin(), &point);
            dots.push_back(place(point));
            if (point.high > 0) lines.push_back(band(point));
        }
        std::ranges::stable_sort(order, std::greater(), &CostSpeedPoint::on_front);
        std::ranges::stable_sort(order, std::greater(), &CostSpeedPoint::must_be_named);
        if (order.size() > kMostNames) order.resize(kMostNames);
        std::vector<NamedPoint> named;
        for (const CostSpeedPoint* point : order)
            named.push_back({place(*point), point->name, point->second,
                             paint(point->on_front ? Role::text : Role::muted),
                             point->must_be_named});
        add_names(out_, named, plot_, 1.1 * kRadius * font_, dots, lines, font_);
    }

    Picture& out_;
    const std::string what_;
    std::vector<CostSpeedPoint> points_;
    const Axis cost_, speed_;
    const double font_;
    Box plot_;
};

}  // namespace

Axis cost_axis(const CostSpeed& plot) {
    std::vector<double> values;
    for (const CostSpeedPoint& point : plot.points)
        if (point.usd > 0) values.push_back(point.usd);
    return axis_for_points(values, kMostTicks);
}

Axis speed_axis(const CostSpeed& plot) {
    std::vector<double> values;
    for (const CostSpeedPoint& point : plot.points) {
        values.push_back(point.tokens_per_s);
        if (point.high > 0) values.insert(values.end(), {point.low, point.high});
    }
    return axis_for_points(values, kMostTicks);
}

Picture cost_speed_picture(std::string_view title, std::string_view subtitle,
                           const std::vector<CostSpeed>& plots, const PictureSpace& space) {
    Picture out;
    out.width = space.width;
    const double font = space.font;
    const double top = add_header(out, title, subtitle, font);
    out.height = std::max(space.height, top + (kAbove + kBelow + kLeastHeight) * font);
    const double gap = 1.5 * font, count = static_cast<double>(plots.size());
    const double width = (space.width - gap) / count;
    for (std::size_t i = 0; i < plots.size(); ++i)
        Plot(out, plots[i],
             {gap + width * static_cast<double>(i), top, width - gap, out.height - top}, font)
            .draw();
    out.keys.along = KeyOrder::Along::right;
    out.reach = font;
    return out;
}

}  // namespace sluice
