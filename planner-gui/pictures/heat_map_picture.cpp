// The heat map: cells, labels, and a legend of colours.
#include <algorithm>
#include <cmath>

#include "planner-gui/pictures/heat_map.h"
#include "sim/report/picture.h"

namespace sluice {
namespace {

// In lines of text.
constexpr double kMargin = 0.6, kGap = 0.5, kBar = 1.2;
constexpr double kWidestCell = 32, kHighestCell = 14, kLeastCell = 1.6, kLeastLegend = 4;
constexpr int kKeys = 3;     // for "does not fit", "not possible", "best"
constexpr int kSlices = 64;  // of the legend's colour scale
constexpr double kHatch = 9;

std::string text(const QString& words) { return words.toStdString(); }

std::string label_of(const HeatAxis& axis, int index) {
    return value_label(axis.number, axis.values[static_cast<std::size_t>(index)]);
}

double widest(const HeatAxis& axis, double font) {
    double width = 0;
    for (const double value : axis.values)
        width = std::max(width, text_width(value_label(axis.number, value), font));
    return width;
}

class HeatMapDrawing {
  public:
    HeatMapDrawing(const HeatMap& map, HeatQuantity quantity, ByteUnits units,
                   const PictureSpace& space)
        : map_(map),
          quantity_(quantity),
          units_(units),
          scale_(map.scale(quantity)),
          font_(space.font),
          line_(line_height(space.font)) {
        out_.width = space.width;
        out_.height = space.height;
    }

    Picture draw(const std::string& title) {
        place(add_header(out_, title, text(point_settings_sentence(map_.point_settings())), font_));
        labels();
        for (int y = map_.rows() - 1; y >= 0; --y)
            for (int x = 0; x < map_.columns(); ++x) {
                cell({x, y});
                out_.keys.ids.push_back(id_of(map_, {x, y}));
            }
        if (const auto best = map_.best(quantity_)) frame(box_of_cell(*best));
        legend();
        keys();
        out_.description = text(quantity_name(quantity_)) + " by " + axis_title(map_.x().number) +
                           " and " + axis_title(map_.y().number);
        out_.keys.along = KeyOrder::Along::grid;
        out_.keys.columns = map_.columns();
        return std::move(out_);
    }

  private:
    void place(double top) {
        const double margin = kMargin * line_, gap = kGap * line_;
        const double left = margin + widest(map_.y(), font_) + gap;
        top += 1.5 * line_;
        const double legend_width = kBar * line_ + gap +
                                    std::max(text_width("does not fit", font_),
                                             text_width(text(quantity_name(quantity_)), font_));
        const double width = std::max(line_, out_.width - left - 2 * line_ - legend_width - margin);
        const double least_height =
            std::max(kLeastCell * line_ * map_.rows(), (kLeastLegend + 1.4 * (kKeys + 1)) * line_);
        const double height = std::max(least_height, out_.height - top - 2.6 * line_ - margin);
        out_.height = std::max(out_.height, top + height + 2.6 * line_ + margin);
        plot_ = {left, top, std::min(width, map_.columns() * kWidestCell * line_),
                 std::min(height, map_.rows() * kHighestCell * line_)};
        // The legend needs room for its ticks and keys, for any number of rows.
        const double high = std::min(height, std::max(plot_.height, 14 * line_));
        bar_ = {plot_.right() + 2 * line_, top, kBar * line_,
                std::max(kLeastLegend * line_, high - (kKeys + 1) * 1.4 * line_)};
    }
    Box box_of_cell(CellIndex at) const {
        const double width = plot_.width / map_.columns(), height = plot_.height / map_.rows();
        return {plot_.x + at.x * width, plot_.bottom() - (at.y + 1) * height, width, height};
    }
    void centred(const Box& box, const std::string& words, Paint colour) {
        out_.words({box.centre().x, baseline(box.centre().y, font_)}, words, font_, colour,
                   Anchor::middle);
    }

    void labels() {
        out_.words({kMargin * line_, plot_.y - 0.5 * line_},
                   "\u2191 " + axis_title(map_.y().number), font_, paint(Role::text), Anchor::start,
                   true);
        out_.words({plot_.x, plot_.bottom() + 2.3 * line_}, "\u2192 " + axis_title(map_.x().number),
                   font_, paint(Role::text), Anchor::start, true);
        for (int y = 0; y < map_.rows(); ++y)
            out_.words({plot_.x - kGap * line_, baseline(box_of_cell({0, y}).centre().y, font_)},
                       label_of(map_.y(), y), font_, paint(Role::text), Anchor::end);
        // The distance of labelled columns, so that labels do not touch.
        const double room = widest(map_.x(), font_) + kGap * line_;
        const int step =
            std::max(1, static_cast<int>(std::ceil(room / (plot_.width / map_.columns()))));
        for (int x = 0; x < map_.columns(); x += step)
            out_.words({box_of_cell({x, 0}).centre().x, plot_.bottom() + 1.1 * line_},
                       label_of(map_.x(), x), font_, paint(Role::text), Anchor::middle);
    }

