// What does a chart draw? Shapes in pixels whose colours are meanings, for files, pages and the
// window alike: to_svg() writes a picture, the planner's PictureView paints it.
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
    /// Smaller on each side, or larger where `by` is below 0.
    Box inset(double by) const { return {x + by, y + by, width - 2 * by, height - 2 * by}; }
    bool operator==(const Box&) const = default;
};

/// From the nearest point of the box; 0 inside.
double distance(const Box& box, Point at);

/// What a colour means; colours.h says how each looks on light and dark grounds.
enum class Role : std::uint8_t {
    none,
    window,  ///< behind a picture
    plot,    ///< behind a plot or a lane
    grid,
    axis,
    text,
    muted,        ///< less important text
    pointed_out,  ///< what the picture is about
    other,        ///< what it is compared with
    misfit,       ///< does not fit
    beaten,       ///< another is better in all respects
    waiting,      ///< compute waits; a shortage
    family,       ///< index: a Family of operations
    memory,       ///< index: a MemoryKind
    series,       ///< index: one after another
    scale         ///< share: from 0, the least, to 1, the most
};

struct Paint {
    Role role = Role::none;
    int index = 0;
    double share = 0;
    double opacity = 1;
    bool text_on = false;  ///< black or white instead, whichever is legible on that colour
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
    bool upright = false;  ///< from the bottom to the top
};
/// Diagonal lines; those of neighbouring boxes meet.
struct Hatching {
    Box box;
    double spacing = 8;
};

constexpr int kNoId = -1;

struct Shape {
    std::variant<Rectangle, Path, Disc, Words, Hatching> form;
    Paint fill = {};    ///< of words: their colour
    Paint stroke = {};  ///< of words: a halo around the letters
    double stroke_width = 1;
    bool dashed = false;
    int id = kNoId;            ///< which of the chart's things it belongs to
    std::string tooltip = {};  ///< lines
};

/// Which thing comes after which when arrow keys select.
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

/// The room that a chart is given, in pixels, and the size of its letters.
struct PictureSpace {
    double width = 1000;
    double height = 0;  ///< what lies beyond the chart's least height stays empty or is filled
    double font = 13;
};

struct Picture {
    double width = 0, height = 0;
    std::string title, description;  ///< for people who do not see it
    std::vector<Shape> shapes;       ///< the last lies on top
    KeyOrder keys;
    double reach = 0;  ///< a thing is meant from so many pixels away

    void add(std::vector<Shape> more) {
        shapes.insert(shapes.end(), std::make_move_iterator(more.begin()),
                      std::make_move_iterator(more.end()));
    }
    void rectangle(Box box, Paint fill, int id = kNoId, std::string tooltip = "");
    void outline(Box box, Paint stroke, double thickness = 1);
    void line(Point from, Point to, Paint stroke, double thickness = 1, bool dashed = false);
    void words(Point at, std::string text, double size, Paint colour = paint(Role::text),
               Anchor anchor = Anchor::start, bool bold = false);
    /// With a halo in the colour of the ground, to be read across lines.
    void label(Point at, std::string text, double size, Paint colour = paint(Role::text),
               Anchor anchor = Anchor::start);
    void hatching(Box box, Paint stroke, double spacing = 8);
};

/// Pixels that a sans-serif font of `size` pixels takes at most for ordinary text. Fonts differ: on
/// the safe side.
double text_width(std::string_view text, double size);
/// The smallest box around a shape; of words as wide as text_width() says.
Box box_of(const Shape& shape);
/// Of the first shape with this id, which is the place of the thing; nothing where there is none.
std::optional<Box> place_of(const Picture& picture, int id);
/// The topmost thing at that point, or else the nearest within the picture's reach; kNoId: none.
int id_at(const Picture& picture, Point at);
/// What is said there: the tooltip of the topmost shape that has one, or of the thing within reach.
std::string tooltip_at(const Picture& picture, Point at);
/// All that is said of a thing; empty where nothing is.
std::string tooltip_of(const Picture& picture, int id);
/// The lines of a hatching, from end to end.
std::vector<std::pair<Point, Point>> hatching_lines(const Hatching& hatching);

}  // namespace sluice
