// Two plots: tokens/s over dollars an hour, and over dollars per million tokens. Machines that no
// other beats are joined by a line; all are named where there is room, and in a tooltip.
#include <algorithm>
#include <cmath>
#include <optional>

#include "sim/answers/search/machine_choice.h"
#include "sim/answers/search/machine_points.h"
#include "sim/base/format.h"
#include "sim/report/colours.h"
#include "sim/report/svg_canvas.h"
#include "sim/report/svg_geometry.h"

namespace sluice {
namespace {

// Pixels.
constexpr double kMargin = 18;
constexpr double kLeft = 92;
constexpr double kPlotWidth = 420, kPlotHeight = 360;
constexpr double kBetween = 110;  // the plots
constexpr double kTop = 84;
constexpr double kWidth = kLeft + 2 * kPlotWidth + kBetween + kMargin;
constexpr double kRadius = 5;
// Font sizes.
constexpr double kSmall = 11;
constexpr double kNormal = 13;
constexpr double kTitle = 18;

constexpr int kMostTicks = 6;
constexpr double kRoom = 1.12;  // beyond the largest value, for its name
constexpr const char* kGrey = "fill=\"#444\"";
constexpr const char* kHalo =
    R"(fill="#222" stroke="#fff" stroke-width="3" paint-order="stroke" stroke-linejoin="round")";

constexpr const char* kHaloOfBeaten =
    R"(fill="#777" stroke="#fff" stroke-width="3" paint-order="stroke" stroke-linejoin="round")";

class Plot {
  public:
    Plot(SvgCanvas& canvas, const MachineChoices& choices, CostAxis axis, double left)
        : canvas_(canvas), choices_(choices), points_(machine_points(choices, axis)), left_(left) {
        for (const MachinePoint& point : points_) {
            most_usd_ = std::max(most_usd_, point.usd * kRoom);
            most_speed_ = std::max(most_speed_,
                                   report(point).tokens_per_s_at(report(point).band->low) * kRoom);
        }
        std::sort(points_.begin(), points_.end(),
                  [](const auto& a, const auto& b) { return a.usd < b.usd; });
    }

    void draw(const char* what) {
        axes(what);
        front();
        for (const bool on_front : {false, true})
            for (const MachinePoint& point : points_)
                if (point.on_front == on_front) dot(point);
        for (const bool on_front : {true, false})
            for (const MachinePoint& point : points_)
                if (point.on_front == on_front) name(point);
    }

  private:
    const Prediction& report(const MachinePoint& point) const {
        return choices_.machines[point.machine].report;
    }
    double x(double usd) const { return left_ + usd / most_usd_ * kPlotWidth; }
    double y(double speed) const { return kTop + kPlotHeight * (1 - speed / most_speed_); }

