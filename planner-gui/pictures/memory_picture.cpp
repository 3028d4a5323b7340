// What memory holds: bars, a table that is their legend, the device over a step, the host from
// loading to saving.
#include <algorithm>
#include <cmath>

#include "planner-gui/pictures/memory_drawing.h"

namespace sluice {

MemoryDrawing::MemoryDrawing(const TimedPlan& report, ByteUnits units, const PictureSpace& space)
    : report_(report),
      units_(units),
      font_(space.font),
      line_(line_height(space.font)),
      stacks_(memory_stacks(report)) {
    out_.width = space.width;
    out_.height = space.height;
    out_.title = "Memory of " + report.asked.model_name + " on " + report.asked.machine_name;
    if (report.step.seconds > 0 &&
        report.step.intervals.size() == report.plan.program.operations.size())
        curve_ = memory_over_step(report, Tier::device);
    for (int i = 0; i < kMemoryKindCount; ++i) {
        const auto kind = static_cast<MemoryKind>(i);
        const auto here = [&](const MemorySegment& segment) {
            return segment.what == MemorySegment::What::kind && segment.kind == kind;
        };
        const bool at_peak = std::ranges::any_of(stacks_, [&](const MemoryStack& stack) {
            return std::ranges::any_of(stack.segments, here);
        });
        const bool later = std::ranges::any_of(curve_, [&](const MemoryMoment& moment) {
            return moment.by_kind[static_cast<std::size_t>(i)] > 0;
        });
        if (at_peak || later)
            rows_.push_back({QString::fromUtf8(memory_kind_name(kind)), memory_paint(kind)});
    }
    for (const MemoryStack& stack : stacks_)
        for (const MemorySegment& segment : stack.segments)
            if (segment.what != MemorySegment::What::kind)
                rows_.push_back({segment.name, fill(segment)});
}

Paint MemoryDrawing::fill(const MemorySegment& segment) {
    return segment.what == MemorySegment::What::kind ? memory_paint(segment.kind)
                                                     : paint(Role::beaten);
}

std::string MemoryDrawing::bytes(Bytes count) const {
    return byte_text(static_cast<double>(count), units_).toStdString();
}

Axis MemoryDrawing::byte_axis(Bytes full, double room, double tick_room) const {
    // Ticks are round in the unit that is shown.
    const double base = units_ == ByteUnits::decimal ? 1000 : 1024;
    const double most = std::max(1.0, static_cast<double>(full));
    const double unit = std::pow(base, std::floor(std::log(most) / std::log(base)));
    Axis axis =
        linear_axis(0, most / unit, std::clamp(static_cast<int>(room / tick_room), 1, kMostTicks));
    axis.high = most;
    for (double& tick : axis.ticks) tick *= unit;
    return axis;
}

std::string MemoryDrawing::tick(double at) const {
    return at == 0 ? "0" : byte_text(at, units_).toStdString();
}

void MemoryDrawing::title(Point at, const QString& words, const std::string& more, Paint colour) {
    const std::string bold = words.toStdString();
    out_.words({at.x, at.y + font_}, bold, font_, paint(Role::text), Anchor::start, true);
    out_.words({at.x + 1.08 * text_width(bold, font_) + font_ / 2, at.y + font_}, more, font_,
               colour);
}

Picture MemoryDrawing::draw() {
    const double margin = font_ / 2, table = table_width();
    const double table_height = kRow * line_ * static_cast<double>(rows_.size() + 2);
    const double around = (kTitle + kAxis + kGap) * line_;
    const double bar_height =
        std::clamp(table_height / static_cast<double>(stacks_.size()) - around, kBar * line_,
                   kMostBar * line_);
    const double bars_width = std::max(1.0, out_.width - table - 2 * margin - 2.5 * line_);
    double y = margin;
    for (const MemoryStack& stack : stacks_) {
        bar(stack, {margin, y + kTitle * line_, bars_width, bar_height});
        y += around + bar_height;
        out_.description +=
            stack.name.toStdString() + ": " + stack.words(units_).toStdString() + ". ";
    }
    draw_table({out_.width - margin - table, margin});
    y = std::max(y, margin + table_height + kGap * line_);
    const double rest = out_.height - y - (kTitle + kAxis) * line_ - margin;
    const double lower = std::max(kLeastCurve * line_, rest);
    const double axis_labels = text_width("0000.0 GiB", font_) + font_ / 2;
    double split = margin;
    if (!curve_.empty()) {
        split = std::round(out_.width * kCurveShare);
        draw_curve({margin + axis_labels, y + kTitle * line_,
                    std::max(1.0, split - 2 * line_ - margin - axis_labels), lower},
                   margin);
    }
    draw_host({split, y + kTitle * line_, std::max(1.0, out_.width - margin - split), lower});
    out_.height = std::max(out_.height, y + (kTitle + kAxis) * line_ + lower + margin);
    return std::move(out_);
}

void MemoryDrawing::bar(const MemoryStack& stack, const Box& plot) {
    const Bytes full =
        std::max({stack.capacity, stack.used + stack.capacity - stack.usable, Bytes{1}});
    const Axis axis = byte_axis(full, plot.width, 8 * font_);
    const auto x = [&](Bytes count) {
        return plot.x + axis.share(static_cast<double>(count)) * plot.width;
    };
    const auto part = [&](Bytes from, Bytes to) {
        return Box{x(from), plot.y, x(to) - x(from), plot.height};
    };
    const bool lacks = stack.shortage() > 0;
    title({plot.x, plot.y - kTitle * line_}, stack.name, stack.words(units_).toStdString(),
          paint(lacks ? Role::waiting : Role::muted));
    const std::string name = stack.name.toStdString();
    out_.rectangle(plot, paint(Role::plot), kNoId,
                   "free\n" + name + ": " + bytes(std::max<Bytes>(0, stack.usable - stack.used)));
    add_horizontal_axis(
        out_, {plot.x, plot.bottom(), plot.width, font_ / 4}, axis,
        [this](double at) { return tick(at); }, font_);
    for (const MemorySegment& segment : stack.segments) {
        Box box = part(segment.from, segment.from + segment.bytes);
        box.width = std::max(1.0, box.width);
        const double share = static_cast<double>(segment.bytes) /
                             static_cast<double>(std::max<Bytes>(stack.used, 1));
        out_.rectangle(box, fill(segment), kNoId,
                       segment.name.toStdString() + "\n" + name + ": " + bytes(segment.bytes) +
                           "\nof all: " + format_percent(share));
        if (box.width > 3)
            out_.line({box.right(), box.y}, {box.right(), box.bottom()}, paint(Role::window));
    }
    if (lacks) {
        lacking(part(stack.usable, stack.used));
        out_.outline(part(stack.usable, stack.used), paint(Role::waiting), 2);
    } else if (stack.usable > 0 && stack.capacity > stack.usable) {
        const Box beyond = part(stack.usable, stack.capacity);
        out_.rectangle(beyond, {}, kNoId,
                       "not available to the plan\nCUDA context, system, or beyond a budget: " +
                           bytes(stack.capacity - stack.usable));
        out_.hatching(beyond, paint(Role::axis));
    }
    for (const MemorySegment& segment : stack.segments) {
        Box box = part(segment.from, segment.from + segment.bytes);
        // Where the line of what there is crosses it, in the larger part.
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

/// Where it is wide enough for it; legible on what is hatched.
void MemoryDrawing::name_on(const Box& box, const MemorySegment& segment) {
    const std::string words = segment.name.toStdString();
    const double wide = text_width(words, font_) + font_ / 2;
    if (wide > box.width) return;
    const Point middle = box.centre();
    out_.rectangle({middle.x - wide / 2, middle.y - 0.7 * font_, wide, 1.4 * font_}, fill(segment));
    out_.words({middle.x, baseline(middle.y, font_)}, words, font_, text_on(fill(segment)),
               Anchor::middle);
}

/// What there is no room for: paler, and hatched.
void MemoryDrawing::lacking(const Box& box) {
    out_.rectangle(box, paint(Role::window, 0.55));
    out_.hatching(box, paint(Role::waiting));
}

Picture memory_picture(const TimedPlan& report, ByteUnits units, const PictureSpace& space) {
    return MemoryDrawing(report, units, space).draw();
}

}  // namespace sluice
