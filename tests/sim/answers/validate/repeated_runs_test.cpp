// Runs of one configuration by several processes: which are joined, to what, and how far they
// differ.
#include "sim/answers/validate/measured_runs.h"
#include "sim/answers/validate/validation.h"
#include "tests/sim/answers/validate/made_runs.h"

using namespace sluice;

namespace {

MeasuredRun process(Seconds step, const std::string& file = "a/x.json") {
    MeasuredRun run;
    run.name = "x";
    run.group = "held-out";
    run.file = file;
    run.machine_name = "box";
    run.model = read_model(kTinyModel);
    run.training = small_training();
    run.step = step;
    run.step_low = 0.9 * step;
    run.step_high = 1.1 * step;
    run.steps = 3;
    run.device = static_cast<Bytes>(1000 * step);
    run.host = static_cast<Bytes>(5000 / step);
    run.operations = {{"forward 0", "compute", 0, {0, step}}};
    run.phases = {{"forward", step}};
    return run;
}

}  // namespace

TEST_CASE("repeated runs: the mean of the steps, the larger memory", "[validate]") {
    const auto joined = join_repeated_runs(
        {process(1, "a/x.json"), process(2, "b/x.json"), process(6, "c/x.json")});
    REQUIRE(joined.size() == 1);
    const MeasuredRun& run = joined[0];
    CHECK(run.step == Approx(3));
    CHECK(run.step_low == Approx(0.9));
    CHECK(run.step_high == Approx(6.6));
    CHECK(run.steps == 9);
    CHECK(run.device == 6000);
    CHECK(run.host == 5000);
    CHECK(run.operations[0].interval.end == Approx(3));
    CHECK(run.phases[0].seconds == Approx(3));
    REQUIRE(run.process_count() == 3);
    CHECK(run.processes[0].file == "a/x.json");
    CHECK(run.processes[2].step == 6);
    CHECK(run.process_spread() == Approx(1));  // 6 s of 3 s
}

TEST_CASE("repeated runs: one process is as it was", "[validate]") {
    const auto joined = join_repeated_runs({process(2)});
    REQUIRE(joined.size() == 1);
    CHECK(joined[0].step == 2);
    CHECK(joined[0].process_count() == 1);
    CHECK(joined[0].process_spread() == std::nullopt);
}

TEST_CASE("repeated runs: what is not known of one is not known of all", "[validate]") {
    MeasuredRun other = process(2);
    other.step_low = other.step_high = 0;
    other.steps = 0;
    for (const auto& runs : {std::vector{process(1), other}, std::vector{other, process(1)}}) {
        const auto joined = join_repeated_runs(runs);
        REQUIRE(joined.size() == 1);
        CHECK(joined[0].step_low == 0);
        CHECK(joined[0].step_high == 0);
        CHECK(joined[0].steps == 0);
    }
}

TEST_CASE("repeated runs: of unknown or other machines they stay apart, and are told apart",
          "[validate]") {
    const auto names = [](const std::string& one, const std::string& other) {
        std::vector<MeasuredRun> runs = {process(1), process(2)};
        runs[0].machine_name = one;
        runs[1].machine_name = other;
        runs[0].row = "rows[0]";
        runs[1].row = "rows[4]";
        runs = join_repeated_runs(runs);
        tell_apart(runs);
        REQUIRE(runs.size() == 2);
        return runs[0].name + ", " + runs[1].name;
    };
    CHECK(names("", "") == "x (rows[0]), x (rows[4])");
    CHECK(names("box", "") == "x (rows[0]), x (rows[4])");
    CHECK(names("box", "other box") == "x (box), x (other box)");
    std::vector<MeasuredRun> reports = {process(1, "a/x.json"), process(2, "b/x.json")};
    tell_apart(reports);
    CHECK(reports[1].name == "x (b/x.json)");
    reports = {process(1), process(2)};
    reports[1].group = "look";
    tell_apart(reports);
    CHECK(reports[0].name == "x");
}

TEST_CASE("repeated runs: another configuration stays a run of its own", "[validate]") {
    const auto stays = [](const auto& change) {
        MeasuredRun other = process(2, "b/x.json");
        change(other);
        return join_repeated_runs({process(1), other}).size() == 2;
    };
    CHECK_FALSE(stays([](MeasuredRun& run) { run.host = 1; }));
    CHECK_FALSE(stays([](MeasuredRun& run) { run.training.distinct_tokens = 57; }));
    CHECK(stays([](MeasuredRun& run) { run.name = "y"; }));
    CHECK(stays([](MeasuredRun& run) { run.group = "look"; }));
    CHECK(stays([](MeasuredRun& run) { run.machine_name = "other box"; }));
    CHECK(stays([](MeasuredRun& run) { run.training.batch = 8; }));
    CHECK(stays([](MeasuredRun& run) { run.training.optimizer_threads = 3; }));
    CHECK(stays([](MeasuredRun& run) { run.training.recompute = Recompute::none; }));
    CHECK(stays([](MeasuredRun& run) { truncate_layers(run.model, 2); }));
    CHECK(stays([](MeasuredRun& run) { run.model.tied_embeddings ^= true; }));
    CHECK(stays([](MeasuredRun& run) { run.activations = Precision::fp32; }));
    CHECK(stays([](MeasuredRun& run) { run.updates_ahead = true; }));
    CHECK(stays([](MeasuredRun& run) { run.operations[0].label = "forward 1"; }));
    CHECK(stays([](MeasuredRun& run) { run.operations.clear(); }));
}

TEST_CASE("repeated runs: the band counts every process's step", "[validate]") {
    RunComparison c;
    c.run = join_repeated_runs({process(1), process(2)}).at(0);
    c.predicted.step.seconds = 1.5;
    CHECK(c.steps_in_band() == std::nullopt);
    c.predicted.band = {1.4, 2.1};
    CHECK(c.steps_in_band() == 1);
    CHECK(c.in_band() == false);
    c.predicted.band->low = 1;
    CHECK(c.in_band() == true);
    c.predicted.band->high = 1.6;
    const GroupSummary all = summarize({c, made_run("b", "held-out", 1, 1)}).back();
    CHECK(all.runs == 2);
    CHECK(all.processes == 3);
    CHECK(all.with_band == 2);
    CHECK(all.in_band == 1);
}

TEST_CASE("repeated runs: how far processes of one configuration differ", "[validate]") {
    RunComparison near, far;
    near.run = join_repeated_runs({process(1), process(1)}).at(0);
    far.run = join_repeated_runs({process(1), process(3)}).at(0);
    far.run.name = "far";
    const RunComparison alone = made_run("b", "look", 1, 1);
    CHECK(process_spread({alone}) == std::nullopt);
    const auto spread = process_spread({near, alone, far});
    REQUIRE(spread.has_value());
    CHECK(spread->configurations == 2);
    CHECK(spread->processes == 4);
    CHECK(spread->mean == Approx(0.25));  // 0, 0 and half of 2 s twice
    CHECK(spread->worst == Approx(0.5));
    CHECK(spread->worst_name == "far");
}