    void axes(const char* what) {
        const double bottom = kTop + kPlotHeight;
        const double usd = round_tick(most_usd_, kMostTicks),
                     speed = round_tick(most_speed_, kMostTicks);
        for (int i = 0; i * usd <= most_usd_; ++i) {
            canvas_.line(x(i * usd), kTop, x(i * usd), bottom, "stroke=\"#e4e4e4\"");
            canvas_.text(x(i * usd), bottom + 18, kSmall, fmt::format("${:g}", i * usd),
                         R"(text-anchor="middle" fill="#444")");
        }
        for (int i = 0; i * speed <= most_speed_; ++i) {
            canvas_.line(left_, y(i * speed), left_ + kPlotWidth, y(i * speed),
                         "stroke=\"#e4e4e4\"");
            canvas_.text(left_ - 8, y(i * speed) + 4, kSmall, format_thousands(i * speed),
                         R"(text-anchor="end" fill="#444")");
        }
        canvas_.text(left_ + kPlotWidth / 2, bottom + 40, kNormal, what,
                     R"(text-anchor="middle" fill="#444")");
        canvas_.text(left_, kTop - 10, kNormal, "tokens/s", kGrey);
    }

    void front() {
        const MachinePoint* before = nullptr;
        for (const MachinePoint& point : points_) {
            if (!point.on_front) continue;
            if (before != nullptr)
                canvas_.line(x(before->usd), y(before->tokens_per_s), x(point.usd),
                             y(point.tokens_per_s), R"(stroke="#0072b2" stroke-width="1.5")");
            before = &point;
        }
    }

    void dot(const MachinePoint& point) {
        const Prediction& r = report(point);
        canvas_.line(
            x(point.usd), y(r.tokens_per_s_at(r.band->high)), x(point.usd),
            y(r.tokens_per_s_at(r.band->low)),
            point.on_front ? R"(stroke="#0072b2" stroke-opacity="0.4")" : "stroke=\"#dddddd\"");
        canvas_.add(
            "<circle cx=\"{:.6g}\" cy=\"{:.6g}\" r=\"{}\" fill=\"{}\"><title>{}</title></circle>\n",
            x(point.usd), y(point.tokens_per_s), kRadius, point.on_front ? kPointedOut : kBeaten,
            escape_xml(fmt::format("{}: {} tokens/s, ${:.3g}", choices_.machines[point.machine].id,
                                   format_thousands(point.tokens_per_s), point.usd)));
    }

    struct Name {
        double x, baseline, width;
    };
    /// Where no other name is, and no dot; nor another's dot so near that the name could be its.
    bool is_free(const Name& name, const MachinePoint& of) const {
        constexpr double kAbove = 0.8 * kSmall, kBelow = 0.25 * kSmall;
        const double end = name.x + name.width;
        if (name.x < left_ || end > left_ + kPlotWidth) return false;
        return std::none_of(names_.begin(), names_.end(),
                            [&](const Name& other) {
                                return name.x < other.x + other.width && other.x < end &&
                                       std::abs(name.baseline - other.baseline) < kSmall;
                            }) &&
               std::none_of(points_.begin(), points_.end(), [&](const MachinePoint& other) {
                   const double dot_x = x(other.usd), dot_y = y(other.tokens_per_s);
                   const bool own = other.machine == of.machine || of.on_front;
                   const double room = own ? kRadius : 2.5 * kRadius;
                   return name.x < dot_x + room && dot_x - room < end &&
                          name.baseline - kAbove < dot_y + room &&
                          dot_y - room < name.baseline + kBelow;
               });
    }

    /// Beside its dot, where there is room; one that is beaten has its name only there.
    void name(const MachinePoint& point) {
        const std::string& id = choices_.machines[point.machine].id;
        const double width = text_width(id, kSmall), away = kRadius + 4;
        const double dot_x = x(point.usd), dot_y = y(point.tokens_per_s);
        std::optional<Name> place;
        const std::vector<double> near = {-6, 4, 14}, wide = {-6, 4, 14, -20, 28};
        for (const double lower : point.on_front ? wide : near)
            for (const double start : {dot_x + away, dot_x - away - width})
                if (const Name one{start, dot_y + lower, width}; !place && is_free(one, point))
                    place = one;
        if (!place && !point.on_front) return;
        if (!place) place = Name{dot_x + away, dot_y - 6, width};
        names_.push_back(*place);
        canvas_.text(place->x, place->baseline, kSmall, id, point.on_front ? kHalo : kHaloOfBeaten);
    }

    SvgCanvas& canvas_;
    const MachineChoices& choices_;
    std::vector<MachinePoint> points_;
    std::vector<Name> names_;
    const double left_;
    double most_usd_ = 1e-9, most_speed_ = 1e-9;
};

/// Nothing where the machines take different batches.
std::string batch_words(const MachineChoices& choices) {
    const TrainingSpec& first = choices.machines.front().report.asked.training;
    for (const MachineChoice& machine : choices.machines) {
        const TrainingSpec& t = machine.report.asked.training;
        if (t.batch != first.batch || t.sequence != first.sequence) return "";
    }
    return fmt::format(", batch {} x {} tokens", first.batch,
                       format_thousands(static_cast<double>(first.sequence)));
}

}  // namespace

std::string machine_choices_svg(const MachineChoices& choices) {
    SvgCanvas canvas;
    if (!choices.machines.empty()) {
        const Prediction& r = choices.machines.front().report;
        canvas.text(kMargin, 30, kTitle, r.asked.model_name + ": speed and money by machine",
                    "font-weight=\"bold\"");
        canvas.text(kMargin, 52, kNormal,
                    fmt::format("predicted{}; thin lines: 5 to 95%; blue: no machine is faster for "
                                "less; grey: beaten",
                                batch_words(choices)),
                    kGrey);
    }
    Plot(canvas, choices, CostAxis::usd_per_hour, kLeft).draw("dollars an hour");
    Plot(canvas, choices, CostAxis::usd_per_million_tokens, kLeft + kPlotWidth + kBetween)
        .draw("dollars per million tokens");
    return canvas.element(kWidth, kTop + kPlotHeight + 60);
}

}  // namespace sluice
