// Speed over cost as SVG: the points, front and names of the window.
#include <algorithm>

#include "planner-gui/pictures/label_places.h"
#include "planner-gui/pictures/palette.h"
#include "planner-gui/pictures/pareto.h"
#include "sim/report/svg_canvas.h"

namespace sluice {
namespace {

// Pixels.
constexpr double kWidth = 1000, kHeight = 620;
constexpr double kLeft = 90, kTop = 80, kRight = 24, kBottom = 64;
constexpr double kRadius = 5, kFont = 12, kTitle = 17;
constexpr const char* kGrey = "fill=\"#444\"";
constexpr const char* kHalo =
    R"(stroke="#fff" stroke-width="3" paint-order="stroke" stroke-linejoin="round")";

std::string hex(const QColor& colour) { return colour.name().toStdString(); }

class ParetoDrawing {
  public:
    ParetoDrawing(const std::vector<ParetoRow>& rows, CostAxis axis)
        : rows_(rows),
          axis_(axis),
          front_(on_front(rows, axis)),
          names_(row_names(rows)),
          order_(by_cost(rows, axis)),
          cost_(cost_axis(rows, axis)),
          speed_(speed_axis(rows)) {}

    std::string draw() {
        head();
        axes();
        for (const QLineF& line : front())
            draw(line, fmt::format("stroke=\"{}\" stroke-width=\"1.5\"", kPointedOut));
        for (const bool front : {false, true})
            for (const std::size_t row : order_)
                if (front_[row] == front) dot(row);
        names();
        return canvas_.element(kWidth, kHeight);
    }

  private:
    static QRectF plot() {
        return {kLeft, kTop, kWidth - kLeft - kRight, kHeight - kTop - kBottom};
    }
    static double share(const PlotAxis& axis, double value) {
        return (axis.position(value) - axis.position(axis.low)) /
               (axis.position(axis.high) - axis.position(axis.low));
    }
    double x(double usd) const { return plot().left() + share(cost_, usd) * plot().width(); }
    double y(double speed) const {
        return plot().bottom() - share(speed_, speed) * plot().height();
    }
    QPointF place(std::size_t row) const {
        return {x(cost_of(rows_[row], axis_)), y(rows_[row].tokens_per_s())};
    }

    void head() {
        const std::string model = order_.empty() ? "" : rows_[order_.front()].model + ": ";
        canvas_.text(20, 30, kTitle, model + "speed and money", "font-weight=\"bold\"");
        canvas_.text(20, 52, kFont,
                     "predicted; thin lines: 5 to 95%; blue: none is faster for less; grey: beaten",
                     kGrey);
    }
    void axes() {
        for (const PlotAxis::Tick& tick : cost_.ticks) {
            canvas_.line(x(tick.value), plot().top(), x(tick.value), plot().bottom(),
                         "stroke=\"#e4e4e4\"");
            canvas_.text(x(tick.value), plot().bottom() + 18, kFont, tick.label.toStdString(),
                         R"(text-anchor="middle" fill="#444")");
        }
        for (const PlotAxis::Tick& tick : speed_.ticks) {
            canvas_.line(plot().left(), y(tick.value), plot().right(), y(tick.value),
                         "stroke=\"#e4e4e4\"");
            canvas_.text(plot().left() - 8, y(tick.value) + 4, kFont, tick.label.toStdString(),
                         R"(text-anchor="end" fill="#444")");
        }
        const auto scaled = [](std::string words, const PlotAxis& axis) {
            return axis.logarithmic ? words + " (logarithmic)" : words;
        };
        canvas_.text(plot().center().x(), plot().bottom() + 42, kFont,
                     scaled(cost_name(axis_).toStdString(), cost_),
                     R"(text-anchor="middle" fill="#444")");
        canvas_.text(20, kTop - 8, kFont, scaled("tokens/s", speed_), kGrey);
    }
    QLineF band(std::size_t row) const {
        const ParetoRow& r = rows_[row];
        const double at = place(row).x();
        return {at, y(r.tokens_per_s_at(r.step_high)), at, y(r.tokens_per_s_at(r.step_low))};
    }
    std::vector<QLineF> front() const {
        std::vector<QLineF> out;
        std::optional<QPointF> before;
        for (const std::size_t row : order_) {
            if (!front_[row]) continue;
            if (before) out.emplace_back(*before, place(row));
            before = place(row);
        }
        return out;
    }
    /// That names do not cover.
    std::vector<QLineF> lines() const {
        std::vector<QLineF> out = front();
        for (const std::size_t row : order_)
            if (rows_[row].has_band()) out.push_back(band(row));
        return out;
    }
    void draw(const QLineF& line, const std::string& style) {
        canvas_.line(line.x1(), line.y1(), line.x2(), line.y2(), style);
    }
    void dot(std::size_t row) {
        const ParetoRow& r = rows_[row];
        const QPointF at = place(row);
        const char* const fill = front_[row] ? kPointedOut : kBeaten;
        if (r.has_band())
            draw(band(row), fmt::format("stroke=\"{}\" stroke-opacity=\"0.5\"", fill));
        const QStringList lines = row_lines(r, ByteUnits::decimal);
        canvas_.add(
            "<circle cx=\"{:.6g}\" cy=\"{:.6g}\" r=\"{}\" fill=\"{}\"><title>{}</title></circle>\n",
            at.x(), at.y(), kRadius, fill, escape_xml(lines.join(QLatin1Char('\n')).toStdString()));
    }
    void names() {
        // The dearest first: those at the border have the fewest places.
        std::vector<std::size_t> rows(order_.rbegin(), order_.rend());
        std::stable_partition(rows.begin(), rows.end(), [&](std::size_t i) { return front_[i]; });
        std::vector<LabelledPoint> points;
        for (const std::size_t row : rows)
            points.push_back({place(row), QSizeF(text_width(names_[row], kFont), kFont * 1.3)});
        std::vector<QPointF> dots;
        for (const std::size_t row : order_) dots.push_back(place(row));
        const auto places = label_places(points, plot(), 1.1 * kRadius, dots, lines());
        for (std::size_t i = 0; i < rows.size(); ++i)
            if (places[i])
                canvas_.text(
                    places[i]->center().x(), places[i]->bottom() - 0.3 * kFont, kFont,
                    names_[rows[i]],
                    fmt::format("text-anchor=\"middle\" fill=\"{}\" {}",
                                front_[rows[i]] ? "#222" : hex(Palette::light().muted()), kHalo));
    }

    const std::vector<ParetoRow>& rows_;
    const CostAxis axis_;
    const std::vector<bool> front_;
    const std::vector<std::string> names_;
    const std::vector<std::size_t> order_;
    const PlotAxis cost_, speed_;
    SvgCanvas canvas_;
};

}  // namespace

std::string pareto_svg(const std::vector<ParetoRow>& rows, CostAxis axis) {
    return ParetoDrawing(rows, axis).draw();
}

}  // namespace sluice
