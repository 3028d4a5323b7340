// How does a step look in one picture? Lanes over one steady step, with the pauses in which compute waits.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <iterator>
#include <string_view>

#include "sim/report/format.h"
#include "sim/report/step_report.h"
#include "sim/report/svg_geometry.h"
#include "sim/report/svg_text.h"

namespace sluice {
namespace {

// Pixels.
constexpr double kWidth = 1200;
constexpr double kMargin = 18;
constexpr double kPlotLeft = 176;
constexpr double kPlotWidth = 1000;
constexpr double kRow = 40;
constexpr double kRowPitch = 50;
constexpr double kShortest = 0.5;      // shorter blocks are drawn together
constexpr double kOutlined = 3;        // narrower blocks would be all outline
constexpr double kInsideText = 10.5;   // font sizes
constexpr double kSmallText = 12;
constexpr double kTitleText = 18;
constexpr int kMostTicks = 12;

struct Style {
    const char* name;
    const char* fill;
    const char* text;
};
// Okabe and Ito's colours, which people with any colour vision tell apart. In the order of Family.
constexpr std::array<Style, kFamilyCount> kStyles = {{{"weights in", "#56b4e9", "#000"},
                                                      {"checkpoints", "#f0e442", "#000"},
                                                      {"forward", "#0072b2", "#fff"},
                                                      {"recompute + backward", "#009e73", "#000"},
                                                      {"loss", "#cc79a7", "#000"},
                                                      {"gradients", "#e69f00", "#000"},
                                                      {"optimizer update", "#d55e00", "#000"},
                                                      {"other", "#999999", "#000"}}};
constexpr const char* kWaitName = "compute waits";
constexpr const char* kWaitFill = R"(fill="url(#wait)" stroke="#c00000")";
constexpr const char* kWaitPattern =
    R"(<defs><pattern id="wait" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">)"
    R"(<rect width="6" height="6" fill="#fff"/><rect width="2" height="6" fill="#c00000"/></pattern></defs>)";
constexpr const char* kNote =
    "The step repeats: what is cut at one edge goes on at the other. Exposed: compute waits for that lane. "
    "Pointing at a block tells its times and bytes.";

const Style& style_of(Family family) { return kStyles[static_cast<std::size_t>(family)]; }

class Drawing {
public:
    explicit Drawing(const StepReport& report) : report_(report) {}

    std::string text() {
        header();
        if (report_.step > 0 && !report_.operations.empty()) timeline();
        y_ += kMargin;
        return fmt::format(R"(<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" width="{0:.0f}" height="{1:.0f}" viewBox="0 0 {0:.0f} {1:.0f}" )"
                           R"(font-family="sans-serif" font-size="{2}">{3}
<rect width="{0:.0f}" height="{1:.0f}" fill="#fff"/>
{4}</svg>
)",
                           kWidth, y_, kSmallText, kWaitPattern, body_);
    }

private:
    double pixels(Seconds time) const { return time / report_.step * kPlotWidth; }
    const Operation& operation_at(OperationId id) const {
        return report_.program.operations[static_cast<std::size_t>(id)];
    }

    template <typename... Arguments>
    void write(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
        fmt::format_to(std::back_inserter(body_), format, std::forward<Arguments>(arguments)...);
    }
    void write_text(double x, double y, std::string_view text, std::string_view attributes = "") {
        write("<text x=\"{:.6g}\" y=\"{:.6g}\"{}{}>{}</text>\n", x, y, attributes.empty() ? "" : " ", attributes, escape_xml(text));
    }

    void header() {
        y_ = 8;
        paragraph(report_.model_name + " on " + report_.machine_name, kTitleText, "font-weight=\"bold\"");
        paragraph(facts(), kSmallText + 1, "");
        if (!report_.bottleneck_words.empty()) paragraph(report_.bottleneck_words, kSmallText + 1, "fill=\"#c00000\"");
    }

    void paragraph(const std::string& text, double size, const char* attributes) {
        for (const std::string& line : wrap_text(text, size, kWidth - 2 * kMargin)) {
            y_ += std::round(size * 1.35);
            write_text(kMargin, y_, line, fmt::format("font-size=\"{:g}\" {}", size, attributes));
        }
    }

