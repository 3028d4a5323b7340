// How is a chart drawn? As shapes in pixels, with colours given as meanings, for files, pages and
// the window. to_svg() writes a picture, the planner's PictureView paints it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace sluice {

struct Point {
    double x = 0, y = 0;
};

struct Box {
    double x = 0, y = 0, width = 0, height = 0;
    double right() const { return x + width; }
    double bottom() const { return y + height; }
    Point centre() const { return {x + width / 2, y + height / 2}; }
    bool contains(Point at) const {
        return at.x >= x && at.x <= right() && at.y >= y && at.y <= bottom();
    }
    bool contains(const Box& other) const {
        return other.x >= x && other.right() <= right() && other.y >= y &&
               other.bottom() <= bottom();
    }
    bool touches(const Box& other) const {
        return x < other.right() && other.x < right() && y < other.bottom() && other.y < bottom();
    }
    /// Smaller by `by` on each side; larger if `by` is negative.
    Box inset(double by) const { return {x + by, y + by, width - 2 * by, height - 2 * by}; }
    bool operator==(const Box&) const = default;
};

/// Distance from the nearest point of the box; 0 inside.
double distance(const Box& box, Point at);

/// The meaning of a colour; colours.h has its colours on light and dark ground.
enum class Role : std::uint8_t {
    none,
    window,  ///< background of a picture
    plot,    ///< background of a plot or a lane
    grid,
    axis,
    text,
    muted,        ///< less important text
    pointed_out,  ///< the subject of the picture
    other,        ///< things it is compared with
    misfit,       ///< does not fit
    beaten,       ///< another one is better in all respects
    waiting,      ///< compute waits; a shortage
    family,       ///< index: a Family of operations
    memory,       ///< index: a MemoryKind
    series,       ///< index: any, one colour after the other
    scale         ///< share: from 0, the least, to 1, the most
};

struct Paint {
    Role role = Role::none;
    int index = 0;
    double share = 0;
    double opacity = 1;
    bool text_on = false;  ///< black or white, whichever is legible on that colour
    bool operator==(const Paint&) const = default;
};
inline Paint paint(Role role, double opacity = 1) { return {.role = role, .opacity = opacity}; }
inline Paint series_paint(std::size_t index) {
    return {.role = Role::series, .index = static_cast<int>(index)};
}
inline Paint scale_paint(double share) { return {.role = Role::scale, .share = share}; }
inline Paint text_on(Paint ground) {
    ground.text_on = true;
    ground.opacity = 1;
    return ground;
}

enum class Anchor : std::uint8_t { start, middle, end };

struct Rectangle {
    Box box;
};
struct Path {
    std::vector<Point> points;
    bool closed = false;
};
struct Disc {
    Point centre;
    double radius = 0;
};
struct Words {
    Point at;  ///< of the baseline
    std::string text;
    double size = 13;  ///< of the font
    Anchor anchor = Anchor::start;
    bool bold = false;
    bool upright = false;  ///< rotated, read from the bottom up
};
/// Diagonal hatching; lines of neighbouring boxes meet.
struct Hatching {
    Box box;
    double spacing = 8;
};

constexpr int kNoId = -1;

struct Shape {
    std::variant<Rectangle, Path, Disc, Words, Hatching> form;
    Paint fill = {};    ///< colour of text
    Paint stroke = {};  ///< halo around the letters of text
    double stroke_width = 1;
    bool dashed = false;
    int id = kNoId;            ///< the thing of the chart that the shape belongs to
    std::string tooltip = {};  ///< lines
};

/// The order in which arrow keys select things.
struct KeyOrder {
    enum class Along : std::uint8_t {
        down,   ///< one below the other
        right,  ///< from left to right; up goes right, as along a rising curve
        grid    ///< in rows of `columns`, the topmost first
    };
    std::vector<int> ids;
    Along along = Along::down;
    int columns = 1;
};

/// The room for a chart in pixels, and its font size.
struct PictureSpace {
    double width = 1000;
    double height = 0;  ///< a chart may use the height beyond its minimum
    double font = 13;
};

struct Picture {
    double width = 0, height = 0;
    std::string title, description;  ///< description for screen readers
    std::vector<Shape> shapes;       ///< later shapes are drawn over earlier ones
    KeyOrder keys;
    double reach = 0;  ///< distance in pixels within which a thing is pointed at

    void add(std::vector<Shape> more) {
        shapes.insert(shapes.end(), std::make_move_iterator(more.begin()),
                      std::make_move_iterator(more.end()));
    }
    void rectangle(Box box, Paint fill, int id = kNoId, std::string tooltip = "");
    void outline(Box box, Paint stroke, double thickness = 1);
    void line(Point from, Point to, Paint stroke, double thickness = 1, bool dashed = false);
    void words(Point at, std::string text, double size, Paint colour = paint(Role::text),
               Anchor anchor = Anchor::start, bool bold = false);
    /// With a halo in the background's colour, so that it is legible across lines.
    void label(Point at, std::string text, double size, Paint colour = paint(Role::text),
               Anchor anchor = Anchor::start);
    void hatching(Box box, Paint stroke, double spacing = 8);
};

/// An upper estimate of the width in pixels of ordinary sans-serif text of `size` pixels, since
/// fonts differ.
double text_width(std::string_view text, double size);
/// The smallest box around a shape; text is as wide as text_width() says.
Box box_of(const Shape& shape);
/// The box of the first shape with this id; empty if there is none.
std::optional<Box> place_of(const Picture& picture, int id);
/// The topmost thing at that point, else the nearest within the picture's reach; kNoId: none.
int id_at(const Picture& picture, Point at);
/// The tooltip of the topmost shape there that has one, else of the thing within reach.
std::string tooltip_at(const Picture& picture, Point at);
/// The tooltips of a thing; empty if it has none.
std::string tooltip_of(const Picture& picture, int id);
/// The lines of a hatching, with their ends.
std::vector<std::pair<Point, Point>> hatching_lines(const Hatching& hatching);

}  // namespace sluice
