#include "sim/report/timeline_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "sim/base/format.h"
#include "sim/report/chart_parts.h"
#include "sim/report/operation_facts.h"
#include "sim/report/picture.h"

namespace sluice {
namespace {

// Heights in lines of text: a row; the gap between lanes; the gap between a lane's predicted and
// measured row; the axis.
constexpr double kLeastRow = 2.2, kMostRow = 14, kGroupGap = 0.55, kPairGap = 0.08, kAxis = 1.9;
// Pixels.
constexpr double kShortest = 0.5;  // shorter blocks are drawn together
constexpr double kOutlined = 3;    // narrower blocks would consist of their outline
// Narrow neighbours overlap, since smoothed edges would look like pauses.
constexpr double kOverlap = 0.5;
constexpr double kFaintest = 0.25;  // opacity of several operations drawn as one
constexpr double kExposedPart =
    0.3;  // share of a row's height that is hatched while compute waits for it
constexpr const char* kNote =
    "The step repeats: blocks cut at one edge continue at the other. Exposed: compute "
    "waits for that lane. Point at a block to see its times and bytes.";

std::string row_title(const Timeline& timeline, const TimelineRow& row) {
    const std::string lane = lane_words(row.lane);
    if (!timeline.has_measured()) return lane;
    return lane + (row.measured_below ? " measured" : " predicted");
}

double waiting_share(const TimelineRow& row) {
    const LaneTime& time = row.time();
    return (row.lane.work == Work::compute ? time.idle : time.exposed) / row.report->step.seconds;
}

std::string row_words(const TimelineRow& row) {
    return fmt::format("{} busy, {} {}", format_percent(row.time().busy / row.report->step.seconds),
                       format_percent(waiting_share(row)),
                       row.lane.work == Work::compute ? "waits" : "exposed");
}

std::vector<LegendEntry> legend(const Timeline& timeline) {
    std::array<bool, kFamilyCount> used{};
    for (const TimelineRow& row : timeline.rows())
        for (const Block& block : row.blocks) used[static_cast<std::size_t>(block.family)] = true;
    std::vector<LegendEntry> entries;
    for (int i = 0; i < kFamilyCount; ++i)
        if (used[static_cast<std::size_t>(i)])
            entries.push_back(
                {family_name(static_cast<Family>(i)), family_paint(static_cast<Family>(i))});
    entries.push_back({"compute waits; at a lane's foot: for that lane", paint(Role::waiting),
                       LegendEntry::Mark::hatched});
    return entries;
}

double add_timeline_header(Picture& picture, const TimelineHeader& header, double font) {
    double y = add_header(picture, header.title, "", font);
    for (const std::string& line : header.lines)
        y = add_paragraph(picture, {font, y}, picture.width - 2 * font, line, font);
    return y + font;
}

class TimelineDrawing {
  public:
    TimelineDrawing(const Timeline& timeline, const PictureSpace& space, const TimelineShown& shown)
        : timeline_(timeline),
          shown_(shown),
          font_(space.font),
          layout_(timeline_layout(timeline, space, shown)),
          begin_(shown.begin),
          end_(shown.end > 0 ? shown.end : timeline.length()) {
        out_.width = space.width;
        out_.height = std::max(layout_.height, space.height);
        out_.title = "Timeline of a step";
        if (shown.header) add_timeline_header(out_, *shown.header, font_);
    }

    Picture draw() {
        if (timeline_.empty()) return std::move(out_);
        for (std::size_t row = 0; row < timeline_.rows().size(); ++row) ground(row);
        axis();
        for (std::size_t row = 0; row < timeline_.rows().size(); ++row) {
            label(row);
            if (timeline_.rows()[row].lane.work == Work::compute) waits(row);
            blocks(row);
            if (timeline_.rows()[row].lane.work != Work::compute) waits(row);
        }
        out_.add(std::move(inside_.shapes));
        if (shown_.hovered && shown_.hovered != shown_.selected)
            outline(*shown_.hovered, paint(Role::muted), 1);
        if (shown_.selected) {
            dependency(*shown_.selected);
            outline(*shown_.selected, paint(Role::text), 2.5);
        }
        const double width = out_.width - 2 * font_;
        const double y =
            add_legend(out_, legend(timeline_), {font_, layout_.legend_y}, width, font_);
        if (shown_.header) add_paragraph(out_, {font_, y}, width, kNote, font_, paint(Role::muted));
        return std::move(out_);
    }