    std::string facts() const {
        const TrainingSpec& t = report_.training;
        return fmt::format("batch {} x {} tokens, {} a step, {} tokens/s, {}{}{}", t.batch, format_thousands(static_cast<double>(t.sequence)),
                           format_seconds(report_.step), format_thousands(report_.tokens_per_s()),
                           t.schedule == Schedule::megatrain ? "megatrain schedule, " : "",
                           report_.measured ? "measured" : "predicted", report_.fit.fits() ? "" : "; does not fit into memory");
    }

    void timeline() {
        std::vector<Lane> lanes;
        for (int i = 0; i < kLaneCount; ++i) {
            if (!lane_blocks(report_, static_cast<Lane>(i)).empty()) lanes.push_back(static_cast<Lane>(i));
        }
        y_ += 14;
        const double height = kRowPitch * static_cast<double>(lanes.size()) - (kRowPitch - kRow);
        for (std::size_t i = 0; i < lanes.size(); ++i) {
            write("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"#f1f1f1\"/>\n", kPlotLeft, y_ + kRowPitch * static_cast<double>(i), kPlotWidth, kRow);
        }
        axis(height);
        for (const Lane lane : lanes) row(lane);
        write("<g font-size=\"{}\" text-anchor=\"middle\" pointer-events=\"none\">\n{}</g>\n", kInsideText, inside_);
        y_ += 24;
        legend();
        paragraph(kNote, kSmallText, "fill=\"#444\"");
    }

    /// Ticks below the rows, with lines behind what is drawn later.
    void axis(double height) {
        const bool in_seconds = report_.step >= 1;
        const double unit = in_seconds ? 1 : report_.step >= 1e-3 ? 1e-3 : 1e-6;
        const double tick = round_tick(report_.step / unit, kMostTicks);
        for (int i = 0; i * tick * unit <= report_.step; ++i) {
            const double x = kPlotLeft + pixels(i * tick * unit);
            write("<path d=\"M{0:.6g} {1}V{2}\" stroke=\"#ccc\"/>", x, y_ - 4, y_ + height + 5);
            write_text(x, y_ + height + 19, fmt::format("{:g}", i * tick), "text-anchor=\"middle\" fill=\"#444\"");
        }
        write_text(kMargin, y_ + height + 19, in_seconds ? "time in s" : unit == 1e-3 ? "time in ms" : "time in us", "fill=\"#444\"");
    }

    void row(Lane lane) {
        const LaneTime& time = report_.lanes[static_cast<std::size_t>(lane)];
        const bool compute = lane == Lane::compute;
        write_text(kMargin, y_ + 17, lane_label(lane), "font-size=\"14\" font-weight=\"bold\"");
        write_text(kMargin, y_ + 33,
                   fmt::format("{} busy, {} {}", format_percent(time.busy / report_.step),
                               format_percent((compute ? time.idle : time.exposed) / report_.step), compute ? "waits" : "exposed"),
                   "fill=\"#444\" font-size=\"11.5\"");
        const std::vector<Block> blocks = lane_blocks(report_, lane);
        const Seconds shortest = kShortest / kPlotWidth * report_.step;
        for (const Block& block : merge_short(blocks, shortest)) operation_block(block);
        if (compute) {
            for (const Block& pause : merge_short(pauses(blocks, report_.step), shortest)) pause_block(pause);
        }
        y_ += kRowPitch;
    }

    /// A lane's block, opaque as far as it is busy.
    void operation_block(const Block& block) {
        const Style& style = style_of(block.family);
        const double width = pixels(block.end - block.start);
        const double share = block.busy / (block.end - block.start);
        block_rect(block, fmt::format("fill=\"{}\"{}{}", style.fill, width >= kOutlined ? " stroke=\"#fff\" stroke-width=\".6\"" : "",
                                      share < 0.99 ? fmt::format(" opacity=\"{:.2f}\"", share) : ""),
                   operation_tooltip(block));
        const std::string inside = text_inside(block, width - 4);
        if (inside.empty()) return;
        fmt::format_to(std::back_inserter(inside_), "<text x=\"{:.2f}\" y=\"{:.6g}\" fill=\"{}\">{}</text>\n",
                       kPlotLeft + pixels(block.start) + width / 2, y_ + kRow / 2 + 4, style.text, escape_xml(inside));
    }
