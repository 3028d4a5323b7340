// Where do measured runs lie over what was measured and predicted?
#include "sim/answers/validate/validation.h"
#include "sim/report/answers/answer_reports.h"
#include "tests/catch.h"
#include "tests/sim/answers/validate/made_runs.h"

namespace sluice {
namespace {

Validation made() {
    Validation validation;
    validation.machine_id = "box";
    validation.runs = {made_run("exact", "look", 1, 1), made_run("slow", "look", 10, 12.5),
                       made_run("fast", "held-out", 0.1, 0.08)};
    validation.summaries = summarize(validation.runs);
    return validation;
}

/// The frame of the plot: an outline in the colour of an axis.
Box frame_of(const Picture& picture) {
    for (const Shape& shape : picture.shapes)
        if (std::holds_alternative<Rectangle>(shape.form) && shape.stroke == paint(Role::axis))
            return box_of(shape);
    return {};
}

}  // namespace

TEST_CASE("scatter: an exact prediction lies on the diagonal, others on their side of it",
          "[validate]") {
    const Picture picture = scatter_picture(made(), {700, 500});
    const Box plot = frame_of(picture);
    CHECK(Box{0, 0, 700, 500}.contains(plot));
    const auto off = [&](int run) {
        const Point at = place_of(picture, run)->centre();
        return (plot.bottom() - at.y) / plot.height - (at.x - plot.x) / plot.width;
    };
    CHECK(off(0) == Approx(0).margin(1e-6));
    CHECK(off(1) < -0.01);  // predicted slower than measured: below
    CHECK(off(2) > 0.01);
    std::vector<Paint> colours;
    for (const Shape& shape : picture.shapes)
        if (shape.id != kNoId) colours.push_back(shape.fill);
    // Groups in the order of the runs.
    CHECK(colours == std::vector<Paint>{series_paint(0), series_paint(0), series_paint(1)});
    CHECK(picture.keys.ids == std::vector<int>{1, 0, 2});  // the slowest first
}

TEST_CASE("scatter: the nearest point is hit, far from all none", "[validate]") {
    const Picture picture = scatter_picture(made(), {700, 500});
    for (int run = 0; run < 3; ++run) {
        const Box dot = *place_of(picture, run);
        CHECK(id_at(picture, {dot.right() + dot.width / 2, dot.centre().y}) == run);
    }
    const Box plot = frame_of(picture);
    CHECK(id_at(picture, {plot.x, plot.y}) == kNoId);
}

TEST_CASE("scatter: one run, and no room, are no mistake", "[validate]") {
    Validation one = made();
    one.runs.resize(1);
    one.summaries = summarize(one.runs);
    CHECK(scatter_picture(one, {3, 3}).keys.ids.size() == 1);
}

}  // namespace sluice
