// The picture of homes: the stacks of memory_peaks.cpp, and a strip with a cell for each layer
// above them.
#include <fmt/format.h>

#include "planner-gui/pictures/homes.h"
#include "planner-gui/pictures/memory_pen.h"
#include "sim/plan/homes/home_kind.h"

namespace sluice {
namespace {

constexpr double kStripRow = 1.5;  // lines of text

/// How a layer's place is drawn, what a tooltip and the legend call it, and what the tooltip adds.
struct Look {
    std::string words;
    Paint colour;
    std::string more = {};
    bool operator==(const Look& other) const { return words == other.words; }
};
const Look kOnDevice{"on the device", paint(Role::pointed_out)};
const Look kOnHost{"on the host", paint(Role::other)};
const Look kComputed{"computed again", paint(Role::plot)};

/// By its places, and by what kinds of homes say.
Look states_or_kept(const Placement& homes, int layer, bool kept) {
    const bool on_host = kept ? homes.keeps_on_host(layer) : !homes.is_resident(layer);
    Look out = kept && !homes.keeps_everything(layer) ? kComputed : on_host ? kOnHost : kOnDevice;
    for (const HomeKind& kind : home_kinds()) {
        if (!kind.shown || kind.shown->kept != kept || !kind.shown->is(homes, layer)) continue;
        const auto& [is, words, shade, of_kept] = *kind.shown;
        if (shade == 0)
            out.more += words;
        else
            out = {words, paint(Role::pointed_out, shade), out.more};
    }
    return out;
}

std::string cell_words(const Look& states, const Look& kept, int layer) {
    return fmt::format("layer {}\nweights and states: {}{}\nkept for backward: {}{}", layer,
                       states.words, states.more,
                       kept == kOnDevice || kept == kOnHost ? "all " : "", kept.words);
}

NamedColours names_of(const std::vector<MemoryStack>& stacks) {
    NamedColours names;
    for (const MemoryStack& stack : stacks)
        for (const MemorySegment& segment : stack.segments)
            if (std::ranges::find(names, segment.name, &NamedColours::value_type::first) ==
                names.end())
                names.emplace_back(segment.name, segment.colour);
    return names;
}

/// Draws the strip below `top`; returns its end.
double draw_layers(MemoryPen& pen, const Placement& homes, double top) {
    const double margin = pen.font / 2, row = kStripRow * pen.line;
    pen.title({margin, top}, "layers",
              "a double click puts weights and states of the layers up to there on the device",
              paint(Role::muted));
    top += kPartTitle * pen.line;
    const char* const names[] = {"weights and states", "kept for backward"};
    const double left = margin + text_width(names[1], pen.font) + pen.font;
    const double wide = std::max(1.0, pen.out.width - margin - left) / homes.sections.layers;
    for (int i = 0; i < 2; ++i)
        pen.out.words({left - pen.font / 2, baseline(top + (i + 0.5) * row, pen.font)}, names[i],
                      pen.font, paint(Role::text), Anchor::end);
    pen.out.keys.along = KeyOrder::Along::right;
    const double gap = wide > 4 ? 1 : 0;
    std::vector<LegendEntry> legend;
    const auto explain = [&](const Look& look) {
        if (std::ranges::find(legend, look.words, &LegendEntry::name) == legend.end())
            legend.push_back({look.words, look.colour});
    };
    for (const Look& look : {kOnDevice, kOnHost}) explain(look);
    for (int layer = 0; layer < homes.sections.layers; ++layer) {
        const Look states = states_or_kept(homes, layer, false),
                   kept = states_or_kept(homes, layer, true);
        const Box cell{left + wide * layer, top, wide - gap, row - 1};
        pen.out.rectangle(cell, states.colour);
        pen.out.rectangle({cell.x, top + row, cell.width, cell.height}, kept.colour);
        pen.out.rectangle({cell.x, top, cell.width, 2 * row - 1}, {}, layer,
                          cell_words(states, kept, layer));
        pen.out.keys.ids.push_back(layer);
        explain(states), explain(kept);
    }
    top += 2 * row + 0.4 * pen.line;
    return add_legend(pen.out, legend, {left, top}, pen.out.width - margin - left, pen.font);
}

}  // namespace

Picture homes_picture(const TimedPlan& report, const Placement& homes, ByteUnits units,
                      const PictureSpace& space) {
    MemoryPen pen{units, space.font, line_height(space.font)};
    pen.out.width = space.width;
    pen.out.height = space.height;
    pen.out.title = "Homes of " + report.asked.model_name + " on " + report.asked.machine_name;
    const std::vector<MemoryStack> stacks = memory_stacks(report, Segments::homes);
    double y = pen.font / 2;
    if (homes.sections.layers > 0) y = draw_layers(pen, homes, y) + kPartGap * pen.line;
    y = draw_peaks(pen, y, stacks, names_of(stacks));
    pen.out.height = std::max(pen.out.height, y + pen.font / 2);
    return std::move(pen.out);
}

}  // namespace sluice