  private:
    double x(Seconds time) const {
        return layout_.plot_left + (time - begin_) / (end_ - begin_) * layout_.plot_width;
    }
    double right() const { return layout_.plot_left + layout_.plot_width; }
    Seconds seconds_of(double pixels) const {
        return pixels / layout_.plot_width * (end_ - begin_);
    }
    /// The part within the plot.
    Box extent(std::size_t row, Seconds start, Seconds end) const {
        const double from = std::clamp(x(start), layout_.plot_left, right());
        const double to = std::clamp(x(end), layout_.plot_left, right());
        return {from, layout_.row_tops[row], to - from, layout_.row_height};
    }

    void ground(std::size_t row) {
        out_.rectangle(extent(row, begin_, timeline_.rows()[row].report->step.seconds),
                       paint(Role::plot));
    }

    void label(std::size_t row) {
        const TimelineRow& of = timeline_.rows()[row];
        const double middle = layout_.row_tops[row] + layout_.row_height / 2;
        out_.words({0.7 * font_, middle - 0.25 * font_}, row_title(timeline_, of), font_,
                   paint(Role::text), Anchor::start, true);
        out_.words({0.7 * font_, middle + 1.05 * font_}, row_words(of), 0.92 * font_,
                   paint(waiting_share(of) > 0.01 ? Role::waiting : Role::muted));
    }

    void axis() {
        const TimeTicks ticks = time_ticks(
            begin_, end_, std::max(2, static_cast<int>(layout_.plot_width / (6 * font_))));
        const double base = layout_.axis_y + 1.6 * font_;
        for (const TimeTick& tick : ticks.ticks) {
            const double at = x(tick.time);
            out_.line({at, layout_.row_tops.front()}, {at, layout_.axis_y + 0.4 * font_},
                      paint(Role::grid));
            const double wide = text_width(tick.label, font_);
            out_.words({std::min(at, out_.width - wide / 2), base}, tick.label, font_,
                       paint(Role::muted), Anchor::middle);
        }
        out_.words({0.7 * font_, base}, fmt::format("time in {}", ticks.unit), font_,
                   paint(Role::muted));
    }

    void blocks(std::size_t row) {
        const TimelineRow& of = timeline_.rows()[row];
        const double small = 0.85 * font_;
        const std::vector<Block> drawn =
            timeline_.visible(row, begin_, end_, seconds_of(kShortest));
        for (std::size_t i = 0; i < drawn.size(); ++i) {
            const Block& block = drawn[i];
            Box box = extent(row, block.start, block.end);
            const bool outlined = box.width >= kOutlined;
            const Seconds next = i + 1 < drawn.size() ? drawn[i + 1].start : block.end;
            const std::string inside = text_inside(*of.report, block, small, box.width - 4);
            if (!outlined && next - block.end < seconds_of(kShortest / 10)) box.width += kOverlap;
            const double share = block.busy / (block.end - block.start);
            Paint fill = family_paint(block.family);
            fill.opacity = share < 0.99 ? std::max(share, kFaintest) : 1;
            out_.rectangle(box, fill, kNoId,
                           shown_.tooltips ? facts_lines(block_facts(of, block)) : "");
            if (outlined) {
                out_.shapes.back().stroke = paint(Role::window);
                out_.shapes.back().stroke_width = 0.6;
            }
            inside_.words({box.centre().x, baseline(box.centre().y, small)}, inside, small,
                          text_on(family_paint(block.family)), Anchor::middle);
        }
    }

    /// Waits of compute cover the row below its operations; waits for other lanes are at the foot.
    void waits(std::size_t row) {
        const TimelineRow& of = timeline_.rows()[row];
        const bool compute = of.lane.work == Work::compute;
        for (const WaitBlock& wait :
             timeline_.visible_waits(row, begin_, end_, seconds_of(kShortest))) {
            Box box = extent(row, wait.start, wait.end);
            if (!compute) {
                box.y += (1 - kExposedPart) * box.height;
                box.height *= kExposedPart;
            }
            const bool outlined = box.width >= kOutlined;
            out_.rectangle(box, paint(outlined ? Role::window : Role::waiting), kNoId,
                           compute && shown_.tooltips ? facts_lines(wait_facts(of, wait)) : "");
            if (!outlined) continue;
            out_.shapes.back().stroke = paint(Role::waiting);
            out_.hatching(box, paint(Role::waiting));
        }
    }

    void outline(TimelinePlace place, Paint stroke, double width, bool dashed = false) {
        const Block& block = timeline_.block(place);
        if (block.end <= begin_ || block.start >= end_) return;
        Box box = extent(place.row, block.start, block.end).inset(width / 2);
        box.width = std::max(1.0, box.width);
        out_.outline(box, stroke, width);
        out_.shapes.back().dashed = dashed;
    }

