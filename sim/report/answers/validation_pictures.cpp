#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/answers/validate/validation.h"
#include "sim/base/format.h"
#include "sim/report/answers/answer_reports.h"
#include "sim/report/chart_parts.h"

namespace sluice {
namespace {

// Sizes in units of the font size.
constexpr double kRadius = 0.4, kLongestName = 30, kLeastPlot = 6;
constexpr double kBand = 0.05;

std::size_t group_of(const Validation& validation, const RunComparison& run) {
    const std::vector<std::string> groups = group_names(validation.runs);
    return static_cast<std::size_t>(std::ranges::find(groups, run.run.group) - groups.begin());
}

Axis axis_of(const Validation& validation) {
    std::vector<double> values;
    for (const RunComparison& run : validation.runs)
        values.insert(values.end(), {run.run.tokens_per_s(), run.predicted.tokens_per_s()});
    return logarithmic_axis_around(values);
}

class Scatter {
  public:
    Scatter(const Validation& validation, const PictureSpace& space)
        : validation_(validation), axis_(axis_of(validation)), font_(space.font) {
        out_.width = space.width;
        const GroupSummary& all = validation.summaries.back();
        const double top = add_header(
            out_, fmt::format("Predicted against measured: {}", validation.machine_id),
            fmt::format("tokens/s of {}: mean error {:.1f}%, largest {}",
                        format_number_of(all.runs, "run"), 100 * all.throughput.mean_absolute,
                        format_error(all.throughput.worst)),
            font_);
        const double left = widest_label(axis_, tick, font_) + 2.8 * font_;
        Picture unused;
        const double legend = add_legend(unused, entries(), {}, space.width - 2 * font_, font_);
        const double below = 3.6 * font_ + legend;
        const double wide = std::max(1.0, space.width - left - font_);
        // Keeps the sides within a factor of 1.5 of each other.
        const double high =
            std::clamp(space.height - top - below, std::min(kLeastPlot * font_, wide), 1.5 * wide);
        const double width = std::min(wide, 1.5 * high);
        plot_ = {left + (wide - width) / 2, top, width, high};
        out_.height = plot_.bottom() + below + font_ / 2;
    }

    Picture draw() {
        axes();
        line_at(1, paint(Role::axis), false);
        for (const double factor : {1 + kBand, 1 - kBand})
            line_at(factor, paint(Role::muted), true);
        for (std::size_t i = 0; i < validation_.runs.size(); ++i) point(static_cast<int>(i));
        names();
        add_legend(out_, entries(), {font_, plot_.bottom() + 3.6 * font_}, out_.width - 2 * font_,
                   font_);
        order_keys();
        out_.reach = 2 * kRadius * font_;
        return std::move(out_);
    }

  private:
    static std::string tick(double value) { return format_thousands(value); }
    double x(double value) const { return plot_.x + axis_.share(value) * plot_.width; }
    double y(double value) const { return plot_.bottom() - axis_.share(value) * plot_.height; }
    Point place(const RunComparison& run) const {
        return {x(run.run.tokens_per_s()), y(run.predicted.tokens_per_s())};
    }

    std::vector<LegendEntry> entries() const {
        std::vector<LegendEntry> entries;
        for (const std::string& group : group_names(validation_.runs))
            entries.push_back({group, series_paint(entries.size()), LegendEntry::Mark::disc});
        entries.push_back({"dashed: 5% more and less", paint(Role::muted)});
        return entries;
    }

    void axes() {
        add_horizontal_axis(out_, plot_, axis_, tick, font_);
        add_vertical_axis(out_, plot_, axis_, tick, font_);
        out_.outline(plot_, paint(Role::axis));
        out_.words({plot_.centre().x, plot_.bottom() + 2.9 * font_}, "measured tokens/s", font_,
                   paint(Role::text), Anchor::middle);
        const double names = widest_label(axis_, tick, font_) + font_;
        out_.words({plot_.x - names, plot_.centre().y}, "predicted tokens/s", font_,
                   paint(Role::text), Anchor::middle);
        std::get<Words>(out_.shapes.back().form).upright = true;
    }

