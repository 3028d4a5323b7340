// The bars of the memory picture at the peak, and the table that is their legend.
#include "planner-gui/pictures/memory_pen.h"
#include "sim/base/format.h"
#include "sim/report/colours.h"

namespace sluice {
namespace {

// In lines of text: a row of the table, the lowest and the highest bar.
constexpr double kRow = 1.35, kPeakBar = 1.9, kMostBar = 3.2;

/// A row of the table: its name, and its bytes in each stack.
struct PeakRow {
    std::vector<std::string> cells;
    Paint colour = {};
    bool bold = false;
};

class PeaksDrawing {
  public:
    PeaksDrawing(MemoryPen& pen, const std::vector<MemoryStack>& stacks, const NamedColours& names)
        : pen_(pen), out_(pen.out), font_(pen.font), line_(pen.line), stacks_(stacks) {
        make_table(names);
    }

    double draw(double top) {
        const double margin = font_ / 2, table = table_width();
        const double table_height = kRow * line_ * static_cast<double>(rows_.size());
        const double around = (kPartTitle + kPartAxis + kPartGap) * line_;
        const double bar_height =
            std::clamp(table_height / static_cast<double>(stacks_.size()) - around,
                       kPeakBar * line_, kMostBar * line_);
        const double bars_width = std::max(1.0, out_.width - table - 2 * margin - 2.5 * line_);
        double y = top;
        for (const MemoryStack& stack : stacks_) {
            bar(stack, {margin, y + kPartTitle * line_, bars_width, bar_height});
            y += around + bar_height;
            out_.description += stack.name + ": " + stack.words(pen_.units) + ". ";
        }
        draw_table({out_.width - margin - table, top});
        return std::max(y, top + table_height + kPartGap * line_);
    }

  private:
    void bar(const MemoryStack& stack, const Box& plot) {
        const Bytes full =
            std::max({stack.capacity, stack.used + stack.capacity - stack.usable, Bytes{1}});
        const Axis axis = pen_.byte_axis(full, plot.width, 8 * font_);
        const auto x = [&](Bytes count) {
            return plot.x + axis.share(static_cast<double>(count)) * plot.width;
        };
        const auto part = [&](Bytes from, Bytes to) {
            return Box{x(from), plot.y, x(to) - x(from), plot.height};
        };
        const bool lacks = stack.shortage() > 0;
        pen_.title({plot.x, plot.y - kPartTitle * line_}, stack.name, stack.words(pen_.units),
                   paint(lacks ? Role::waiting : Role::muted));
        const Bytes free = std::max<Bytes>(0, stack.usable - stack.used);
        out_.rectangle(plot, paint(Role::plot), kNoId,
                       "free\n" + stack.name + ": " + pen_.bytes(free));
        add_horizontal_axis(out_, {plot.x, plot.bottom(), plot.width, font_ / 4}, axis,
                            pen_.tick_label(), font_);
        for (const MemorySegment& segment : stack.segments) {
            Box box = part(segment.from, segment.from + segment.bytes);
            box.width = std::max(1.0, box.width);
            const double share = static_cast<double>(segment.bytes) /
                                 static_cast<double>(std::max<Bytes>(stack.used, 1));
            out_.rectangle(box, segment.colour, kNoId,
                           segment.name + "\n" + stack.name + ": " + pen_.bytes(segment.bytes) +
                               "\nof all: " + format_percent(share));
            if (box.width > 3)
                out_.line({box.right(), box.y}, {box.right(), box.bottom()}, paint(Role::window));
        }
        if (lacks) {
            pen_.lacking(part(stack.usable, stack.used));
            out_.outline(part(stack.usable, stack.used), paint(Role::waiting), 2);
        } else if (stack.usable > 0 && stack.capacity > stack.usable) {
            const Box beyond = part(stack.usable, stack.capacity);
            out_.rectangle(beyond, {}, kNoId,
                           "not available to the plan\nCUDA context, system, or beyond a budget: " +
                               pen_.bytes(stack.capacity - stack.usable));
            out_.hatching(beyond, paint(Role::axis));
        }
        for (const MemorySegment& segment : stack.segments) {
            Box box = part(segment.from, segment.from + segment.bytes);
            // The label is in the larger part if the line of available memory crosses it.
            const double there = x(stack.usable), end = box.right();
            if (lacks && box.x < there && there < end) {
                if (2 * there <= box.x + end) box.x = there;
                box.width = (2 * there > box.x + end ? there : end) - box.x;
            }
            name_on(box, segment);
        }
        if (stack.usable > 0)
            out_.line({x(stack.usable), plot.y - 0.25 * line_},
                      {x(stack.usable), plot.bottom() + 0.15 * line_}, paint(Role::text), 3);
    }