    /// The operation that the selected one waited for last, and a line from it.
    void dependency(TimelinePlace selected) {
        const TimelineRow& row = timeline_.rows()[selected.row];
        const OperationId cause = last_wait(*row.report, timeline_.operation(selected));
        if (cause < 0) return;
        for (std::size_t i = 0; i < timeline_.rows().size(); ++i) {
            const TimelineRow& other = timeline_.rows()[i];
            if (other.lane != row.operation(cause).lane || other.report != row.report) continue;
            const auto at = std::ranges::find(other.blocks, cause, &Block::first);
            if (at == other.blocks.end()) return;
            outline({i, static_cast<std::size_t>(at - other.blocks.begin())}, paint(Role::text),
                    1.5, true);
            arrow(i, at->end, selected.row, timeline_.block(selected).start);
            return;
        }
    }
    /// The part within the plot.
    void arrow(std::size_t from_row, Seconds from, std::size_t to_row, Seconds to) {
        if (from > to || to <= begin_ || from >= end_)
            return;  // in the step before; not in the picture
        const double middle = layout_.row_height / 2;
        const Point a{x(from), layout_.row_tops[from_row] + middle};
        const Point b{x(to), layout_.row_tops[to_row] + middle};
        const auto at = [&](double cut) {
            const double share = b.x > a.x ? (cut - a.x) / (b.x - a.x) : 0;
            return Point{cut, a.y + share * (b.y - a.y)};
        };
        out_.line(a.x < layout_.plot_left ? at(layout_.plot_left) : a,
                  b.x > right() ? at(right()) : b, paint(Role::text), 1, true);
    }

    const Timeline& timeline_;
    const TimelineShown& shown_;
    const double font_;
    const TimelineLayout layout_;
    const Seconds begin_, end_;
    Picture out_;
    Picture inside_;  // labels of blocks, drawn above all blocks
};

}  // namespace

std::optional<std::size_t> TimelineLayout::row_at(double y) const {
    for (std::size_t i = 0; i < row_tops.size(); ++i)
        if (y >= row_tops[i] && y < row_tops[i] + row_height) return i;
    return std::nullopt;
}

TimelineLayout timeline_layout(const Timeline& timeline, const PictureSpace& space,
                               const TimelineShown& shown) {
    const double font = space.font, line = line_height(font);
    double labels = 0;
    for (const TimelineRow& row : timeline.rows())
        labels = std::max({labels, 1.05 * text_width(row_title(timeline, row), font),
                           text_width(row_words(row), 0.92 * font)});
    TimelineLayout layout;
    layout.plot_left = std::ceil(labels + 1.5 * font);
    layout.plot_width = std::max(1.0, space.width - layout.plot_left - 1.3 * font);
    Picture unused;
    unused.width = space.width;
    if (shown.header) layout.header = add_timeline_header(unused, *shown.header, font);
    const double width = space.width - 2 * font;
    const double foot = add_legend(unused, legend(timeline), {}, width, font) +
                        (shown.header ? add_paragraph(unused, {}, width, kNote, font) : 0);
    const auto gap = [&](std::size_t row) {
        const bool pair = row > 0 && timeline.rows()[row].lane == timeline.rows()[row - 1].lane;
        return row == 0 ? 0 : std::max(1.0, std::round(line * (pair ? kPairGap : kGroupGap)));
    };
    double gaps = 0;
    for (std::size_t row = 0; row < timeline.rows().size(); ++row) gaps += gap(row);
    const auto rows = static_cast<double>(std::max<std::size_t>(1, timeline.rows().size()));
    const double rest = layout.header + kAxis * line + foot + line;
    layout.row_height = std::floor(
        std::clamp((space.height - rest - gaps) / rows, kLeastRow * line, kMostRow * line));
    double y = std::round(layout.header + line / 2);
    for (std::size_t row = 0; row < timeline.rows().size(); ++row) {
        y += gap(row);
        layout.row_tops.push_back(y);
        y += layout.row_height;
    }
    layout.axis_y = y;
    layout.legend_y = y + kAxis * line;
    layout.height = layout.legend_y + foot + line / 2;
    return layout;
}

Picture timeline_picture(const Timeline& timeline, const PictureSpace& space,
                         const TimelineShown& shown) {
    return TimelineDrawing(timeline, space, shown).draw();
}

}  // namespace sluice
