// The memory picture: bars at the peak, device memory over a step, host memory from loading to
// saving.
#include "planner-gui/pictures/memory_pen.h"
#include "sim/base/format.h"
#include "sim/report/colours.h"
#include "sim/report/timeline_picture.h"

namespace sluice {
namespace {

constexpr double kLeastCurve = 9;    // lines of text
constexpr double kRoom = 1.12;       // room above the curve's peak
constexpr double kCurveShare = 0.6;  // share of the width
constexpr int kPlaces = 100;         // columns of the curve, each with its tooltip

std::size_t index_of(int kind) { return static_cast<std::size_t>(kind); }

/// Kinds at the peaks of the stacks, and kinds that only occur later on the device.
NamedColours kinds_shown(const std::vector<MemoryStack>& stacks,
                         const std::vector<MemoryMoment>& curve) {
    NamedColours names;
    const auto at_peak = [&](const std::string& name) {
        return std::ranges::any_of(stacks, [&](const MemoryStack& stack) {
            return std::ranges::find(stack.segments, name, &MemorySegment::name) !=
                   stack.segments.end();
        });
    };
    for (int kind = 0; kind < kMemoryKindCount; ++kind) {
        const std::string name = memory_kind_name(static_cast<MemoryKind>(kind));
        const bool later = std::ranges::any_of(
            curve, [&](const MemoryMoment& moment) { return moment.by_kind[index_of(kind)] > 0; });
        if (at_peak(name) || later)
            names.emplace_back(name, memory_paint(static_cast<MemoryKind>(kind)));
    }
    for (const MemoryStack& stack : stacks)
        for (const MemorySegment& segment : stack.segments)
            if (segment.colour.role != Role::memory)
                names.emplace_back(segment.name, segment.colour);
    return names;
}

class MemoryDrawing {
  public:
    MemoryDrawing(const TimedPlan& report, ByteUnits units, const PictureSpace& space)
        : report_(report),
          pen_{units, space.font, line_height(space.font)},
          out_(pen_.out),
          font_(pen_.font),
          line_(pen_.line),
          curve_(device_over_step(report)) {
        out_.width = space.width;
        out_.height = space.height;
        out_.title = "Memory of " + report.asked.model_name + " on " + report.asked.machine_name;
    }

    Picture draw() {
        const double margin = font_ / 2;
        const std::vector<MemoryStack> stacks = memory_stacks(report_);
        const double y = draw_peaks(pen_, margin, stacks, kinds_shown(stacks, curve_));
        const double rest = out_.height - y - (kPartTitle + kPartAxis) * line_ - margin;
        const double lower = std::max(kLeastCurve * line_, rest);
        const double axis_labels = text_width("0000.0 GiB", font_) + font_ / 2;
        double split = margin;
        if (!curve_.empty()) {
            split = std::round(out_.width * kCurveShare);
            curve({margin + axis_labels, y + kPartTitle * line_,
                   std::max(1.0, split - 2 * line_ - margin - axis_labels), lower},
                  margin);
        }
        host({split, y + kPartTitle * line_, std::max(1.0, out_.width - margin - split), lower});
        out_.height = std::max(out_.height, y + (kPartTitle + kPartAxis) * line_ + lower + margin);
        return std::move(out_);
    }

  private:
    void curve(const Box& plot, double title_x) {
        const Bytes most = most_memory(curve_).bytes;
        const Bytes peak = report_.plan.fit.device().peak.bytes;
        std::string more = "most " + pen_.bytes(std::min(most, peak));
        if (most > peak)  // memory is taken in the program's order, see memory_over_step()
            more += "; drawn above it: transfers that begin before their place is free";
        if (!memory_changes(report_, Tier::device))
            more += "; this schedule plans it for the whole step";
        pen_.title({title_x, plot.y - kPartTitle * line_}, "device over a step", more,
                   paint(Role::muted));
        out_.rectangle(plot, paint(Role::plot));
        const auto full = static_cast<Bytes>(
            kRoom *
            static_cast<double>(std::max({most, report_.plan.fit.device().peak.bytes, Bytes{1}})));
        const Axis levels = pen_.byte_axis(full, plot.height, 2.5 * line_);
        add_vertical_axis(out_, plot, levels, pen_.tick_label(), font_);
        const TimeTicks ticks = time_ticks(0, report_.step.seconds,
                                           std::max(2, static_cast<int>(plot.width / (5 * font_))));
        const double base = plot.bottom() + 1.5 * font_;
        for (const TimeTick& at : ticks.ticks) {
            const double x = plot.x + at.time / report_.step.seconds * plot.width;
            out_.line({x, plot.bottom()}, {x, plot.bottom() + font_ / 3}, paint(Role::grid));
            out_.words({x, base}, at.label, font_, paint(Role::muted), Anchor::middle);
        }
        out_.words({plot.x - line_, base}, std::string("time, ") + ticks.unit, font_,
                   paint(Role::muted), Anchor::end);
        curve_areas(plot, levels);
        curve_hundredths(plot);
    }

