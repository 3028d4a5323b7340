// Is the plan of several GPUs the fastest that fits?
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
    // What is given stays.
    asked.micro_batch = 1;
    asked.keep_last_layers = 8;
    const PlanChoice fixed =
        choose_plan(model, machine, asked, {"micro_batch", "keep_last_layers", "recompute"});
    CHECK(fixed.training.keep_last_layers == 8);
    CHECK(fixed.settings.empty());
}