    void cell(CellIndex at) {
        const std::optional<double> value = map_.value(at, quantity_);
        const CellState state = map_.state(at);
        const Box box = box_of_cell(at).inset(0.5);
        const bool empty = state == CellState::not_computed;
        const Paint fill = value   ? scale_paint(scale_.share(*value))
                           : empty ? paint(Role::window)
                                   : paint(Role::plot);
        out_.rectangle(box, fill, id_of(map_, at),
                       text(cell_lines(map_, at, units_).join(QLatin1Char('\n'))));
        if (empty) {
            out_.shapes.back().stroke = paint(Role::grid);
            out_.shapes.back().dashed = true;
        }
        const bool misfit = state == CellState::does_not_fit;
        if (misfit) out_.hatching(box, paint(Role::text, 0.3), kHatch);
        const std::string words = caption(at, box.width);
        if (words.empty()) return;
        // Hatching must not cross the letters.
        const double wide = text_width(words, font_) + font_ / 2;
        if (misfit)
            out_.rectangle(
                {box.centre().x - wide / 2, box.centre().y - 0.7 * font_, wide, 1.4 * font_},
                paint(Role::plot));
        centred(box, words, value ? text_on(fill) : paint(Role::text));
    }
    bool has_room(const QString& words, double width) const {
        return text_width(text(words), font_) <= width - font_ / 2;
    }
    /// The longest kind of label that fits; all cells that do not fit have the same kind.
    std::string caption(CellIndex at, double width) {
        const QStringList captions = cell_captions(map_, at, quantity_, units_);
        qsizetype first = 0;
        if (map_.state(at) == CellState::does_not_fit) {
            if (!misfit_caption_) misfit_caption_ = misfit_caption(width);
            first = *misfit_caption_;
        }
        for (const QString& words : captions.mid(first))
            if (has_room(words, width)) return text(words);
        return "";
    }
    qsizetype misfit_caption(double width) const {
        qsizetype least = 0;
        for (int y = 0; y < map_.rows(); ++y)
            for (int x = 0; x < map_.columns(); ++x) {
                if (map_.state({x, y}) != CellState::does_not_fit) continue;
                const QStringList captions = cell_captions(map_, {x, y}, quantity_, units_);
                while (least + 1 < captions.size() && !has_room(captions[least], width)) ++least;
            }
        return least;
    }

    void frame(const Box& box) {
        const Box inner = box.inset(2.5);
        out_.outline(inner, paint(Role::window), 5);
        out_.outline(inner, paint(Role::text), 2.5);
    }

    void legend() {
        for (int i = 0; i < kSlices && !scale_.ticks.empty(); ++i)
            out_.rectangle({bar_.x, bar_.bottom() - (i + 1.0) / kSlices * bar_.height, bar_.width,
                            bar_.height / kSlices + 0.5},
                           scale_paint((i + 0.5) / kSlices));
        for (const double tick : scale_.ticks) {
            const double y = bar_.bottom() - scale_.share(tick) * bar_.height;
            out_.line({bar_.right(), y}, {bar_.right() + line_ / 4, y}, paint(Role::text));
            out_.words({bar_.right() + line_ / 2, baseline(y, font_)},
                       text(quantity_text(quantity_, tick, units_)), font_);
        }
        out_.words({bar_.x, bar_.y - 0.5 * line_}, text(quantity_name(quantity_)), font_);
    }

    void keys() {
        const char* const names[kKeys] = {"does not fit", "not possible", "best"};
        for (int i = 0; i < kKeys; ++i) {
            const Box swatch{bar_.x, bar_.bottom() + (1 + 1.4 * i) * line_, bar_.width, line_};
            out_.rectangle(swatch, i == 2 ? scale_paint(0.8) : paint(Role::plot));
            if (i == 0) out_.hatching(swatch, paint(Role::text, 0.3), kHatch);
            if (i == 1) centred(swatch, "\u00d7", paint(Role::text));
            if (i == 2) frame(swatch);
            out_.words({swatch.right() + kGap * line_, baseline(swatch.centre().y, font_)},
                       names[i], font_);
        }
    }

    const HeatMap& map_;
    const HeatQuantity quantity_;
    const ByteUnits units_;
    const Axis scale_;
    const double font_, line_;
    Picture out_;
    Box plot_, bar_;
    std::optional<qsizetype> misfit_caption_;
};

}  // namespace

Picture heat_map_picture(const HeatMap& map, HeatQuantity quantity, const std::string& title,
                         ByteUnits units, const PictureSpace& space) {
    if (map.columns() == 0 || map.rows() == 0) return {};
    return HeatMapDrawing(map, quantity, units, space).draw(title);
}

}  // namespace sluice
