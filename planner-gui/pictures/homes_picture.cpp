// The picture of homes: the stacks of memory_peaks.cpp, and a strip with a cell for each layer
// above them.
#include "planner-gui/pictures/homes.h"
#include "planner-gui/pictures/memory_pen.h"

namespace sluice {
namespace {

using Keeps = LayerHome::Keeps;

constexpr double kStripRow = 1.5;  // lines of text

Paint states_paint(bool resident) { return paint(resident ? Role::pointed_out : Role::other); }

struct KeepsLook {
    Keeps keeps;
    const char* words;  ///< in a tooltip and the legend
    Paint colour;
};
const KeepsLook& look_of(Keeps keeps) {
    static const std::array<KeepsLook, 4> looks = {
        {{Keeps::nothing, "computed again", paint(Role::plot)},
         {Keeps::attention, "attention's output on the device", paint(Role::pointed_out, 0.45)},
         {Keeps::all, "all on the device", paint(Role::pointed_out)},
         {Keeps::all_on_host, "all on the host", paint(Role::other)}}};
    return *std::ranges::find(looks, keeps, &KeepsLook::keeps);
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
double draw_layers(MemoryPen& pen, const std::vector<LayerHome>& layers, double top) {
    const double margin = pen.font / 2, row = kStripRow * pen.line;
    pen.title({margin, top}, "layers",
              "a double click puts weights and states of the layers up to there on the device",
              paint(Role::muted));
    top += kPartTitle * pen.line;
    const char* const names[] = {"weights and states", "kept for backward"};
    const double left = margin + text_width(names[1], pen.font) + pen.font;
    const double wide =
        std::max(1.0, pen.out.width - margin - left) / static_cast<double>(layers.size());
    for (int i = 0; i < 2; ++i)
        pen.out.words({left - pen.font / 2, baseline(top + (i + 0.5) * row, pen.font)}, names[i],
                      pen.font, paint(Role::text), Anchor::end);
    pen.out.keys.along = KeyOrder::Along::right;
    const double gap = wide > 4 ? 1 : 0;
    for (std::size_t i = 0; i < layers.size(); ++i) {
        const LayerHome& home = layers[i];
        const KeepsLook& look = look_of(home.keeps);
        const Box cell{left + wide * static_cast<double>(i), top, wide - gap, row - 1};
        const int id = static_cast<int>(i);
        pen.out.rectangle(cell, states_paint(home.resident));
        pen.out.rectangle({cell.x, top + row, cell.width, cell.height}, look.colour);
        pen.out.rectangle({cell.x, top, cell.width, 2 * row - 1}, {}, id,
                          "layer " + std::to_string(i) + "\nweights and states: on the " +
                              (home.resident ? "device" : "host") +
                              (home.deferred ? ", updated beside the next forward" : "") +
                              "\nkept for backward: " + look.words);
        pen.out.keys.ids.push_back(id);
    }
    top += 2 * row + 0.4 * pen.line;
    std::vector<LegendEntry> legend = {{"on the device", states_paint(true)},
                                       {"on the host", states_paint(false)}};
    for (const Keeps keeps : {Keeps::attention, Keeps::nothing})
        if (std::ranges::find(layers, keeps, &LayerHome::keeps) != layers.end())
            legend.push_back({look_of(keeps).words, look_of(keeps).colour});
    return add_legend(pen.out, legend, {left, top}, pen.out.width - margin - left, pen.font);
}

}  // namespace

Picture homes_picture(const TimedPlan& report, const std::vector<LayerHome>& layers,
                      ByteUnits units, const PictureSpace& space) {
    MemoryPen pen{units, space.font, line_height(space.font)};
    pen.out.width = space.width;
    pen.out.height = space.height;
    pen.out.title = "Homes of " + report.asked.model_name + " on " + report.asked.machine_name;
    const std::vector<MemoryStack> stacks = memory_stacks(report, Segments::homes);
    double y = pen.font / 2;
    if (!layers.empty()) y = draw_layers(pen, layers, y) + kPartGap * pen.line;
    y = draw_peaks(pen, y, stacks, names_of(stacks));
    pen.out.height = std::max(pen.out.height, y + pen.font / 2);
    return std::move(pen.out);
}

}  // namespace sluice
