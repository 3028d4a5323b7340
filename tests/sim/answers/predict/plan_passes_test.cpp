// Are passes, deferred updates, visiting layers and written codes of weights chosen together?
#include "sim/answers/predict/plan_choice.h"
#include "sim/answers/predict/predict.h"
#include "tests/catch.h"
#include "tests/sim/answers/predict/known_questions.h"

using namespace sluice;
using namespace sluice::test;

TEST_CASE("plan choice: with a large batch no number of passes is faster", "[simulate]") {
    const MachineSpec machine = h200();
    TrainingSpec asked = batch_of(128);
    asked.clipping = Clipping::speculative;
    const PlanChoice choice = choose_plan(eight_layers(), machine, asked, {});
    const Seconds chosen = predict(eight_layers(), machine, choice.training).step.seconds;
    for (const std::int64_t passes : {1, 2, 4, 8, 16}) {
        TrainingSpec fixed = asked;
        fixed.passes = passes;
        const PlanChoice other = choose_plan(eight_layers(), machine, fixed, {"passes"});
        CHECK(other.training.passes == passes);
        CHECK(chosen <= 1.01 * *other.step);
    }
}

TEST_CASE("plan choice: passes that gain only with deferred updates are found", "[simulate]") {
    const MachineSpec machine = resolve_machine(read_machine_profile("h200-sxm-pcie5-1.5tb"));
    const ModelSpec model = read_model("qwen2.5-14b");
    const auto chosen = [&](std::int64_t passes, const std::set<std::string>& fixed) {
        TrainingSpec asked = batch_of(64);
        asked.clipping = Clipping::speculative;
        asked.passes = passes;
        return choose_plan(model, machine, asked, fixed);
    };
    const PlanChoice free = chosen(1, {});
    CHECK(free.training.passes == 4);
    CHECK(free.training.deferred_layers > 0);
    CHECK(*free.step < 0.99 * *chosen(1, {"passes", "host_kept_layers"}).step);
    CHECK(*free.step < 0.99 * *chosen(1, {"deferred_layers", "host_kept_layers"}).step);
    CHECK(*free.step <= *chosen(1, {"passes"}).step);
    CHECK(*free.step <= *chosen(4, {"passes"}).step);
}

TEST_CASE("plan choice: updates are deferred also where buffers are smaller", "[simulate]") {
    const MachineSpec machine = resolve_machine(read_machine_profile("rtx-4090"));
    const ModelSpec model = read_model("qwen2.5-7b");
    TrainingSpec asked = batch_of(8);
    asked.clipping = Clipping::speculative;
    asked.device_budget_bytes = 5.5e9;  // too little for two gradients on the device
    const PlanChoice choice = choose_plan(model, machine, asked, {}),
                     without = choose_plan(model, machine, asked, {"deferred_layers"});
    CHECK(choice.training.gradient_slabs == 1);
    CHECK(choice.training.deferred_layers > 0);
    CHECK(*choice.step < 0.98 * *without.step);
}

TEST_CASE("plan choice: the tables' place is searched again with deferred updates", "[simulate]") {
    const MachineSpec machine = resolve_machine(read_machine_profile("gh200-480gb"));
    const ModelSpec model = read_model(
        "dense:layers=72,hidden=5120,heads=40,kv_heads=8,"
        "head_dim=128,intermediate=13824,vocabulary=152064,tied=0");
    const PlanChoice free = choose_plan(model, machine, batch_of(8), {}),
                     on_host = choose_plan(model, machine, batch_of(8), {"resident_tables"});
    CHECK(on_host.training.deferred_layers > 0);
    CHECK(*free.step <= 1.002 * *on_host.step);
}

TEST_CASE("plan choice: states visit where exact clipping would keep forward waiting",
          "[simulate]") {
    const ModelSpec model =
        read_model(PlannedModel{.model = "qwen2.5-7b", .layers = {}, .untied = true});
    for (const std::int64_t batch : {32, 128}) {
        TrainingSpec exact = batch_of(batch);
        exact.clipping = Clipping::exact;
        const PlanChoice free = choose_plan(model, h200(), exact, {}),
                         without = choose_plan(model, h200(), exact,
                                               {"visiting_layers", "late_moment_layers"}),
                         speculative = choose_plan(model, h200(), batch_of(batch), {});
        CAPTURE(batch, free.training.visiting_layers);
        CHECK(free.training.visiting_layers > 0);
        CHECK(*free.step < (1 - 0.005) * *without.step);
        CHECK(*free.step < 1.005 * *speculative.step);
    }
}

