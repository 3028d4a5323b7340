// The order of runs, on plain numbers.
#include "sim/answers/validate/validation.h"
#include "tests/sim/answers/validate/made_runs.h"

using namespace sluice;

TEST_CASE("ranking: Kendall's tau-b", "[validate]") {
    CHECK(kendall_tau_b({1, 2, 3, 4}, {10, 20, 30, 40}).value() == Approx(1));
    CHECK(kendall_tau_b({1, 2, 3, 4}, {4, 3, 2, 1}).value() == Approx(-1));
    // One of six pairs is in the other order: (5 - 1) / 6.
    CHECK(kendall_tau_b({1, 2, 3, 4}, {1, 3, 2, 4}).value() == Approx(4.0 / 6));
    // One pair is tied in b: 5 in order of 6 in a and 5 in b.
    CHECK(kendall_tau_b({1, 2, 3, 4}, {1, 2, 2, 3}).value() == Approx(5 / std::sqrt(30.0)));
    CHECK_FALSE(kendall_tau_b({1, 2}, {3, 3}));
    CHECK_FALSE(kendall_tau_b({1}, {1}));
    CHECK_FALSE(kendall_tau_b({}, {}));
}

TEST_CASE("ranking: runs that differ in one option only, and what the choice loses", "[validate]") {
    std::vector<RunComparison> runs = {
        made_run("depth 3", "look", 0.8, 0.9),      made_run("depth 1", "look", 1.0, 1.2),
        made_run("depth 2", "held-out", 1.25, 0.7), made_run("other batch", "look", 2, 2),
        made_run("other model", "look", 2, 2),      made_run("depth 3 again", "look", 0.8, 0.9)};
    runs[0].run.training.buffer_depth = 3;
    runs[1].run.training.buffer_depth = 1;
    runs[3].run.training = {.batch = 16, .buffer_depth = 7};
    runs[4].run.model.name = "other";
    runs[5].run.training.buffer_depth = 3;
    runs[1].run.training.distinct_tokens = 60;  // the data's, nobody's choice
    for (RunComparison& c : runs) c.predicted.asked.training = c.run.training;
    const std::vector<OptionSet> sets = option_sets(runs);
    REQUIRE(sets.size() == 1);
    CHECK(sets[0].option == "buffer_depth");
    REQUIRE(sets[0].runs.size() == 4);
    CHECK(sets[0].runs.front()->run.name == "depth 1");
    CHECK(sets[0].predicted_best->run.name == "depth 2");  // 0.7 s predicted, 1.25 measured
    CHECK(sets[0].measured_best->run.name == "depth 3");   // 0.8 measured
    CHECK(sets[0].loss() == Approx(1 - 0.8 / 1.25));
}

TEST_CASE("ranking: runs of two precisions or kinds of steps are not compared with each other",
          "[validate]") {
    std::vector<RunComparison> runs = {made_run("depth 1", "look", 1, 1),
                                       made_run("depth 2", "look", 2, 2)};
    runs[0].run.training.buffer_depth = 1;
    CHECK(option_sets(runs).size() == 1);
    runs[0].run.activations = Precision::fp32;
    CHECK(option_sets(runs).empty());
    runs[0].run.activations = Precision::bf16;
    runs[0].run.updates_ahead = true;
    CHECK(option_sets(runs).empty());
}
