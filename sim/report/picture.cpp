#include "sim/report/picture.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sluice {
namespace {

Box around(const Rectangle& form) { return form.box; }
Box around(const Hatching& form) { return form.box; }
Box around(const Disc& form) {
    return {form.centre.x - form.radius, form.centre.y - form.radius, 2 * form.radius,
            2 * form.radius};
}
Box around(const Path& form) {
    if (form.points.empty()) return {};
    const auto [left, right] = std::ranges::minmax(form.points, {}, &Point::x);
    const auto [top, bottom] = std::ranges::minmax(form.points, {}, &Point::y);
    return {left.x, top.y, right.x - left.x, bottom.y - top.y};
}
Box around(const Words& form) {
    const double width = text_width(form.text, form.size);
    const double before = form.anchor == Anchor::start    ? 0
                          : form.anchor == Anchor::middle ? width / 2
                                                          : width;
    if (form.upright)
        return {form.at.x - form.size, form.at.y + before - width, 1.3 * form.size, width};
    return {form.at.x - before, form.at.y - form.size, width, 1.3 * form.size};
}

}  // namespace

double distance(const Box& box, Point at) {
    return std::hypot(std::max({box.x - at.x, 0.0, at.x - box.right()}),
                      std::max({box.y - at.y, 0.0, at.y - box.bottom()}));
}

double text_width(std::string_view text, double size) {
    // Width of a byte over the font size: about 0.52 for ordinary text, 0.68 for capitals.
    return 0.6 * size * static_cast<double>(text.size());
}

void Picture::rectangle(Box box, Paint fill, int id, std::string tooltip) {
    shapes.push_back(
        {.form = Rectangle{box}, .fill = fill, .id = id, .tooltip = std::move(tooltip)});
}

void Picture::outline(Box box, Paint stroke, double thickness) {
    shapes.push_back({.form = Rectangle{box}, .stroke = stroke, .stroke_width = thickness});
}

void Picture::line(Point from, Point to, Paint stroke, double thickness, bool dashed) {
    shapes.push_back(
        {.form = Path{{from, to}}, .stroke = stroke, .stroke_width = thickness, .dashed = dashed});
}

void Picture::words(Point at, std::string text, double size, Paint colour, Anchor anchor,
                    bool bold) {
    if (text.empty()) return;
    shapes.push_back({.form = Words{at, std::move(text), size, anchor, bold}, .fill = colour});
}

void Picture::label(Point at, std::string text, double size, Paint colour, Anchor anchor) {
    words(at, std::move(text), size, colour, anchor);
    shapes.back().stroke = paint(Role::window);
    shapes.back().stroke_width = 3;
}

void Picture::hatching(Box box, Paint stroke, double spacing) {
    if (box.width > 0 && box.height > 0)
        shapes.push_back({.form = Hatching{box, spacing}, .stroke = stroke});
}

Box box_of(const Shape& shape) {
    return std::visit([](const auto& form) { return around(form); }, shape.form);
}

std::optional<Box> place_of(const Picture& picture, int id) {
    const auto shape = std::ranges::find(picture.shapes, id, &Shape::id);
    if (id == kNoId || shape == picture.shapes.end()) return std::nullopt;
    return box_of(*shape);
}

int id_at(const Picture& picture, Point at) {
    int nearest = kNoId;
    double least = picture.reach;
    for (auto shape = picture.shapes.rbegin(); shape != picture.shapes.rend(); ++shape) {
        if (shape->id == kNoId) continue;
        const double off = distance(box_of(*shape), at);
        if (off == 0) return shape->id;
        if (off > least) continue;
        least = off;
        nearest = shape->id;
    }
    return nearest;
}

std::string tooltip_at(const Picture& picture, Point at) {
    const auto has_text_here = [&](const Shape& shape) {
        return !shape.tooltip.empty() && box_of(shape).contains(at);
    };
    const auto top = std::find_if(picture.shapes.rbegin(), picture.shapes.rend(), has_text_here);
    if (top != picture.shapes.rend()) return top->tooltip;
    return tooltip_of(picture, id_at(picture, at));
}

std::string tooltip_of(const Picture& picture, int id) {
    for (const Shape& shape : picture.shapes)
        if (id != kNoId && shape.id == id && !shape.tooltip.empty()) return shape.tooltip;
    return "";
}

std::vector<std::pair<Point, Point>> hatching_lines(const Hatching& hatching) {
    const Box& box = hatching.box;
    std::vector<std::pair<Point, Point>> lines;
    // The hatching lines are x + y = constant.
    const double first = std::ceil((box.x + box.y) / hatching.spacing) * hatching.spacing;
    for (double sum = first; sum < box.right() + box.bottom(); sum += hatching.spacing) {
        const double left = std::max(box.x, sum - box.bottom());
        const double right = std::min(box.right(), sum - box.y);
        lines.push_back({{left, sum - left}, {right, sum - right}});
    }
    return lines;
}

}  // namespace sluice
