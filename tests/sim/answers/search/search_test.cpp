// A search finds what simulating everything finds, and says the same however it is run.
#include "sim/answers/search/search.h"

#include <unistd.h>

#include <cstdlib>

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
    const auto pool = work_here(search_work(grid));
    SearchOptions all;
    all.every_row = true;
    all.bands = BandsOf::none;
    const std::vector<SearchRow> every = search(grid, *pool, all);
    const std::vector<SearchRow> some = search(grid, *pool, {});
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
            CHECK_THAT(every[i].reason, ContainsSubstring("multiple of --micro-batch"));
    }
    CHECK(simulated < bounded);
}

TEST_CASE("search: progress counts each row when it is done, also those known", "[search]") {
    const ScenarioGrid grid = small_grid();
    const auto pool = work_here(search_work(grid));
    SearchOptions options;
    options.every_row = true;
    KnownRows known;
    for (int run = 0; run < 2; ++run) {
        std::size_t steps = 0;
        SearchProgress last;
        SearchEvents events;
        events.simulated = [&](const SearchRow& row) { known[row.index] = row; };
        events.progress = [&](const SearchProgress& progress) {
            CHECK(progress.settled >= last.settled);
            if (progress.simulated == last.simulated + 1) ++steps;
            last = progress;
        };
        (void)search(grid, *pool, options, known, events);
        CHECK(last.settled == grid.size());
        CHECK(last.simulated == known.size());
        CHECK(steps == (run == 0 ? known.size() : 0));
    }
}

TEST_CASE("worker pool: a request whose worker dies is done by another", "[search]") {
    const pid_t parent = getpid();
    char name[] = "/tmp/sluice-worker-test-XXXXXX";
    const int flag = mkstemp(name);
    REQUIRE(flag >= 0);
    close(flag);
    const auto pool = fork_workers(3, [&](const std::string& request) {
        // The first to be asked for "5" dies.
        if (request == "5" && unlink(name) == 0 && getpid() != parent) _exit(9);
        return request + request;
    });
    std::vector<std::string> requests, answers(20);
    for (std::size_t i = 0; i < answers.size(); ++i) requests.push_back(std::to_string(i));
    pool->run(requests, [&](std::size_t i, const std::string& answer) { answers[i] = answer; });
    for (std::size_t i = 0; i < answers.size(); ++i) CHECK(answers[i] == requests[i] + requests[i]);
}

TEST_CASE("worker pool: what a worker throws, and one that always dies", "[search]") {
    const auto pool = fork_workers(2, [](const std::string& request) -> std::string {
        if (request == "die") _exit(9);
        throw std::runtime_error("no answer to " + request);
    });
    const TakeAnswer ignore = [](std::size_t, const std::string&) {};
    CHECK_THROWS_WITH(pool->run({"this"}, ignore), "no answer to this");
    CHECK_THROWS_WITH(pool->run({"die"}, ignore), ContainsSubstring("one after another"));
}

TEST_CASE("search row: bytes and back", "[search]") {
    SearchRow row;
    row.index = 7;
    row.state = RowState::excluded;
    row.reason = "because";
    row.device_peak = 1;
    row.storage_short = 6;
    row.at_least = 0.1;
    row.step_high = 1e300;
    row.bottleneck = "optimizer";
    std::string bytes;
    put_row(bytes, row);
    std::string_view in = bytes;
    const SearchRow back = take_row(in);
    CHECK(in.empty());
    CHECK(back.index == 7);
    CHECK(back.reason == "because");
    CHECK(back.storage_short == 6);
    CHECK(back.at_least == 0.1);
    CHECK(back.step_high == 1e300);
    CHECK(back.bottleneck == "optimizer");
}
