// A search finds what simulating everything finds, and says the same however it is run.
#include "sim/answers/search/search.h"

#include <algorithm>

#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

const Option& option(std::string_view field) {
    for (const Option& one : training_options())
        if (one.field == field) return one;
    throw std::runtime_error("no such option");
}

OptionAxis axis(std::string_view field, const std::string& values) {
    return parse_axis(option(field), values, "here");
}

ScenarioGrid small_grid() {
    ScenarioGrid grid;
    ModelSpec model = read_model("qwen2.5-7b");
    truncate_layers(model, 6);
    grid.models = {model, read_model("qwen2.5-0.5b")};
    for (const char* name : {"h200-sxm-pcie5", "h200-pcie5-16vcpu-128gib", "gh200-480gb"})
        grid.machines.push_back(resolve_machine(read_machine_profile(name)));
    grid.questions = {axis("seq", "512,1024")};
    grid.choices = {axis("batch", "3,8,32"), axis("micro_batch", "0,2"),
                    axis("buffer_depth", "1,2"), axis("recompute", "full,keep_attention,none")};
    return grid;
}

}  // namespace

TEST_CASE("scenario grid: every combination once, groups next to each other", "[search]") {
    const ScenarioGrid grid = small_grid();
    CHECK(grid.size() == 2 * 3 * 2 * 3 * 2 * 2 * 3);
    CHECK(grid.group_size() == 36);
    CHECK(grid.groups() == 12);
    const GridPoint first = grid.at(0), second = grid.at(1), last = grid.at(grid.size() - 1);
    CHECK(first.training.recompute == Recompute::full);
    CHECK(second.training.recompute == Recompute::keep_attention);
    CHECK(first.training.sequence == 512);
    CHECK(grid.at(36).training.sequence == 1024);
    CHECK(last.model == &grid.models.back());
    CHECK(last.machine == &grid.machines.back());
    CHECK(last.training.batch == 32);
}

TEST_CASE("search: the best of each group is that of simulating all", "[search]") {
    const ScenarioGrid grid = small_grid();
    SearchOptions all;
    all.every_row = true;
    all.bands = BandsOf::none;
    const std::vector<SearchRow> every = search(grid, all);
    const std::vector<SearchRow> some = search(grid, {});
    std::size_t simulated = 0, bounded = 0;
    for (std::size_t group = 0; group < grid.groups(); ++group) {
        const auto best = best_of_group(grid, every, group),
                   found = best_of_group(grid, some, group);
        REQUIRE(best.has_value());
        REQUIRE(found.has_value());
        CHECK(some[*found].tokens_per_s(grid.at(*found).training) ==
              Approx(every[*best].tokens_per_s(grid.at(*best).training)).epsilon(1e-9));
        CHECK(some[*found].has_band());
        CHECK(some[*found].step_low < some[*found].step);
        CHECK(some[*found].step_high > some[*found].step);
    }
    for (std::size_t i = 0; i < every.size(); ++i) {
        CHECK(every[i].state != RowState::bounded);
        if (every[i].fits()) CHECK(every[i].at_least <= every[i].step);
        if (some[i].state == RowState::simulated) ++simulated;
        if (some[i].state == RowState::bounded) ++bounded;
        // A batch of 3 has no micro-batches of 2.
        CHECK((every[i].state == RowState::excluded) ==
              (grid.at(i).training.batch == 3 && grid.at(i).training.micro_batch == 2));
        if (every[i].state == RowState::excluded)
            CHECK_THAT(why_excluded(grid.at(i))->what(),
                       ContainsSubstring("multiple of --micro-batch"));
    }
    CHECK(simulated < bounded);
}

TEST_CASE("search: progress counts each row when it is done", "[search]") {
    const ScenarioGrid grid = small_grid();
    SearchOptions options;
    options.every_row = true;
    SearchProgress last;
    std::size_t steps = 0;
    const std::vector<SearchRow> rows = search(grid, options, [&](const SearchProgress& progress) {
        CHECK(progress.planned >= last.planned);
        CHECK(progress.settled >= last.settled);
        if (progress.simulated == last.simulated + 1) ++steps;
        last = progress;
    });
    CHECK(last.planned == grid.size());
    CHECK(last.settled == grid.size());
    CHECK(last.simulated == steps);
    CHECK(steps == static_cast<std::size_t>(std::count_if(
                       rows.begin(), rows.end(),
                       [](const SearchRow& row) { return row.state == RowState::simulated; })));
}

TEST_CASE("search: rows are the same to the bit whatever the processes and what ran before",
          "[search]") {
    const ScenarioGrid grid = small_grid();
    SearchOptions options;
    options.bands = BandsOf::simulated;
    const std::vector<SearchRow> here = search(grid, options);
    options.processes = 3;
    const std::vector<SearchRow> in_three = search(grid, options);
    for (std::size_t i = 0; i < here.size(); ++i) {
        CHECK(here[i].state == in_three[i].state);
        CHECK(here[i].step == in_three[i].step);
        CHECK(here[i].step_low == in_three[i].step_low);
        CHECK(here[i].step_high == in_three[i].step_high);
    }
}
