#include "sim/report/to_svg.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "sim/report/svg_text.h"

namespace sluice {
namespace {

/// Hundredths of a pixel are enough.
double cut(double pixels) { return std::round(pixels * 100) / 100; }

class Writer {
  public:
    explicit Writer(const Colours& colours) : colours_(colours) {}

    void shape(const Shape& shape) {
        std::visit([&](const auto& form) { write(form, shape); }, shape.form);
    }
    std::string take() { return std::move(out_); }

  private:
    template <typename... Arguments>
    void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
        fmt::format_to(std::back_inserter(out_), format, std::forward<Arguments>(arguments)...);
    }

    void colour(const char* of, const Paint& paint) {
        if (paint.role == Role::none) return add(" {}=\"none\"", of);
        add(" {}=\"{}\"", of, hex(colours_.of(paint)));
        if (paint.opacity < 1) add(" {}-opacity=\"{:.2g}\"", of, paint.opacity);
    }
    void stroke(const Shape& shape) {
        if (shape.stroke.role == Role::none) return;
        colour("stroke", shape.stroke);
        if (shape.stroke_width != 1) add(" stroke-width=\"{:.3g}\"", shape.stroke_width);
        if (shape.dashed) add(" stroke-dasharray=\"5 4\"");
    }
    /// Ends the element `name`.
    void end(const char* name, const Shape& shape) {
        if (shape.tooltip.empty())
            add("/>\n");
        else
            add("><title>{}</title></{}>\n", escape_xml(shape.tooltip), name);
    }

    void write(const Rectangle& form, const Shape& shape) {
        // What only marks where a thing is has nothing to show in a file.
        if (shape.fill.role == Role::none && shape.stroke.role == Role::none &&
            shape.tooltip.empty())
            return;
        add("<rect x=\"{:.7g}\" y=\"{:.7g}\" width=\"{:.7g}\" height=\"{:.7g}\"", cut(form.box.x),
            cut(form.box.y), cut(form.box.width), cut(form.box.height));
        colour("fill", shape.fill);
        if (shape.fill.role == Role::none && shape.stroke.role == Role::none)
            add(" pointer-events=\"all\"");
        stroke(shape);
        end("rect", shape);
    }
    void write(const Path& form, const Shape& shape) {
        add("<path d=\"");
        for (std::size_t i = 0; i < form.points.size(); ++i)
            add("{}{:.7g} {:.7g}", i == 0 ? 'M' : 'L', cut(form.points[i].x),
                cut(form.points[i].y));
        add("{}\"", form.closed ? "Z" : "");
        colour("fill", shape.fill);
        stroke(shape);
        end("path", shape);
    }
    void write(const Disc& form, const Shape& shape) {
        add("<circle cx=\"{:.7g}\" cy=\"{:.7g}\" r=\"{:.7g}\"", cut(form.centre.x),
            cut(form.centre.y), cut(form.radius));
        colour("fill", shape.fill);
        stroke(shape);
        end("circle", shape);
    }
    void write(const Words& form, const Shape& shape) {
        if (form.upright)
            add("<text transform=\"translate({:.7g} {:.7g}) rotate(-90)\"", cut(form.at.x),
                cut(form.at.y));
        else
            add("<text x=\"{:.7g}\" y=\"{:.7g}\"", cut(form.at.x), cut(form.at.y));
        add(" font-size=\"{:.4g}\"", form.size);
        if (form.anchor != Anchor::start)
            add(" text-anchor=\"{}\"", form.anchor == Anchor::middle ? "middle" : "end");
        if (form.bold) add(" font-weight=\"bold\"");
        colour("fill", shape.fill);
        if (shape.stroke.role != Role::none) {
            stroke(shape);
            add(" paint-order=\"stroke\" stroke-linejoin=\"round\"");
        }
        // What is under the words has the tooltip.
        add(" pointer-events=\"none\">{}</text>\n", escape_xml(form.text));
    }
    void write(const Hatching& form, const Shape& shape) {
        add("<path d=\"");
        for (const auto& [from, to] : hatching_lines(form))
            add("M{:.7g} {:.7g}L{:.7g} {:.7g}", cut(from.x), cut(from.y), cut(to.x), cut(to.y));
        add("\"");
        stroke(shape);
        add(" pointer-events=\"none\"/>\n");
    }

    const Colours& colours_;
    std::string out_;
};

}  // namespace

std::string to_svg(const Picture& picture, const Colours& colours) {
    Writer writer(colours);
    for (const Shape& shape : picture.shapes) writer.shape(shape);
    const std::string words =
        picture.description.empty() ? picture.title : picture.title + ". " + picture.description;
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.7g}\" height=\"{1:.7g}\" "
        "viewBox=\"0 0 {0:.7g} {1:.7g}\" font-family=\"sans-serif\" role=\"img\" "
        "aria-label=\"{2}\">\n<rect width=\"{0:.7g}\" height=\"{1:.7g}\" "
        "fill=\"{3}\"/>\n{4}</svg>\n",
        cut(picture.width), cut(picture.height), escape_xml(words),
        hex(colours.of(paint(Role::window))), writer.take());
}

}  // namespace sluice
