// Predicted over measured tokens/s: what lies on the diagonal is predicted well.
#include <algorithm>
#include <cmath>

#include "sim/base/format.h"
#include "sim/report/svg_canvas.h"
#include "sim/report/validate/log_axis.h"
#include "sim/report/validate/validation_svg.h"

namespace sluice {
namespace {

// Pixels.
constexpr double kMargin = 18;
constexpr double kLeft = 92;
constexpr double kTop = 66;
constexpr double kPlot = 620;  // both ways
constexpr double kWidth = kLeft + kPlot + kMargin;
constexpr double kRadius = 5;
constexpr double kSwatch = 12;
// Font sizes.
constexpr double kSmall = 11;
constexpr double kNormal = 13;
constexpr double kTitle = 18;

constexpr double kBand = 0.05;
constexpr const char* kGrey = "fill=\"#444\"";
// A label is read across lines.
constexpr const char* kHalo =
    R"(fill="#222" stroke="#fff" stroke-width="3" paint-order="stroke" stroke-linejoin="round")";

struct Box {
    double left, top, right, bottom;
    bool touches(const Box& other) const {
        return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
    }
};

struct Point {
    const RunComparison* run;
    double x, y;
    Box box() const { return {x - kRadius, y - kRadius, x + kRadius, y + kRadius}; }
};

class Scatter {
  public:
    explicit Scatter(const Validation& validation)
        : validation_(validation), axis_(all_values(validation)) {
        for (const RunComparison& run : validation.runs)
            points_.push_back({&run, x(run.run.tokens_per_s()), y(run.predicted.tokens_per_s())});
    }

    std::string text() {
        header();
        axes();
        lines();
        for (const Point& point : points_) draw(point);
        labels();
        return canvas_.element(kWidth, legend());
    }

  private:
    static std::vector<double> all_values(const Validation& validation) {
        std::vector<double> values;
        for (const RunComparison& run : validation.runs) {
            values.push_back(run.run.tokens_per_s());
            values.push_back(run.predicted.tokens_per_s());
        }
        return values;
    }
    double x(double value) const { return kLeft + axis_.share(value) * kPlot; }
    double y(double value) const { return kTop + (1 - axis_.share(value)) * kPlot; }

    void header() {
        canvas_.text(kMargin, 28, kTitle,
                     fmt::format("Predicted against measured: {}", validation_.machine_id),
                     "font-weight=\"bold\"");
        const GroupSummary& all = validation_.summaries.back();
        canvas_.text(
            kMargin, 50, kNormal,
            fmt::format("tokens/s of {}: mean error {:.1f}%, largest {}",
                        format_number_of(all.runs, "run"), 100 * all.throughput.mean_absolute,
                        format_error(all.throughput.worst)),
            kGrey);
    }