    /// Labels a part that is wide enough; legible on hatching.
    void name_on(const Box& box, const MemorySegment& segment) {
        const double wide = text_width(segment.name, font_) + font_ / 2;
        if (wide > box.width) return;
        const Point middle = box.centre();
        out_.rectangle({middle.x - wide / 2, middle.y - 0.7 * font_, wide, 1.4 * font_},
                       segment.colour);
        out_.words({middle.x, baseline(middle.y, font_)}, segment.name, font_,
                   text_on(segment.colour), Anchor::middle);
    }

    void make_table(const NamedColours& names) {
        rows_.push_back({{"at the peak"}, {}, true});
        for (const MemoryStack& stack : stacks_) rows_.front().cells.push_back(stack.name);
        for (const auto& [name, colour] : names) {
            PeakRow& row = rows_.emplace_back(PeakRow{{name}, colour});
            for (const MemoryStack& stack : stacks_) {
                const auto found = std::ranges::find(stack.segments, name, &MemorySegment::name);
                row.cells.push_back(found == stack.segments.end() ? "-" : pen_.bytes(found->bytes));
            }
        }
        PeakRow& all = rows_.emplace_back(PeakRow{{"all"}, {}, true});
        for (const MemoryStack& stack : stacks_) all.cells.push_back(pen_.bytes(stack.used));
    }

    double column_width(std::size_t column) const {
        double wide = 0;
        for (const PeakRow& row : rows_)
            wide = std::max(wide, text_width(row.cells[column], font_));
        return wide + (column == 0 ? 1.5 : 1) * line_;
    }
    double table_width() const {
        double wide = 0;
        for (std::size_t i = 0; i <= stacks_.size(); ++i) wide += column_width(i);
        return wide;
    }

    void draw_table(Point top_left) {
        double y = top_left.y + font_;
        for (const PeakRow& row : rows_) {
            const bool head = &row == &rows_.front();
            if (row.colour.role != Role::none)
                out_.rectangle({top_left.x, y - 0.85 * font_, font_, font_}, row.colour);
            out_.words({top_left.x + (head ? 0 : 1.2 * line_), y}, row.cells[0], font_,
                       paint(Role::text), Anchor::start, row.bold);
            double right = top_left.x + column_width(0);
            for (std::size_t i = 1; i < row.cells.size(); ++i) {
                right += column_width(i);
                out_.words({right, y}, row.cells[i], font_, paint(Role::text), Anchor::end,
                           row.bold);
            }
            if (&row == &rows_.back())
                out_.line({top_left.x, y - 1.2 * font_}, {right, y - 1.2 * font_},
                          paint(Role::grid));
            y += kRow * line_;
        }
    }

    MemoryPen& pen_;
    Picture& out_;
    const double font_, line_;
    const std::vector<MemoryStack>& stacks_;
    std::vector<PeakRow> rows_;
};

}  // namespace

double draw_peaks(MemoryPen& pen, double top, const std::vector<MemoryStack>& stacks,
                  const NamedColours& names) {
    return PeaksDrawing(pen, stacks, names).draw(top);
}

}  // namespace sluice
