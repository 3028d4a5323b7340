// Is the plan of several GPUs, or of another system, the fastest that fits?
#include "sim/answers/predict/plan_choice.h"
#include "sim/answers/predict/predict.h"
#include "sim/plan/nearest_fit.h"
#include "sim/specs/model/read_model.h"
#include "sim/specs/scenario/scenario.h"
#include "tests/catch.h"

using namespace sluice;

TEST_CASE("plan choice: several GPUs keep as many layers as fit beside a micro-batch",
          "[predict]") {
    const ModelSpec model = read_model("llama-3.1-70b");
    const MachineSpec machine = read_machine({"h200-sxm-pcie5", {}, {}}).spec;
    TrainingSpec asked;
    asked.schedule = schedule_with(&ScheduleRecord::several_gpus);
    asked.gpus = 16;
    asked.batch = 128;
    asked.sequence = 4096;
    const PlanChoice choice = choose_plan(model, machine, asked, {});
    REQUIRE(choice.step);
    CHECK_FALSE(choice.step_as_asked);  // eight sequences of a GPU at once
    CHECK(choice.training.micro_batch == 1);
    TrainingSpec more = choice.training;
    CHECK(fits_machine(model, machine, more));
    more.keep_last_layers += 2;
    CHECK_FALSE(fits_machine(model, machine, more));
    for (const std::int64_t kept : {0, 20, 40}) {
        TrainingSpec other = choice.training;
        other.keep_last_layers = kept;
        if (fits_machine(model, machine, other))
            CHECK(predict(model, machine, other).step.seconds >= *choice.step);
    }
    // Given values stay.
    asked.micro_batch = 1;
    asked.keep_last_layers = 8;
    const PlanChoice fixed =
        choose_plan(model, machine, asked, {"micro_batch", "keep_last_layers", "recompute"});
    CHECK(fixed.training.keep_last_layers == 8);
    CHECK(fixed.settings.empty());
}

namespace {

/// The fastest step of every micro-batch, recomputation and place that fits.
std::optional<Seconds> fastest_of_every_setting(const ModelSpec& model, const MachineSpec& machine,
                                                const TrainingSpec& asked) {
    std::optional<Seconds> best;
    std::vector<TrainingSpec> all = {asked};
    const auto with_values = [&](const char* field, const std::vector<double>& values) {
        if (!has_option(asked.schedule, field)) return;
        std::vector<TrainingSpec> more;
        for (const TrainingSpec& one : all)
            for (const double value : values) {
                training_option(field).set(more.emplace_back(one), value);
            }
        all = std::move(more);
    };
    with_values("micro_batch", {0, 8, 4, 2, 1});
    with_values("recompute", {0, 1, 2});
    with_values("checkpoints", {0, 1});
    with_values("moments", {0, 1});
    with_values("offload", {0, 1, 2, 3});
    with_values("checkpoint_interval", {1, 2, 4, 8});
    with_values("offload_percent", {0, 20, 40, 60, 80, 90, 100});
    for (const TrainingSpec& one : all) {
        try {
            check_training_spec(one);
            if (!fits_machine(model, machine, one)) continue;
        } catch (const InputError&) {
            continue;
        }
        const Seconds step = predict(model, machine, one).step.seconds;
        if (!best || step < *best) best = step;
    }
    return best;
}

}  // namespace

TEST_CASE("plan choice: each other system takes its own fastest settings", "[predict]") {
    ModelSpec model = read_model("qwen2.5-14b");
    truncate_layers(model, 4);
    const MachineSpec machine = read_machine({"h200-sxm-pcie5", {}, {}}).spec;
    for (const char* const schedule :
         {"llmq", "resident", "megatrain", "superoffload", "fsdp-offload", "slideformer"}) {
        INFO(schedule);
        TrainingSpec asked;
        asked.schedule = Schedule(schedule);
        asked.batch = 16;
        asked.device_budget_bytes = 60e9;
        const std::optional<Seconds> best = fastest_of_every_setting(model, machine, asked);
        const PlanChoice choice = choose_plan(model, machine, asked, {});
        REQUIRE(choice.step.has_value());
        REQUIRE(best.has_value());
        CHECK(fits_machine(model, machine, choice.training));
        CHECK(choice.training.batch == asked.batch);
        CHECK(*choice.step <= *best * 1.003);  // changes that gain a thousandth are left out
    }
}

TEST_CASE("plan choice: a recomputation that is given stays, and its micro-batch is chosen",
          "[predict]") {
    const ModelSpec model = read_model("qwen2.5-14b");
    const MachineSpec machine = read_machine({"h200-sxm-pcie5", {}, {}}).spec;
    TrainingSpec asked;
    asked.schedule = Schedule("llmq");
    asked.batch = 64;
    for (const Recompute kind : {Recompute::keep_attention, Recompute::none}) {
        asked.recompute = kind;
        CHECK_FALSE(fits_machine(model, machine, asked));
        const PlanChoice choice = choose_plan(model, machine, asked, {"recompute"});
        REQUIRE(choice.step.has_value());
        CHECK(choice.training.recompute == kind);
        CHECK(choice.training.micro_batch > 0);
    }
}