    void axes() {
        for (const double tick : axis_.ticks()) {
            const std::string name = format_thousands(tick);
            canvas_.line(x(tick), kTop, x(tick), kTop + kPlot, "stroke=\"#e4e4e4\"");
            canvas_.line(kLeft, y(tick), kLeft + kPlot, y(tick), "stroke=\"#e4e4e4\"");
            canvas_.text(x(tick), kTop + kPlot + 18, kSmall, name,
                         R"(text-anchor="middle" fill="#444")");
            canvas_.text(kLeft - 8, y(tick) + 4, kSmall, name, R"(text-anchor="end" fill="#444")");
        }
        canvas_.add(
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#888\"/>\n",
            kLeft, kTop, kPlot, kPlot);
        canvas_.text(kLeft + kPlot / 2, kTop + kPlot + 40, kNormal, "measured tokens/s",
                     R"(text-anchor="middle")");
        canvas_.add(
            "<text transform=\"translate({} {}) rotate(-90)\" font-size=\"{}\" "
            "text-anchor=\"middle\">predicted tokens/s</text>\n",
            kMargin + 6, kTop + kPlot / 2, kNormal);
    }

    /// predicted = factor * measured, within the frame.
    void line_at(double factor, const char* attributes) {
        const double low = std::max(axis_.low(), axis_.low() / factor);
        const double high = std::min(axis_.high(), axis_.high() / factor);
        canvas_.line(x(low), y(low * factor), x(high), y(high * factor), attributes);
    }
    void lines() {
        line_at(1, "stroke=\"#444\"");
        for (const double factor : {1 + kBand, 1 - kBand})
            line_at(factor, R"(stroke="#888" stroke-dasharray="5 4")");
    }

    void draw(const Point& point) {
        const RunComparison& c = *point.run;
        canvas_.add(
            "<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"{}\" fill=\"{}\" stroke=\"#fff\" "
            "stroke-width=\".8\"><title>{}</title></circle>\n",
            point.x, point.y, kRadius, group_colour(validation_, c.run.group),
            escape_xml(fmt::format("{}\nmeasured {} tokens/s\npredicted {} ({:+.1f}%)", c.run.name,
                                   format_thousands(c.run.tokens_per_s()),
                                   format_thousands(c.predicted.tokens_per_s()),
                                   100 * c.throughput_error())));
    }

    /// The runs that are most wrong get their names, as far as there is room.
    void labels() {
        std::vector<const Point*> order;
        std::vector<Box> taken;
        for (const Point& point : points_) {
            order.push_back(&point);
            taken.push_back(point.box());
        }
        std::stable_sort(order.begin(), order.end(), [](const Point* a, const Point* b) {
            return std::abs(a->run->throughput_error()) > std::abs(b->run->throughput_error());
        });
        for (const Point* point : order) label(*point, taken);
    }

    void label(const Point& point, std::vector<Box>& taken) {
        const std::string& name = point.run->run.name;
        const double width = text_width(name, kSmall), gap = kRadius + 3;
        const bool above = point.run->throughput_error() > 0;
        // Away from the diagonal first.
        std::array<double, 2> lefts = {point.x - gap - width, point.x + gap};
        if (!above) std::swap(lefts[0], lefts[1]);
        for (const double left : lefts) {
            const Box box{left, point.y - kSmall / 2 - 1, left + width, point.y + kSmall / 2 + 1};
            const bool inside = box.left > kLeft + 2 && box.right < kLeft + kPlot - 2;
            if (!inside || std::any_of(taken.begin(), taken.end(),
                                       [&](const Box& other) { return box.touches(other); }))
                continue;
            taken.push_back(box);
            const bool to_the_left = left < point.x;
            canvas_.text(to_the_left ? point.x - gap : left, point.y + 4, kSmall, name,
                         std::string(kHalo) + (to_the_left ? " text-anchor=\"end\"" : ""));
            return;
        }
    }

    /// Returns where the picture ends.
    double legend() {
        double at = kLeft, line = kTop + kPlot + 66;
        const auto place = [&](double width) {
            if (at + width > kWidth - kMargin && at > kLeft) {
                at = kLeft;
                line += 20;
            }
            const double left = at;
            at += width + 18;
            return left;
        };
        for (const std::string& group : group_names(validation_.runs)) {
            const double left = place(kSwatch + 5 + text_width(group, kNormal));
            canvas_.add("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{}\"/>\n", left + kSwatch / 2,
                        line - 4, kRadius, group_colour(validation_, group));
            canvas_.text(left + kSwatch + 5, line, kNormal, group);
        }
        const std::string band = "dashed: 5% more and less";
        canvas_.text(place(text_width(band, kNormal)), line, kNormal, band, kGrey);
        return line + kMargin;
    }

    const Validation& validation_;
    const LogAxis axis_;
    std::vector<Point> points_;
    SvgCanvas canvas_;
};

}  // namespace

std::string scatter_svg(const Validation& validation) { return Scatter(validation).text(); }

std::string validation_svg(const Validation& validation) {
    return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + scatter_svg(validation);
}

}  // namespace sluice
