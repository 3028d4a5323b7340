// Advice is as good as simulating every combination, and says what others would cost.
#include "sim/answers/search/advise.h"

#include "sim/answers/predict/predict.h"
#include "sim/base/input_error.h"
#include "sim/report/answers/answer_reports.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

MachineSpec machine_of(const std::string& name) {
    return resolve_machine(read_machine_profile(name));
}

ModelSpec layers_of(const std::string& name, int layers) {
    ModelSpec model = read_model(name);
    truncate_layers(model, std::min(layers, model.layer_count()));
    return model;
}

Advice advice_on(const ScenarioGrid& grid, const AdviceRequest& request) {
    return advise(grid, request);
}

}  // namespace

TEST_CASE("advise: within a percent of the best of all combinations", "[search]") {
    AdviceRequest request;
    request.most_batch = 8;
    request.state_bytes = {12, 8};
    for (const char* machine : {"h200-pcie5-16vcpu-128gib", "gh200-480gb", "a100-80gb-sxm"}) {
        for (const char* model : {"qwen2.5-7b"}) {
            INFO(machine << " " << model);
            const ScenarioGrid grid =
                advice_grid(layers_of(model, 4), machine_of(machine), request);
            double best = 0;
            for (const SearchRow& row : search(grid, {true, BandsOf::none, 0, {}, 1}))
                if (row.state == RowState::simulated)
                    best = std::max(best, row.tokens_per_s(grid.at(row.index).training));
            const Advice advice = advise(grid, request);
            REQUIRE(advice.best.has_value());
            CHECK(advice.best->tokens_per_s() >= 0.99 * best);
            // The grid has no resident layers.
            const AdvisedSettings& found = *advice.best;
            if (found.training.resident_layers == 0)
                CHECK(found.tokens_per_s() <= best * (1 + 1e-9));
            CHECK(found.row.step ==
                  predict(layers_of(model, 4), machine_of(machine), found.training).step.seconds);
            CHECK(advice.best->row.has_band());
            CHECK(advice.simulated < advice.bounded);
        }
    }
}

TEST_CASE("advise: the knee loses little and its batch is the smallest that does", "[search]") {
    AdviceRequest request;
    request.knee = 0.1;
    const ScenarioGrid grid =
        advice_grid(layers_of("qwen2.5-7b", 4), machine_of("gh200-480gb"), request);
    const Advice advice = advice_on(grid, request);
    REQUIRE(advice.best.has_value());
    REQUIRE(advice.knee.has_value());
    CHECK(advice.knee->row.has_band());
    CHECK(advice.knee->training.batch < advice.best->training.batch);
    CHECK(advice.knee->tokens_per_s() >= 0.9 * advice.best->tokens_per_s());
    for (const AdvisedSettings& one : advice.by_batch)
        if (one.training.batch < advice.knee->training.batch)
            CHECK(one.tokens_per_s() < 0.9 * advice.best->tokens_per_s());
}

TEST_CASE("advise: neighbours differ in one choice and are no faster", "[search]") {
    AdviceRequest request;
    request.fixed = {"batch"};
    request.given.batch = 32;
    const ScenarioGrid grid =
        advice_grid(layers_of("qwen2.5-7b", 8), machine_of("h200-pcie5-16vcpu-128gib"), request);
    const Advice advice = advice_on(grid, request);
    REQUIRE(advice.best.has_value());
    CHECK(advice.best->training.batch == 32);
    REQUIRE(advice.neighbours.size() >= 4);
    for (const Neighbour& n : advice.neighbours) {
        INFO(n.option << " " << n.chosen << " " << n.instead);
        CHECK(n.option != "batch");
        CHECK(n.chosen != n.instead);
        // FP8 is shown, but changes numbers.
        if (n.row.state == RowState::simulated && n.option != "compute")
            CHECK(n.speed_change < 0.007);
        if (n.row.state == RowState::too_large) CHECK(n.row.device_short + n.row.host_short > 0);
        // A lead counts only where the band leaves it one.
        if (n.within_band)
            CHECK(n.speed_change > advice.best->row.step / advice.best->row.step_high - 1);
    }
}

