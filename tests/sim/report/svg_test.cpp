// Is the picture well-formed, and is each block as wide as its time?
#include <optional>
#include <regex>

#include "sim/report/chart_parts.h"
#include "sim/report/timeline_picture.h"
#include "sim/report/to_svg.h"
#include "tests/catch.h"
#include "tests/sim/report/one_layer_report.h"
#include "tests/sim/report/xml_nesting.h"

namespace sluice {
namespace {

/// A rectangle with a tooltip, in pixels.
struct Drawn {
    double x = 0, y = 0, width = 0, height = 0;
};

/// Rectangles whose tooltip starts with `label`, from left to right in each lane.
std::vector<Drawn> rectangles(const std::string& svg, const std::string& label) {
    static const std::regex pattern(
        R"re(<rect x="([^"]*)" y="([^"]*)" width="([^"]*)" height="([^"]*)"[^>]*><title>([^<]*)</title>)re");
    std::vector<Drawn> found;
    for (std::sregex_iterator match(svg.begin(), svg.end(), pattern), end; match != end; ++match) {
        if (!(*match)[5].str().starts_with(label)) continue;
        const auto number = [&](std::size_t i) { return std::stod((*match)[i]); };
        found.push_back({number(1), number(2), number(3), number(4)});
    }
    return found;
}

std::string step_svg(const TimedPlan& report) { return to_svg(step_picture(report)); }

/// Where 0 s lies and how wide 1 s is, which is the whole step, in pixels.
std::pair<double, double> zero_and_second(const TimedPlan& report) {
    const TimelineLayout layout =
        timeline_layout(Timeline(std::make_shared<const TimedPlan>(report)), {1200});
    return {layout.plot_left, layout.plot_width};
}

/// A plan of 800 layers, every operation about a pixel wide or less.
Prediction deep_report(int layers) {
    Prediction report = one_layer_report();
    report.asked.layers = layers;
    report.plan.program.operations.clear();
    report.step.intervals.clear();
    const Seconds time = 1.0 / (3.0 * layers);
    const auto add = [&](OperationKind kind, Lane lane, int layer, double start, double duration) {
        report.plan.program.operations.push_back(made_operation(kind, lane, {}, 1e9));
        report.plan.program.operations.back().layer = layer;
        report.step.intervals.push_back({start * time, (start + duration) * time});
    };
    for (int i = 0; i < layers; ++i) {
        add(OperationKind::copy_weights_in, Work::host_to_device, i, i, 0.9);
        add(OperationKind::forward, Work::compute, i, i, 0.9);
    }
    for (int i = 0; i < layers; ++i) {
        const double start = layers + 2.0 * i;
        add(OperationKind::copy_weights_in, Work::host_to_device, layers - 1 - i, start, 1.9);
        add(OperationKind::backward, Work::compute, layers - 1 - i, start, 1.9);
        add(OperationKind::copy_gradients_out, Work::device_to_host, layers - 1 - i, start, 1.9);
        add(OperationKind::update, Work::optimizer, layers - 1 - i, start, 1.9);
    }
    report.step.lanes = lane_times(report.plan.program, report.step.intervals, report.step.seconds);
    return report;
}

}  // namespace

TEST_CASE("svg: a block's place and width are its time", "[report]") {
    const Prediction report = one_layer_report();
    const std::string svg = step_svg(report);
    const auto [zero, second] = zero_and_second(report);
    const std::vector<Drawn> forward = rectangles(svg, "forward 0");
    REQUIRE(forward.size() == 1);
    CHECK(forward[0].x == Approx(zero));
    CHECK(forward[0].width == Approx(0.25 * second).margin(0.01));  // 0 ... 0.25 s
    const std::vector<Drawn> backward = rectangles(svg, "backward 0");
    REQUIRE(backward.size() == 1);
    CHECK(backward[0].x == Approx(zero + 0.3 * second).margin(0.01));
    CHECK(backward[0].width == Approx(0.5 * second).margin(0.01));  // 0.3 ... 0.8 s
    CHECK(backward[0].y == forward[0].y);
}

TEST_CASE("svg: what starts before the step or ends after it is cut and drawn at the other edge",
          "[report]") {
    const Prediction report = one_layer_report();
    const std::string svg = step_svg(report);
    const auto [zero, second] = zero_and_second(report);
    const std::vector<Drawn> update = rectangles(svg, "update 0");  // 0.8 ... 1.3 s
    REQUIRE(update.size() == 2);
    CHECK(update[0].x == Approx(zero));
    CHECK(update[0].width ==
          Approx(0.3 * second).margin(0.01));  // 1.0 ... 1.3 s of the step before
    CHECK(update[1].x == Approx(zero + 0.8 * second).margin(0.01));
    CHECK(update[1].width == Approx(0.2 * second).margin(0.01));
    const std::vector<Drawn> weights = rectangles(svg, "weights in 0");  // -0.2 ... 0 s
    REQUIRE(weights.size() == 1);
    CHECK(weights[0].x == Approx(zero + 0.8 * second).margin(0.01));
    CHECK(weights[0].width == Approx(0.2 * second).margin(0.01));
    CHECK(weights[0].y + weights[0].height <
          rectangles(svg, "forward 0")[0].y);  // copies to the GPU are the first row
}

TEST_CASE("svg: compute's pauses are marked with what they wait for", "[report]") {
    const Prediction report = one_layer_report();
    const std::string svg = step_svg(report);
    const auto [zero, second] = zero_and_second(report);
    const std::vector<Drawn> waits = rectangles(svg, "compute waits");
    REQUIRE(waits.size() == 2);
    CHECK(waits[0].x == Approx(zero + 0.25 * second).margin(0.01));
    CHECK(waits[0].width == Approx(0.05 * second).margin(0.01));  // 0.25 ... 0.3 s
    CHECK(waits[1].x == Approx(zero + 0.8 * second).margin(0.01));
    CHECK(waits[1].width == Approx(0.2 * second).margin(0.01));  // 0.8 ... 1 s
    CHECK(rectangles(svg, "compute waits 50.0 ms\nfor: update 0 (optimizer)").size() == 1);
    CHECK(rectangles(svg, "compute waits 200.0 ms\nfor: weights in 0 (copies to the GPU)").size() ==
          1);
}

TEST_CASE("svg: title and lanes say speed, busy and exposed shares", "[report]") {
    const std::string svg = step_svg(one_layer_report());
    CHECK_THAT(svg, ContainsSubstring(">tiny on box<"));
    CHECK_THAT(svg, ContainsSubstring(
                        ">predicted: batch 4 x 1,000 tokens, 1.00 s a step, 4,000 tokens/s<"));
    CHECK_THAT(svg, ContainsSubstring(">20% busy, 20% exposed<"));   // copies to the GPU
    CHECK_THAT(svg, ContainsSubstring(">75% busy, 25% waits<"));     // compute
    CHECK_THAT(svg, ContainsSubstring(">50% busy, 5.0% exposed<"));  // optimizer
    CHECK(rectangles(svg,
                     "weights in 0\nstart: -200.0 ms\nduration: 200.0 ms\nbytes: 10.0 GB\n"
                     "rate: 50.0 GB/s")
              .size() == 1);
}

TEST_CASE("svg: the text is well-formed XML, whatever the names", "[report]") {
    Prediction report = one_layer_report();
    CHECK(nesting_error(step_svg(report)).value_or("") == "");
    report.asked.model_name = "a<b> & \"c\" 'd'\x01";
    report.asked.machine_name = std::string(400, 'm');  // wraps
    const std::string svg = step_svg(report);
    CHECK(nesting_error(svg).value_or("") == "");
    CHECK_THAT(svg, ContainsSubstring("a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39; "));
    CHECK(nesting_error("?><svg><g></svg>").has_value());  // the check itself finds mistakes
}

TEST_CASE("svg: a plan of 800 layers stays below 1 MB, and all of compute's time is drawn",
          "[report]") {
    const Prediction report = deep_report(800);
    const std::string svg = step_svg(report);
    CHECK(svg.size() < 1'000'000);
    Seconds busy = 0;
    std::int32_t count = 0;
    for (const Block& block : merge_short(lane_blocks(report, Work::compute), 0.5e-3)) {
        busy += block.busy;
        count += block.count;
    }
    CHECK(busy == Approx(report.step.lanes[Work::compute].busy));
    CHECK(count == 1600);
}

TEST_CASE("svg: a report without operations is still a picture", "[report]") {
    const std::string svg = step_svg(Prediction());
    CHECK(nesting_error(svg).value_or("") == "");
}

TEST_CASE("svg: short neighbours become one block with the colour of the most time", "[report]") {
    const std::vector<Block> blocks = {{0.0, 0.1, 0.1, 0, 0, 1, Family::forward},
                                       {0.2, 0.55, 0.35, 1, 1, 1, Family::loss},
                                       {0.6, 0.8, 0.2, 2, 2, 1, Family::forward},
                                       {0.9, 1.3, 0.4, 3, 3, 1, Family::forward},
                                       {1.3, 2.3, 1.0, 4, 4, 1, Family::loss}};
    const std::vector<Block> merged = merge_short(blocks, 0.5);
    REQUIRE(merged.size() ==
            3);  // the fourth would make a block longer than 2 x 0.5; the fifth is not short
    CHECK(merged[0].start == 0.0);
    CHECK(merged[0].end == 0.8);
    CHECK(merged[0].busy == Approx(0.65));
    CHECK(merged[0].count == 3);
    CHECK(merged[0].last == 2);
    CHECK(merged[0].family == Family::loss);
    CHECK(merged[1].first == 3);
    CHECK(merged[2].first == 4);
}

TEST_CASE("svg: text wraps at spaces and breaks only words wider than the line", "[report]") {
    const double ten_characters = text_width("0123456789", 12) + 0.1;
    CHECK(wrap_text("one two three four", 12, ten_characters) ==
          std::vector<std::string>{"one two", "three four"});
    CHECK(wrap_text("0123456789abcdef", 12, ten_characters) ==
          std::vector<std::string>{"0123456789", "abcdef"});
    CHECK(wrap_text("012345678\xc3\xa9x", 12, ten_characters) ==
          std::vector<std::string>{"012345678", "\xc3\xa9x"});  // no character is cut
    CHECK(wrap_text("", 12, 100) == std::vector<std::string>{""});
}

}  // namespace sluice
