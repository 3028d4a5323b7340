// The heat map as SVG, with the geometry of the window's.
#include <algorithm>

#include "planner-gui/pictures/heat_map.h"
#include "planner-gui/pictures/heat_map_geometry.h"
#include "planner-gui/pictures/palette.h"
#include "sim/report/svg_canvas.h"

namespace sluice {
namespace {

constexpr double kFont = 12, kTitle = 17, kLine = 16, kAbove = 30;  // pixels
constexpr double kCellWidth = 104, kCellHeight = 38;
constexpr const char* kGrey = "#eeeeee";

std::string hex(const QColor& colour) { return colour.name().toStdString(); }

class HeatMapDrawing {
  public:
    HeatMapDrawing(const HeatMap& map, HeatQuantity quantity, ByteUnits units)
        : map_(map),
          quantity_(quantity),
          units_(units),
          scale_(map.scale(quantity)),
          sizes_(sizes()),
          size_(sizes_.y_labels + sizes_.legend_labels + 5 * kLine + kCellWidth * map.columns(),
                std::max(kCellHeight * map.rows(), 14 * kLine) + 6 * kLine),
          geometry_(map, size_, sizes_) {}

    std::string draw(const std::string& title) {
        canvas_.text(kLine, kAbove - 8, kTitle, title, "font-weight=\"bold\"");
        canvas_.add(
            "<defs><pattern id=\"hatch\" width=\"8\" height=\"8\" "
            "patternUnits=\"userSpaceOnUse\"><path d=\"M0 8L8 0\" stroke=\"#999\"/>"
            "</pattern></defs>\n<g transform=\"translate(0 {})\">\n",
            kAbove);
        words(geometry_.y_title(), axis_title(map_.y().number), "start");
        words(geometry_.x_title(), axis_title(map_.x().number), "start");
        for (int y = 0; y < map_.rows(); ++y) {
            words(geometry_.row_label(y), value_label(map_.y().number, value(map_.y(), y)), "end");
            for (int x = 0; x < map_.columns(); ++x) cell({x, y});
        }
        for (int x = 0; x < map_.columns(); x += geometry_.column_step())
            words(geometry_.column_label(x), value_label(map_.x().number, value(map_.x(), x)),
                  "middle");
        if (const auto best = map_.best(quantity_)) frame(geometry_.cell(*best));
        legend();
        canvas_.add("</g>\n");
        return canvas_.element(size_.width(), size_.height() + kAbove);
    }

  private:
    static double value(const HeatAxis& axis, int index) {
        return axis.values[static_cast<std::size_t>(index)];
    }
    HeatMapSizes sizes() const {
        HeatMapSizes sizes{kLine, 0, 0, text_width("does not fit", kFont)};
        for (const double v : map_.y().values)
            sizes.y_labels =
                std::max(sizes.y_labels, text_width(value_label(map_.y().number, v), kFont));
        for (const double v : map_.x().values)
            sizes.x_labels =
                std::max(sizes.x_labels, text_width(value_label(map_.x().number, v), kFont));
        sizes.legend_labels = std::max(sizes.legend_labels,
                                       text_width(quantity_name(quantity_).toStdString(), kFont));
        return sizes;
    }
    void words(QRectF box, const std::string& words, const char* anchor,
               const std::string& fill = "#444") {
        const double x = anchor[0] == 's'   ? box.left()
                         : anchor[0] == 'e' ? box.right()
                                            : box.center().x();
        canvas_.text(x, box.center().y() + kFont * 0.36, kFont, words,
                     fmt::format("text-anchor=\"{}\" fill=\"{}\"", anchor, fill));
    }
    void box(QRectF box, const std::string& fill, const std::string& tooltip) {
        canvas_.add(
            "<rect x=\"{:.6g}\" y=\"{:.6g}\" width=\"{:.6g}\" height=\"{:.6g}\" "
            "fill=\"{}\" stroke=\"#fff\"><title>{}</title></rect>\n",
            box.left(), box.top(), box.width(), box.height(), fill, escape_xml(tooltip));
    }
    void frame(QRectF box) {
        for (const auto& [stroke, width] : {std::pair("#fff", 5.0), std::pair("#000", 2.5)})
            canvas_.add(
                "<rect x=\"{:.6g}\" y=\"{:.6g}\" width=\"{:.6g}\" height=\"{:.6g}\" "
                "fill=\"none\" stroke=\"{}\" stroke-width=\"{}\"/>\n",
                box.left() + 2, box.top() + 2, box.width() - 4, box.height() - 4, stroke, width);
    }
    void cell(CellIndex at) {
        const std::optional<double> number = map_.value(at, quantity_);
        const QColor fill = number ? Palette::scale(scale_.share(*number)) : QColor(Qt::white);
        const bool misfit = map_.cell(at).state == CellState::does_not_fit;
        const QRectF place = geometry_.cell(at);
        const std::string tooltip =
            cell_lines(map_, at, units_).join(QLatin1Char('\n')).toStdString();
        box(place, number ? hex(fill) : kGrey, tooltip);
        if (misfit) box(place, "url(#hatch)", tooltip);
        for (const QString& caption : cell_captions(map_, at, quantity_, units_)) {
            const std::string text = caption.toStdString();
            if (text_width(text, kFont) > place.width() - 6) continue;
            words(place, text, "middle", number ? hex(Palette::text_on(fill)) : "#222");
            break;
        }
    }
    void legend() {
        const QRectF bar = geometry_.legend();
        constexpr int kSlices = 64;
        for (int i = 0; i < kSlices && !scale_.empty(); ++i)
            canvas_.add(
                "<rect x=\"{:.6g}\" y=\"{:.6g}\" width=\"{:.6g}\" height=\"{:.6g}\" "
                "fill=\"{}\"/>\n",
                bar.left(), geometry_.legend_y((i + 1.0) / kSlices), bar.width(),
                bar.height() / kSlices + 0.5, hex(Palette::scale((i + 0.5) / kSlices)));
        for (const double tick : scale_.ticks()) {
            const double y = geometry_.legend_y(scale_.share(tick));
            canvas_.line(bar.left(), y, bar.right() + 4, y, "stroke=\"#444\"");
            canvas_.text(bar.right() + 8, y + 4, kFont,
                         quantity_text(quantity_, tick, units_).toStdString(), "fill=\"#444\"");
        }
        canvas_.text(bar.left(), bar.top() - 10, kFont, quantity_name(quantity_).toStdString(),
                     "fill=\"#444\"");
        box(geometry_.key_swatch(0), kGrey, "");
        box(geometry_.key_swatch(0), "url(#hatch)", "");
        words(geometry_.key_text(0), "does not fit", "start");
        box(geometry_.key_swatch(1), kGrey, "");
        words(geometry_.key_swatch(1), "\u00d7", "middle");
        words(geometry_.key_text(1), "refused", "start");
        frame(geometry_.key_swatch(2));
        words(geometry_.key_text(2), "best", "start");
    }

    const HeatMap& map_;
    const HeatQuantity quantity_;
    const ByteUnits units_;
    const ValueScale scale_;
    const HeatMapSizes sizes_;
    const QSizeF size_;
    const HeatMapGeometry geometry_;
    SvgCanvas canvas_;
};

}  // namespace

std::string heat_map_svg(const HeatMap& map, HeatQuantity quantity, const std::string& title,
                         ByteUnits units) {
    return HeatMapDrawing(map, quantity, units).draw(title);
}

}  // namespace sluice