    /// The line predicted = factor * measured, within the frame.
    void line_at(double factor, Paint colour, bool dashed) {
        const double low = std::max(axis_.low, axis_.low / factor);
        const double high = std::min(axis_.high, axis_.high / factor);
        out_.line({x(low), y(low * factor)}, {x(high), y(high * factor)}, colour, 1, dashed);
    }

    void point(int run) {
        const RunComparison& c = validation_.runs[static_cast<std::size_t>(run)];
        out_.shapes.push_back({.form = Disc{place(c), kRadius * font_},
                               .fill = series_paint(group_of(validation_, c)),
                               .stroke = paint(Role::window),
                               .stroke_width = 0.8,
                               .id = run,
                               .tooltip = run_tooltip(c)});
    }

    /// Names the runs with the largest errors, as far as there is room.
    void names() {
        std::vector<const RunComparison*> order;
        std::vector<Point> dots;
        for (const RunComparison& run : validation_.runs) {
            order.push_back(&run);
            dots.push_back(place(run));
        }
        std::ranges::stable_sort(order, std::greater<>(), [](const RunComparison* run) {
            return std::abs(run->throughput_error());
        });
        std::vector<NamedPoint> points;
        for (const RunComparison* run : order)
            points.push_back(
                {place(*run), wrap_text(run->run.name, font_, kLongestName * font_).front()});
        add_names(out_, points, plot_, 1.1 * kRadius * font_, dots, {}, font_);
    }

    /// Run indices from left to right.
    void order_keys() {
        out_.keys.along = KeyOrder::Along::right;
        for (std::size_t i = 0; i < validation_.runs.size(); ++i)
            out_.keys.ids.push_back(static_cast<int>(i));
        std::ranges::stable_sort(out_.keys.ids, {}, [&](int id) {
            return validation_.runs[static_cast<std::size_t>(id)].run.tokens_per_s();
        });
    }

    const Validation& validation_;
    const Axis axis_;
    const double font_;
    Picture out_;
    Box plot_;
};

}  // namespace

std::string run_tooltip(const RunComparison& c) {
    std::string words =
        fmt::format("{}\nmeasured {} tokens/s, {} a step\npredicted {} tokens/s, {} a step ({})",
                    c.run.name, format_thousands(c.run.tokens_per_s()), format_seconds(c.run.step),
                    format_thousands(c.predicted.tokens_per_s()),
                    format_seconds(c.predicted.step.seconds), format_error(c.throughput_error()));
    if (c.predicted.band)
        words += fmt::format("\n5 to 95%: {} to {} a step", format_seconds(c.predicted.band->low),
                             format_seconds(c.predicted.band->high));
    return words;
}

Picture scatter_picture(const Validation& validation, const PictureSpace& space) {
    return Scatter(validation, space).draw();
}

BarChart error_bars(const Validation& validation) {
    BarChart chart;
    chart.title = "Error of predicted tokens/s";
    chart.subtitle =
        "thin line: the predicted 5 to 95%; where it crosses 0, the measured step lies within";
    chart.percent = true;
    chart.limits = {-kBand, kBand};
    chart.groups.emplace_back();
    for (const RunComparison& c : validation.runs) {
        Bar bar;
        bar.name = c.run.name;
        bar.value = c.throughput_error();
        // throughput_error(), with the step at an end of its band.
        if (c.in_band()) {
            bar.low = c.run.step / c.predicted.band->high - 1;
            bar.high = c.run.step / c.predicted.band->low - 1;
        }
        bar.label = format_error(bar.value);
        bar.colour = series_paint(group_of(validation, c));
        bar.tooltip = run_tooltip(c);
        chart.groups.front().bars.push_back(std::move(bar));
    }
    return chart;
}

}  // namespace sluice