TEST_CASE("plan choice: moments are late where the next forward hides too little", "[simulate]") {
    const ModelSpec model =
        read_model(PlannedModel{.model = "qwen2.5-7b", .layers = {}, .untied = true});
    TrainingSpec exact = batch_of(32);
    exact.clipping = Clipping::exact;
    exact.device_budget_bytes = 24e9;
    const PlanChoice free = choose_plan(model, h200(), exact, {}),
                     without = choose_plan(model, h200(), exact, {"late_moment_layers"});
    CHECK(free.training.late_moment_layers > 0);
    CHECK(*free.step < 0.97 * *without.step);
    exact.state_bytes = 6;
    CHECK(choose_plan(model, h200(), exact, {}).training.late_moment_layers == 0);
}

TEST_CASE("plan choice: layers keep tensors on the host where visits would gain less",
          "[simulate]") {
    const ModelSpec model = read_model("qwen2.5-14b");
    TrainingSpec exact = batch_of(32);
    exact.clipping = Clipping::exact;
    CHECK(*choose_plan(model, h200(), exact, {}).step <=
          *choose_plan(model, h200(), exact, {"visiting_layers"}).step);
}

TEST_CASE("plan choice: FP8 keeps the passes that gain with deferred updates and written codes",
          "[simulate]") {
    const MachineSpec machine = h200();
    TrainingSpec asked = batch_of(128);
    asked.compute = asked.head_gradients = Compute::fp8;
    asked.kept_bits = 8;
    const ModelSpec model = read_model("qwen2.5-7b");
    const PlanChoice free = choose_plan(model, machine, asked, {});
    for (const std::int64_t passes : {2, 4, 8}) {
        TrainingSpec fixed = asked;
        fixed.passes = passes;
        CHECK(*free.step <= 1.002 * *choose_plan(model, machine, fixed, {"passes"}).step);
    }
}

TEST_CASE("plan choice: weights are cast to FP8 once a step where that gains", "[simulate]") {
    const MachineSpec machine = h200();
    TrainingSpec asked = batch_of(128);
    asked.compute = Compute::fp8;
    asked.passes = 2;
    const PlanChoice free = choose_plan(eight_layers(), machine, asked, {"passes"}),
                     fixed = choose_plan(eight_layers(), machine, asked,
                                         {"passes", "weight_code_layers"});
    CHECK(free.training.weight_code_layers > 0);
    CHECK(fixed.training.weight_code_layers == 0);
    CHECK(*free.step < 0.999 * *fixed.step);
    asked.compute = Compute::bf16;
    CHECK(choose_plan(eight_layers(), machine, asked, {}).training.weight_code_layers == 0);
}

TEST_CASE("plan choice: weights arrive as codes where the link is slow, not where the host is",
          "[simulate]") {
    const auto chosen = [](const char* name, Compute form, std::set<std::string> fixed) {
        MachineSpec machine = resolve_machine(read_machine_profile(name));
        machine.host.gpus = 1;  // all of its node, so that no plan bills more than another
        TrainingSpec asked = batch_of(8);
        asked.clipping = Clipping::speculative;
        asked.state_bytes = 6;
        asked.compute = asked.head_gradients = Compute::fp8;
        asked.stream_weights = form;
        asked.kept_bits = 8;
        fixed.insert("passes");
        return choose_plan(read_model("qwen2.5-14b"), machine, asked, fixed);
    };
    const PlanChoice free = chosen("l40s", Compute::bf16, {}),
                     coded = chosen("l40s", Compute::fp8, {"stream_weights"});
    CHECK(free.training.streams_codes());
    CHECK(*free.step <= 1.002 * *coded.step);
    CHECK_FALSE(chosen("rtx-5090", Compute::bf16, {}).training.streams_codes());
}