TEST_CASE("advise: where nothing fits it says by how much; states only if allowed", "[search]") {
    AdviceRequest request;
    request.most_batch = 4;
    const ModelSpec model = layers_of("qwen2.5-72b", 32);
    const MachineSpec machine = machine_of("h200-pcie5-16vcpu-128gib");
    const ScenarioGrid grid = advice_grid(model, machine, request);
    const Advice none = advice_on(grid, request);
    CHECK(!none.best.has_value());
    REQUIRE(none.nearest.has_value());
    CHECK(none.nearest->row.host_short > 0);
    CHECK_THAT(advice_text({{"m", {}, "", none}}, request), ContainsSubstring("no settings fit"));

    request.state_bytes = {12, 8, 6, 5, 4};
    request.given.host_budget_bytes = 0;
    const ScenarioGrid smaller = advice_grid(layers_of("qwen2.5-72b", 24), machine, request);
    const Advice some = advice_on(smaller, request);
    REQUIRE(some.best.has_value());
    CHECK(some.best->training.state_bytes < 12);
}

TEST_CASE("advise: what is fixed stays, a budget holds, a rule that is broken is stated",
          "[search]") {
    AdviceRequest request;
    request.fixed = {"recompute", "checkpoints", "batch", "device_budget_bytes"};
    request.given.recompute = Recompute::keep_attention;
    request.given.checkpoints = CheckpointPlacement::host;
    request.given.batch = 16;
    request.given.device_budget_bytes = 8e9;
    const ModelSpec model = layers_of("qwen2.5-7b", 6);
    const MachineSpec machine = machine_of("gh200-480gb");
    const ScenarioGrid grid = advice_grid(model, machine, request);
    const Advice advice = advice_on(grid, request);
    REQUIRE(advice.best.has_value());
    CHECK(advice.best->training.recompute == Recompute::keep_attention);
    CHECK(advice.best->training.checkpoints == CheckpointPlacement::host);
    CHECK(advice.best->row.device_peak <= 8e9);
    request.fixed.insert("micro_batch");
    request.given.micro_batch = 3;
    CHECK_THROWS_AS(advice_grid(model, machine, request), InputError);
}

TEST_CASE("advise: what tokens cost, and the best of several machines", "[search]") {
    Advice priced;
    priced.best.emplace();
    priced.best->row.step = static_cast<double>(priced.best->training.tokens()) / 1000;
    Payment payment;
    payment.usd_per_hour = 3.6;
    CHECK(MachineAdvice{"m", payment, "", priced}.usd_per_million_tokens().value() == Approx(1));

    AdvisedSettings slow, fast;
    slow.row.step = 2;
    fast.row.step = 1;
    Advice of_slow, of_fast;
    of_slow.best = slow;
    of_fast.best = fast;
    std::vector<MachineAdvice> machines = {{"slow", {}, "", of_slow}, {"fast", {}, "", of_fast}};
    CHECK(best_machine(machines)->machine == "fast");
    machines[1].left_out = "costs too much";
    CHECK(best_machine(machines)->machine == "slow");
    machines[0].advice->reaches_least = false;
    CHECK(best_machine(machines) == nullptr);
}

TEST_CASE("advise: each choice of the plan is a neighbour, and wrong options end it", "[search]") {
    AdviceRequest request;
    request.fixed = {"batch"};
    request.given.batch = 8;
    const ModelSpec model = layers_of("qwen2.5-7b", 8);
    const MachineSpec machine = machine_of("h200-pcie5-16vcpu-128gib");
    const Advice advice = advise(advice_grid(model, machine, request), request);
    REQUIRE(advice.best.has_value());
    const TrainingSpec& best = advice.best->training;
    REQUIRE(best.resident_layers > 0);
    for (const char* const field : {"resident_layers", "resident_tables", "host_kept_layers",
                                    "visiting_layers", "late_moment_layers"}) {
        INFO(field);
        const Option& option = training_option(field);
        const bool is_there = std::ranges::any_of(
            advice.neighbours, [&](const Neighbour& one) { return one.option == field; });
        if (option.get(best) != option.get(request.given)) CHECK(is_there);
    }
    request.given.visiting_layers = 9;
    request.fixed = {"visiting_layers"};
    CHECK_THROWS_WITH(advice_grid(model, machine, request),
                      ContainsSubstring("--visiting-layers is 9, expected at most the layers (8)"));
}
