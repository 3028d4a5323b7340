// How does a step look in one picture? Lanes over one steady step, with the pauses in which compute
// waits.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "sim/base/format.h"
#include "sim/plan/step.h"
#include "sim/report/colours.h"
#include "sim/report/report.h"
#include "sim/report/svg_geometry.h"
#include "sim/report/svg_text.h"

namespace sluice {
namespace {

// Pixels.
constexpr double kWidth = 1200;
constexpr double kMargin = 18;
constexpr double kPlotLeft = 184;
constexpr double kPlotWidth = 1000;
constexpr double kRow = 40;
constexpr double kRowPitch = 50;
constexpr double kShortest = 0.5;  // shorter blocks are drawn together
constexpr double kOutlined = 3;    // narrower blocks would be all outline
constexpr double kOverlap =
    0.5;  // narrow neighbours overlap, or their smoothed edges would look like pauses
constexpr double kFaintest = 0.25;  // opacity
constexpr double kSwatch = 13;
// Font sizes.
constexpr double kInside = 10.5;
constexpr double kSmall = 12;
constexpr double kNormal = 13;
constexpr double kTitle = 18;

constexpr int kMostTicks = 12;
constexpr const char* kGrey = "fill=\"#444\"";

constexpr const char* kWaitPattern =
    R"svg(<defs><pattern id="wait" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">)svg"
    R"svg(<rect width="6" height="6" fill="#fff"/><rect width="2" height="6" fill="#c00000"/></pattern></defs>)svg";
constexpr const char* kWaitFill = R"svg(fill="url(#wait)" stroke="#c00000")svg";
constexpr const char* kThinWaitFill = "fill=\"#c00000\"";
constexpr const char* kNote =
    "The step repeats: what is cut at one edge goes on at the other. Exposed: compute waits for "
    "that lane. "
    "Point at a block to see its times and bytes.";

/// Draws from top to bottom; y_ is where the next thing goes.
class Drawing {
  public:
    explicit Drawing(const TimedPlan& report) : report_(report) {}

    std::string text() {
        header();
        if (report_.step.seconds > 0 && !report_.step.intervals.empty()) timeline();
        y_ += kMargin;
        return fmt::format(
            R"(<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}" font-family="sans-serif">
{2}
<rect width="{0}" height="{1}" fill="#fff"/>
{3}</svg>
)",
            kWidth, y_, kWaitPattern, body_);
    }

  private:
    double pixels(Seconds time) const { return time / report_.step.seconds * kPlotWidth; }

    void write_text(double x, double y, double size, const std::string& text,
                    const std::string& attributes = "") {
        append(body_, "<text x=\"{:.6g}\" y=\"{:.6g}\" font-size=\"{}\" {}>{}</text>\n", x, y, size,
               attributes, escape_xml(text));
    }

    template <typename... Arguments>
    static void append(std::string& to, fmt::format_string<Arguments...> format,
                       Arguments&&... arguments) {
        fmt::format_to(std::back_inserter(to), format, std::forward<Arguments>(arguments)...);
    }

    void paragraph(const std::string& text, double size, const char* attributes = "") {
        for (const std::string& line : wrap_text(text, size, kWidth - 2 * kMargin)) {
            y_ += std::round(size * 1.4);
            write_text(kMargin, y_, size, line, attributes);
        }
    }

    void header() {
        y_ = 8;
        paragraph(report_.asked.model_name + " on " + report_.asked.machine_name, kTitle,
                  "font-weight=\"bold\"");
        paragraph(facts(), kNormal);
        if (report_.step.seconds > 0) paragraph(bottleneck_text(report_.step), kNormal, kGrey);
    }

    std::string facts() const {
        const TrainingSpec& t = report_.asked.training;
        return fmt::format(
            "{}: batch {} x {} tokens, {} a step, {} tokens/s{}{}",
            report_.step.measured ? "measured" : "predicted", t.batch,
            format_thousands(static_cast<double>(t.sequence)), format_seconds(report_.step.seconds),
            format_thousands(report_.tokens_per_s()),
            t.schedule->ours ? "" : fmt::format(", {} schedule", t.schedule->name),
            report_.plan.fit.fits() ? "" : "; does not fit into memory, shown as if it did");
    }

    void timeline() {
        y_ += 16;
        std::vector<Lane> lanes;
        for (int i = 0; i < kLaneCount; ++i) {
            const auto lane = static_cast<Lane>(i);
            if (!lane_blocks(report_, lane).empty()) lanes.push_back(lane);
        }
        grounds(lanes.size());
        axis(kRowPitch * static_cast<double>(lanes.size()) - (kRowPitch - kRow));
        for (const Lane lane : lanes) row(lane);
        append(body_,
               "<g font-size=\"{}\" text-anchor=\"middle\" pointer-events=\"none\">\n{}</g>\n",
               kInside, inside_);
        y_ += 26;
        legend();
        y_ += 6;
        paragraph(kNote, kSmall, kGrey);
    }

    void grounds(std::size_t rows) {
        for (std::size_t i = 0; i < rows; ++i) {
            append(body_, "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"#f1f1f1\"/>\n",
                   kPlotLeft, y_ + kRowPitch * static_cast<double>(i), kPlotWidth, kRow);
        }
    }

    /// Ticks below the rows, with lines that blocks then cover.
    void axis(double height) {
        const char* name = report_.step.seconds >= 1           ? "s"
                           : report_.step.seconds >= 1 / kKilo ? "ms"
                                                               : "us";
        const double unit = report_.step.seconds >= 1           ? 1
                            : report_.step.seconds >= 1 / kKilo ? 1 / kKilo
                                                                : 1 / kMega;
        const double tick = round_tick(report_.step.seconds / unit, kMostTicks);
        const double y = y_ + height;
        for (int i = 0; i * tick * unit <= report_.step.seconds; ++i) {
            const double x = kPlotLeft + pixels(i * tick * unit);
            append(body_, "<path d=\"M{:.6g} {}V{}\" stroke=\"#ccc\"/>", x, y_ - 4, y + 6);
            write_text(x, y + 20, kSmall, fmt::format("{:g}", i * tick),
                       R"(text-anchor="middle" fill="#444")");
        }
        write_text(kMargin, y + 20, kSmall, fmt::format("time in {}", name), kGrey);
    }

    void row(Lane lane) {
        lane_title(lane);
        const std::vector<Block> blocks = lane_blocks(report_, lane);
        const Seconds shortest = kShortest / kPlotWidth * report_.step.seconds;
        if (lane == Lane::compute) {
            // Below the operations, which the outlines of pauses would narrow.
            for (const Block& pause : merge_short(pauses(blocks, report_.step.seconds), shortest)) {
                pause_block(pause);
            }
        }
        const std::vector<Block> drawn = merge_short(blocks, shortest);
        for (std::size_t i = 0; i < drawn.size(); ++i) {
            const Seconds next =
                i + 1 < drawn.size() ? drawn[i + 1].start : 2 * report_.step.seconds;
            operation_block(drawn[i], next - drawn[i].end < shortest / 10);
        }
        y_ += kRowPitch;
    }

    void lane_title(Lane lane) {
        const LaneTime& time = report_.step.lanes[static_cast<std::size_t>(lane)];
        const bool compute = lane == Lane::compute;
        const std::string busy = format_percent(time.busy / report_.step.seconds);
        const std::string waits =
            format_percent((compute ? time.idle : time.exposed) / report_.step.seconds);
        write_text(kMargin, y_ + 17, kNormal, lane_label(lane), "font-weight=\"bold\"");
        write_text(kMargin, y_ + 33, kSmall,
                   fmt::format("{} busy, {} {}", busy, waits, compute ? "waits" : "exposed"),
                   kGrey);
    }

    void operation_block(const Block& block, bool next_touches) {
        const FamilyColours& style = family_colours(block.family);
        const double width = pixels(block.end - block.start);
        const bool outlined = width >= kOutlined;
        rect(block,
             fmt::format("fill=\"{}\"{}", style.fill,
                         outlined ? R"( stroke="#fff" stroke-width=".6")" : ""),
             next_touches && !outlined ? kOverlap : 0, operation_tooltip(report_, block));
        const std::string inside = text_inside(report_, block, kInside, width - 4);
        if (inside.empty()) return;
        append(inside_, "<text x=\"{:.6g}\" y=\"{}\" fill=\"{}\">{}</text>\n",
               kPlotLeft + pixels(block.start) + width / 2, y_ + kRow / 2 + 4, style.text,
               escape_xml(inside));
    }

    void pause_block(const Block& pause) {
        const bool outlined = pixels(pause.end - pause.start) >= kOutlined;
        rect(pause, outlined ? kWaitFill : kThinWaitFill, 0, pause_tooltip(report_, pause));
    }

    /// Several short operations drawn as one are as opaque as they are busy, but visible. `more`
    /// pixels are added at the right.
    void rect(const Block& block, const std::string& look, double more,
              const std::string& tooltip) {
        const double share = block.busy / (block.end - block.start);
        const std::string opacity =
            share < 0.99 ? fmt::format(" opacity=\"{:.2f}\"", std::max(share, kFaintest)) : "";
        append(body_,
               "<rect x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\" "
               "{}{}><title>{}</title></rect>\n",
               kPlotLeft + pixels(block.start), y_, pixels(block.end - block.start) + more, kRow,
               look, opacity, escape_xml(tooltip));
    }

    /// The families that occur, in one line: about 900 pixels if all do.
    void legend() {
        std::array<bool, kFamilyCount> used{};
        for (const Operation& operation : report_.plan.program.operations)
            used[static_cast<std::size_t>(family_of(operation.kind))] = true;
        double x = kPlotLeft;
        y_ += kSwatch;
        for (int i = 0; i < kFamilyCount; ++i) {
            const FamilyColours& style = kFamilyColours[static_cast<std::size_t>(i)];
            if (used[static_cast<std::size_t>(i)])
                x = legend_entry(x, fmt::format("fill=\"{}\"", style.fill), style.name);
        }
        legend_entry(x, kWaitFill, "compute waits");
    }

    /// Returns where the next entry goes.
    double legend_entry(double x, const std::string& look, const std::string& name) {
        append(body_, "<rect x=\"{0:.6g}\" y=\"{1}\" width=\"{2}\" height=\"{2}\" {3}/>\n", x,
               y_ - kSwatch + 2, kSwatch, look);
        write_text(x + kSwatch + 5, y_, kSmall, name);
        return x + kSwatch + 5 + text_width(name, kSmall) + 12;
    }

    const TimedPlan& report_;
    double y_ = 0;
    std::string body_;
    std::string inside_;  // text in blocks: drawn above all of them
};

}  // namespace

std::string report_svg(const TimedPlan& report) { return Drawing(report).text(); }

}  // namespace sluice
