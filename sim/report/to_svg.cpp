#include "sim/report/to_svg.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

namespace sluice {
namespace {

/// Two decimals of a pixel are enough.
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
    void end(const char* name, const Shape& shape) {
        if (shape.tooltip.empty())
            add("/>\n");
        else
            add("><title>{}</title></{}>\n", escape_xml(shape.tooltip), name);
    }

    void write(const Rectangle& form, const Shape& shape) {
        // A shape that only marks the place of a thing draws nothing in a file.
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
        // The shape below the text has the tooltip.
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

std::string escape_xml(std::string_view text) {
    std::string escaped;
    for (const char c : text) {
        switch (c) {
            case '&':
                escaped += "&amp;";
                break;
            case '<':
                escaped += "&lt;";
                break;
            case '>':
                escaped += "&gt;";
                break;
            case '"':
                escaped += "&quot;";
                break;
            case '\'':
                escaped += "&#39;";
                break;
            default:
                escaped += static_cast<unsigned char>(c) < 0x20 && c != '\n' ? ' ' : c;
        }
    }
    return escaped;
}

std::string html_element(std::string_view tag, std::string_view text, std::string_view css_class) {
    return fmt::format("<{0}{1}>{2}</{0}>\n", tag,
                       css_class.empty() ? "" : fmt::format(" class=\"{}\"", css_class),
                       escape_xml(text));
}

std::string html_list(const std::vector<std::string>& texts) {
    if (texts.empty()) return "";
    std::string out = "<ul>\n";
    for (const std::string& text : texts) out += html_element("li", text);
    return out + "</ul>\n";
}

std::string html_page(std::string_view title, std::string_view style, std::string_view body,
                      std::optional<int> refresh_seconds) {
    const std::string refresh =
        refresh_seconds
            ? fmt::format("<meta http-equiv=\"refresh\" content=\"{}\"/>", *refresh_seconds)
            : "";
    return fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'unsafe-inline'\"/>"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>"
        "{}<title>{}</title><style>{}</style></head><body>\n{}</body></html>\n",
        refresh, escape_xml(title), style, body);
}

std::string_view html_table_style() {
    return "body{font-family:sans-serif;margin:24px;color:#222;background:#fff}"
           "table{border-collapse:collapse;margin:12px 0 24px;font-size:13px}"
           "th,td{padding:3px 8px;text-align:right;border-bottom:1px solid #ddd;white-space:nowrap}"
           "th{border-bottom:2px solid #888;white-space:normal;vertical-align:bottom}"
           "td.text,th.text{text-align:left}"
           "td.text{white-space:normal;overflow-wrap:anywhere;min-width:7em}"
           ".group td{font-weight:bold;background:#f1f1f1;text-align:left}"
           ".wide{overflow-x:auto}"
           "svg{display:block;margin:0 0 24px;max-width:100%;height:auto}";
}

}  // namespace sluice