    void curve_areas(const Box& plot, const Axis& levels) {
        const auto y = [&](Bytes count) {
            return plot.bottom() - levels.share(static_cast<double>(count)) * plot.height;
        };
        const int columns = std::max(1, static_cast<int>(plot.width));
        const std::vector<MemoryMoment> shown =
            curve_columns(curve_, report_.step.seconds, columns);
        const auto x = [&](std::size_t column) {
            return plot.x + static_cast<double>(column) / columns * plot.width;
        };
        // Each kind down to the axis, the topmost first: whole areas have no gaps between columns.
        for (int kind = kMemoryKindCount - 1; kind >= 0; --kind) {
            Path area{{{plot.x, plot.bottom()}}, true};
            bool any = false;
            for (std::size_t i = 0; i < shown.size(); ++i) {
                Bytes level = 0;
                for (int below = 0; below <= kind; ++below)
                    level += shown[i].by_kind[index_of(below)];
                any = any || shown[i].by_kind[index_of(kind)] > 0;
                if (area.points.back().y == y(level)) continue;
                area.points.push_back({x(i), area.points.back().y});
                area.points.push_back({x(i), y(level)});
            }
            area.points.push_back({plot.right(), area.points.back().y});
            area.points.push_back({plot.right(), plot.bottom()});
            if (any)
                out_.shapes.push_back(
                    {.form = std::move(area), .fill = memory_paint(static_cast<MemoryKind>(kind))});
        }
        if (report_.plan.unified_memory) return;
        const Bytes usable = report_.plan.fit.device().usable;
        for (std::size_t i = 0; i < shown.size();) {
            const std::size_t from = i;
            while (i < shown.size() && shown[i].bytes == shown[from].bytes) ++i;
            if (shown[from].bytes > usable)
                pen_.lacking({x(from), y(shown[from].bytes), x(i) - x(from),
                              y(usable) - y(shown[from].bytes)});
        }
        if (static_cast<double>(usable) <= levels.high)
            out_.line({plot.x, y(usable)}, {plot.right(), y(usable)}, paint(Role::text), 3);
    }

    /// Areas whose tooltips say what the device holds at that time.
    void curve_hundredths(const Box& plot) {
        out_.keys.along = KeyOrder::Along::right;
        for (int i = 0; i < kPlaces; ++i) {
            const Seconds time = report_.step.seconds * i / kPlaces;
            const MemoryMoment& moment = moment_at(curve_, time);
            std::string words = "at " + format_seconds(time);
            for (int kind = kMemoryKindCount - 1; kind >= 0; --kind)
                if (const Bytes of_kind = moment.by_kind[index_of(kind)]; of_kind > 0)
                    words += std::string("\n") + memory_kind_name(static_cast<MemoryKind>(kind)) +
                             ": " + pen_.bytes(of_kind);
            words += "\nall: " + pen_.bytes(moment.bytes);
            out_.rectangle(
                {plot.x + plot.width * i / kPlaces, plot.y, plot.width / kPlaces, plot.height}, {},
                i, words);
            out_.keys.ids.push_back(i);
        }
    }

    void host(const Box& area) {
        const std::vector<HostMoment> bars = host_bars(report_);
        const Bytes usable = report_.plan.unified_memory ? 0 : report_.plan.fit.host().usable;
        double names = 0, values = 0;
        Bytes full = std::max<Bytes>(usable, 1);
        for (const HostMoment& bar : bars) {
            names = std::max(names, text_width(bar.name, font_));
            values = std::max(values, text_width(pen_.bytes(bar.bytes), font_));
            full = std::max(full, bar.bytes);
        }
        pen_.title({area.x, area.y - kPartTitle * line_}, "host, from loading to saving",
                   report_.plan.unified_memory ? "without the device's part" : "",
                   paint(Role::muted));
        const double pitch =
            std::min(3.2 * line_, area.height / std::max(1.0, static_cast<double>(bars.size())));
        const double left = area.x + names + font_ / 2;
        const double width = std::max(1.0, area.right() - left - values - line_);
        const auto part = [&](const Box& row, Bytes from, Bytes to) {
            const double a = static_cast<double>(from) / static_cast<double>(full);
            const double b = static_cast<double>(to) / static_cast<double>(full);
            return Box{row.x + a * width, row.y, (b - a) * width, row.height};
        };
        for (std::size_t i = 0; i < bars.size(); ++i) {
            const HostMoment& bar = bars[i];
            const Box row{left, area.y + pitch * static_cast<double>(i), width, 0.72 * pitch};
            const double base = baseline(row.centre().y, font_);
            const bool lacks = usable > 0 && bar.bytes > usable;
            out_.words({left - font_ / 2, base}, bar.name, font_, paint(Role::text), Anchor::end);
            out_.rectangle(row, paint(Role::plot), kNoId,
                           bar.name + "\nhost: " + pen_.bytes(bar.bytes) +
                               (bar.what.empty() ? "" : "\nbeyond the steady state: " + bar.what));
            out_.rectangle(part(row, 0, bar.bytes), paint(Role::pointed_out));
            if (lacks) pen_.lacking(part(row, usable, bar.bytes));
            if (usable > 0) {
                const double there = part(row, 0, usable).right();
                out_.line({there, row.y - 2}, {there, row.bottom() + 2}, paint(Role::text), 3);
            }
            out_.words({row.right() + font_ / 2, base}, pen_.bytes(bar.bytes), font_,
                       paint(lacks ? Role::waiting : Role::text));
        }
        if (usable > 0)
            add_paragraph(out_, {area.x, area.y + pitch * static_cast<double>(bars.size())},
                          area.width,
                          "Thick line: memory available to the plan, " + pen_.bytes(usable), font_,
                          paint(Role::muted));
    }

    const TimedPlan& report_;
    MemoryPen pen_;
    Picture& out_;
    const double font_, line_;
    const std::vector<MemoryMoment> curve_;  ///< of the device; empty if there are no times
};

}  // namespace

Picture memory_picture(const TimedPlan& report, ByteUnits units, const PictureSpace& space) {
    return MemoryDrawing(report, units, space).draw();
}

}  // namespace sluice
