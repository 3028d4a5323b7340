// The table at the peak, the device over a step, the host's moments.
#include <algorithm>

#include "planner-gui/pictures/memory_drawing.h"
#include "sim/report/timeline_picture.h"

namespace sluice {

std::string MemoryDrawing::cell(const Row& row, const MemoryStack& stack) const {
    const auto segment = std::ranges::find(stack.segments, row.name, &MemorySegment::name);
    return segment == stack.segments.end() ? "-" : bytes(segment->bytes);
}

double MemoryDrawing::column_width(const MemoryStack& stack) const {
    double wide =
        std::max(text_width(stack.name.toStdString(), font_), text_width(bytes(stack.used), font_));
    for (const Row& row : rows_) wide = std::max(wide, text_width(cell(row, stack), font_));
    return wide + line_;
}

double MemoryDrawing::names_width() const {
    double wide = 0;
    for (const Row& row : rows_) wide = std::max(wide, text_width(row.name.toStdString(), font_));
    return wide + 1.5 * line_;
}

double MemoryDrawing::table_width() const {
    double wide = names_width();
    for (const MemoryStack& stack : stacks_) wide += column_width(stack);
    return wide;
}

void MemoryDrawing::draw_table(Point top_left) {
    double y = top_left.y + font_;
    const auto columns = [&](auto text, bool bold) {
        double right = top_left.x + names_width();
        for (const MemoryStack& stack : stacks_) {
            right += column_width(stack);
            out_.words({right, y}, text(stack), font_, paint(Role::text), Anchor::end, bold);
        }
    };
    out_.words({top_left.x, y}, "at the peak", font_, paint(Role::text), Anchor::start, true);
    columns([](const MemoryStack& stack) { return stack.name.toStdString(); }, true);
    for (const Row& row : rows_) {
        y += kRow * line_;
        out_.rectangle({top_left.x, y - 0.85 * font_, font_, font_}, row.colour);
        out_.words({top_left.x + 1.2 * line_, y}, row.name.toStdString(), font_);
        columns([&](const MemoryStack& stack) { return cell(row, stack); }, false);
    }
    y += kRow * line_;
    out_.line({top_left.x, y - 1.2 * font_}, {top_left.x + table_width(), y - 1.2 * font_},
              paint(Role::grid));
    out_.words({top_left.x + 1.2 * line_, y}, "all", font_, paint(Role::text), Anchor::start, true);
    columns([&](const MemoryStack& stack) { return bytes(stack.used); }, true);
}

void MemoryDrawing::draw_curve(const Box& plot, double title_x) {
    const Bytes most = most_memory(curve_).bytes;
    std::string more = "most " + bytes(most);
    if (!memory_changes(report_, Tier::device))
        more += "; this schedule plans it for the whole step";
    title({title_x, plot.y - kTitle * line_}, QStringLiteral("device over a step"), more,
          paint(Role::muted));
    out_.rectangle(plot, paint(Role::plot));
    const auto full = static_cast<Bytes>(
        kRoom *
        static_cast<double>(std::max({most, report_.plan.fit.device.peak.bytes, Bytes{1}})));
    const Axis levels = byte_axis(full, plot.height, 2.5 * line_);
    add_vertical_axis(
        out_, plot, levels, [this](double at) { return tick(at); }, font_);
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

void MemoryDrawing::curve_areas(const Box& plot, const Axis& levels) {
    const auto y = [&](Bytes count) {
        return plot.bottom() - levels.share(static_cast<double>(count)) * plot.height;
    };
    const int columns = std::max(1, static_cast<int>(plot.width));
    const std::vector<MemoryMoment> shown = curve_columns(curve_, report_.step.seconds, columns);
    const auto x = [&](std::size_t column) {
        return plot.x + static_cast<double>(column) / columns * plot.width;
    };
    // Each kind down to the axis, the topmost first: whole areas, without seams between columns.
    for (int kind = kMemoryKindCount - 1; kind >= 0; --kind) {
        Path area{{{plot.x, plot.bottom()}}, true};
        bool any = false;
        for (std::size_t i = 0; i < shown.size(); ++i) {
            Bytes level = 0;
            for (int below = 0; below <= kind; ++below)
                level += shown[i].by_kind[static_cast<std::size_t>(below)];
            any = any || shown[i].by_kind[static_cast<std::size_t>(kind)] > 0;
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
    const Bytes usable = report_.plan.fit.device.usable;
    for (std::size_t i = 0; i < shown.size();) {
        const std::size_t from = i;
        while (i < shown.size() && shown[i].bytes == shown[from].bytes) ++i;
        if (shown[from].bytes > usable)
            lacking(
                {x(from), y(shown[from].bytes), x(i) - x(from), y(usable) - y(shown[from].bytes)});
    }
    if (static_cast<double>(usable) <= levels.high)
        out_.line({plot.x, y(usable)}, {plot.right(), y(usable)}, paint(Role::text), 3);
}

/// Places that say what the device holds then.
void MemoryDrawing::curve_hundredths(const Box& plot) {
    constexpr int kPlaces = 100;
    out_.keys.along = KeyOrder::Along::right;
    for (int i = 0; i < kPlaces; ++i) {
        const Seconds time = report_.step.seconds * i / kPlaces;
        const MemoryMoment& moment = moment_at(curve_, time);
        std::string words = "at " + format_seconds(time);
        for (int kind = kMemoryKindCount - 1; kind >= 0; --kind)
            if (const Bytes of_kind = moment.by_kind[static_cast<std::size_t>(kind)]; of_kind > 0)
                words += std::string("\n") + memory_kind_name(static_cast<MemoryKind>(kind)) +
                         ": " + bytes(of_kind);
        words += "\nall: " + bytes(moment.bytes);
        out_.rectangle(
            {plot.x + plot.width * i / kPlaces, plot.y, plot.width / kPlaces, plot.height}, {}, i,
            words);
        out_.keys.ids.push_back(i);
    }
}

void MemoryDrawing::draw_host(const Box& area) {
    const std::vector<HostBar> bars = host_bars(report_);
    const Bytes usable = report_.plan.unified_memory ? 0 : report_.plan.fit.host.usable;
    double names = 0, values = 0;
    Bytes full = std::max<Bytes>(usable, 1);
    for (const HostBar& bar : bars) {
        names = std::max(names, text_width(bar.name.toStdString(), font_));
        values = std::max(values, text_width(bytes(bar.bytes), font_));
        full = std::max(full, bar.bytes);
    }
    title({area.x, area.y - kTitle * line_}, QStringLiteral("host, from loading to saving"),
          report_.plan.unified_memory ? "without the device's part" : "", paint(Role::muted));
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
        const HostBar& bar = bars[i];
        const Box row{left, area.y + pitch * static_cast<double>(i), width, 0.72 * pitch};
        const double base = baseline(row.centre().y, font_);
        const bool lacks = usable > 0 && bar.bytes > usable;
        out_.words({left - font_ / 2, base}, bar.name.toStdString(), font_, paint(Role::text),
                   Anchor::end);
        out_.rectangle(
            row, paint(Role::plot), kNoId,
            bar.name.toStdString() + "\nhost: " + bytes(bar.bytes) +
                (bar.what.isEmpty() ? "" : "\nbeyond the steady state: " + bar.what.toStdString()));
        out_.rectangle(part(row, 0, bar.bytes), paint(Role::pointed_out));
        if (lacks) lacking(part(row, usable, bar.bytes));
        if (usable > 0) {
            const double there = part(row, 0, usable).right();
            out_.line({there, row.y - 2}, {there, row.bottom() + 2}, paint(Role::text), 3);
        }
        out_.words({row.right() + font_ / 2, base}, bytes(bar.bytes), font_,
                   paint(lacks ? Role::waiting : Role::text));
    }
    if (usable > 0)
        add_paragraph(out_, {area.x, area.y + pitch * static_cast<double>(bars.size())}, area.width,
                      "Thick line: what there is for the plan, " + bytes(usable), font_,
                      paint(Role::muted));
}

}  // namespace sluice
