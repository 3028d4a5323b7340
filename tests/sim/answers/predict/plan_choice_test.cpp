// Is the plan that is chosen the fastest, and is what it says of itself true?
#include "sim/answers/predict/plan_choice.h"

#include <algorithm>
#include <string>

#include "sim/answers/predict/predict.h"
#include "sim/base/input_error.h"
#include "sim/plan/nearest_fit.h"
#include "sim/plan/schedules/megatrain_memory.h"
#include "sim/report/report.h"
#include "sim/simulate/step_bounds.h"
#include "sim/specs/model/read_model.h"
#include "sim/specs/scenario/scenario.h"
#include "tests/catch.h"
#include "tests/sim/answers/predict/known_questions.h"

using namespace sluice;
using namespace sluice::test;

namespace {

Seconds seconds_of(const ModelSpec& model, const MachineSpec& machine,
                   const TrainingSpec& training) {
    return predict(model, machine, training).step.seconds;
}

/// The fastest of all combinations that leave room, with the asked micro-batch.
Seconds fastest_of_all(const ModelSpec& model, const MachineSpec& machine, TrainingSpec training) {
    Seconds out = seconds_of(model, machine, training);
    for (const Recompute recompute : {Recompute::full, Recompute::keep_attention, Recompute::none})
        for (std::int64_t resident = 0; resident <= model.layer_count(); ++resident)
            for (std::int64_t kept = 0; kept <= model.layer_count(); ++kept) {
                training.recompute = recompute;
                training.resident_layers = resident;
                training.keep_last_layers = recompute == Recompute::none ? 0 : kept;
                for (const ResidentTables tables : {ResidentTables::none, ResidentTables::both}) {
                    training.resident_tables = tables;
                    if (check_fit(plan_step(model, machine, training), machine, training)
                            .leaves_room())
                        out = std::min(out, seconds_of(model, machine, training));
                }
            }
    return out;
}

}  // namespace

TEST_CASE("plan choice: as fast as the fastest of all combinations", "[simulate]") {
    const MachineSpec machine = h200();
    for (const double budget : {8e9, 16e9, 24e9, 0.0}) {
        TrainingSpec asked = batch_of(8);
        asked.device_budget_bytes = budget;
        const PlanChoice choice = choose_plan(eight_layers(), machine, asked, {"micro_batch"});
        INFO("device budget " << budget);
        const Seconds chosen = seconds_of(eight_layers(), machine, choice.training);
        CHECK(chosen <= 1.005 * fastest_of_all(eight_layers(), machine, asked));
        CHECK(fits_machine(eight_layers(), machine, choice.training));
    }
}

TEST_CASE("plan choice: every setting says what the step takes without it", "[simulate]") {
    const MachineSpec machine = h200();
    const TrainingSpec asked = batch_of(32);
    const PlanChoice choice = choose_plan(read_model("qwen2.5-7b"), machine, asked, {});
    REQUIRE(choice.settings.size() >= 2);
    std::vector<Setting> told;
    const Seconds chosen = seconds_of(read_model("qwen2.5-7b"), machine, choice.training);
    for (const ChosenSetting& one : choice.settings) {
        told.push_back(one.setting);
        if (!one.step_without) continue;
        TrainingSpec without = choice.training;
        for (const Option& option : training_options())
            if (option.field == one.setting.field) option.set(without, option.get(asked));
        CHECK(seconds_of(read_model("qwen2.5-7b"), machine, without) == Approx(*one.step_without));
        CHECK(*one.step_without > chosen);
    }
    CHECK(told == changed_settings(asked, choice.training));
    CHECK(choice.step.value() == Approx(chosen));
    CHECK(choice.step_as_asked.value() ==
          Approx(seconds_of(read_model("qwen2.5-7b"), machine, asked)));
}

TEST_CASE("plan choice: compute does the least with few resident and many kept layers",
          "[simulate]") {
    const MachineSpec machine = h200();
    TrainingSpec training = batch_of(8);
    const auto bound = [&](std::int64_t resident, std::int64_t kept) {
        training.resident_layers = resident;
        training.keep_last_layers = kept;
        const StepProgram program = plan_step(eight_layers(), machine, training).program;
        return compute_bound(program, operation_demands(program, machine, training), machine,
                             training);
    };
    for (std::int64_t resident = 1; resident <= 8; ++resident)
        for (std::int64_t kept = 0; kept <= 8; ++kept) {
            CHECK(bound(0, kept) <= bound(resident, kept));
            CHECK(bound(resident, 8) <= bound(resident, kept));
        }
}

TEST_CASE("plan choice: buffers are smaller where nothing else fits, unless they are fixed",
          "[simulate]") {
    MachineSpec machine = resolve_machine(read_machine_profile("h200-pcie5-16vcpu-128gib-2"));
    machine.host.memory_capacity = static_cast<Bytes>(264e9);
    const ModelSpec model = read_model("qwen2.5-72b");
    TrainingSpec asked = batch_of(16);
    asked.state_bytes = 5;
    asked.clipping = Clipping::off;
    // With half of the inputs, larger buffers would fit.
    const PlanChoice choice = choose_plan(model, machine, asked, {"saved_inputs"});
    REQUIRE_FALSE(choice.settings.empty());
    CHECK(choice.training.resident_layers > 20);
    CHECK(choice.training.gradient_slabs == 1);
    CHECK(check_fit(plan_step(model, machine, choice.training), machine, choice.training).fits());
    CHECK(choose_plan(model, machine, asked, {"saved_inputs", "gradient_slabs"}).settings.empty());
    asked.state_bytes = 4;
    const PlanChoice smaller = choose_plan(model, machine, asked, {"saved_inputs"});
    REQUIRE_FALSE(smaller.settings.empty());
    CHECK(smaller.training.gradient_slabs == asked.gradient_slabs);
}

TEST_CASE("plan choice: what gains too little is left out only where the rest leaves room",
          "[simulate]") {
    const MachineSpec machine = h200();
    int chosen = 0;
    for (double budget = 7e9; budget < 24e9; budget += 0.5e9) {
        TrainingSpec asked = batch_of(8);
        asked.device_budget_bytes = budget;
        const PlanChoice choice = choose_plan(eight_layers(), machine, asked, {"deferred_layers"});
        const StepPlan plan = plan_step(eight_layers(), machine, choice.training);
        INFO("device budget " << budget);
        if (choice.settings.empty()) continue;
        ++chosen;
        CHECK(check_fit(plan, machine, choice.training).leaves_room());
    }
    CHECK(chosen > 20);
}

TEST_CASE("plan choice: a hundredth of device and host stays free", "[simulate]") {
    TrainingSpec asked = batch_of(64);
    asked.micro_batch = 16;
    asked.clipping = Clipping::speculative;
    const ModelSpec model = read_model("120b");
    int chosen = 0;
    for (const char* name : {"h200-sxm-pcie5-1.5tb", "gb300", "b300-sxm"}) {
        INFO(name);
        const MachineSpec machine = resolve_machine(read_machine_profile(name));
        for (const int bytes : {12, 8, 6}) {
            asked.state_bytes = bytes;
            const PlanChoice choice = choose_plan(model, machine, asked, {"micro_batch"});
            if (choice.settings.empty()) continue;
            ++chosen;
            CHECK(check_fit(plan_step(model, machine, choice.training), machine, choice.training)
                      .leaves_room());
        }
    }
    CHECK(chosen >= 3);
}

TEST_CASE("plan choice: a long sequence keeps attention's output of most layers", "[simulate]") {
    const ModelSpec model =
        read_model(PlannedModel{.model = "qwen2.5-7b", .layers = {}, .untied = true});
    TrainingSpec asked = batch_of(1);
    asked.sequence = 524'288;
    asked.clipping = Clipping::speculative;
    const PlanChoice choice = choose_plan(model, h200(), asked, {});
    const TrainingSpec& t = choice.training;
    CHECK(t.saved_inputs == SavedInputs::half);
    CHECK(t.checkpoints == CheckpointPlacement::host);
    CHECK(t.feed_forward_chunk_tokens > 0);
    CHECK(t.keep_attention_layers > 20);
    CHECK(fits_machine(model, h200(), t));
    // Attention once more in four layers is slower, and one layer more does not fit.
    TrainingSpec other = t;
    other.keep_attention_layers -= 4;
    CHECK(seconds_of(model, h200(), other) > 1.02 * seconds_of(model, h200(), t));
    other.keep_attention_layers = t.keep_attention_layers + 1;
    CHECK_FALSE(fits_machine(model, h200(), other));
}

TEST_CASE("plan choice: settings that are fixed stay", "[simulate]") {
    const MachineSpec machine = h200();
    TrainingSpec asked = batch_of(8);
    asked.resident_layers = 3;
    const PlanChoice choice =
        choose_plan(eight_layers(), machine, asked,
                    {"resident_layers", "recompute", "keep_last_layers", "micro_batch",
                     "resident_tables", "deferred_layers", "host_kept_layers", "visiting_layers",
                     "late_moment_layers", "keep_attention_layers"});
    CHECK(choice.training.resident_layers == 3);
    CHECK(choice.settings.empty());
    asked.schedule = Schedule("megatrain");
    asked.resident_layers = 0;
    asked.own.of<MegaTrainOptions>().checkpoint_interval = 2;
    CHECK(choose_plan(eight_layers(), machine, asked, {"checkpoint_interval"})
              .training.own.of<MegaTrainOptions>()
              .checkpoint_interval == 2);
}

TEST_CASE("plan choice: layers leave the host only where other kinds have their layers left",
          "[simulate]") {
    const ModelSpec model = read_model("qwen3-8b");
    MachineSpec machine = h200();
    machine.host.memory_capacity = static_cast<Bytes>(100e9);
    TrainingSpec training = batch_of(8);
    training.deferred_layers = 30;
    training.visiting_layers = 10;
    const TrainingSpec fewer = with_layers_off_host(model, machine, training);
    CHECK(fewer.resident_layers >= 0);
    CHECK(fewer.resident_layers <= 6);
    training.visiting_layers = training.deferred_layers = 0;
    CHECK(with_layers_off_host(model, machine, training).resident_layers > 6);
}

TEST_CASE("plan choice: what it chooses beside layers kept on the host is valid", "[simulate]") {
    TrainingSpec asked = batch_of(8);
    asked.host_kept_layers = 2;
    const PlanChoice choice = choose_plan(eight_layers(), h200(), asked, {"host_kept_layers"});
    CHECK(choice.training.host_kept_layers == 2);
    CHECK_NOTHROW(check_training_spec(choice.training));
}

TEST_CASE("plan choice: host memory of a node is used where its rent bills it anyway",
          "[simulate]") {
    ModelSpec model = read_model("llama-3.1-70b");
    const MachineSpec machine = resolve_machine(read_machine_profile("h200-sxm-pcie5-2tb"));
    const std::set<std::string> fixed = {"passes", "deferred_layers", "host_gradient_slabs"};
    TrainingSpec asked = batch_of(64);
    bool owned = false;
    const auto chosen = [&](double rented_gpus, std::optional<double> most_gpus) {
        PriceList prices;
        Offer offer;
        offer.usd_per_hour = 5;
        offer.rented_gpus = rented_gpus;
        offer.most_gpus = most_gpus;
        if (rented_gpus > 0) prices.offers.push_back(offer);
        prices.owned = owned;
        return choose_plan(model, machine, asked, fixed, prices);
    };
    const auto kept = [&](double rented_gpus, std::optional<double> most_gpus = {}) {
        return chosen(rented_gpus, most_gpus).training.host_kept_layers;
    };
    // A step is 13% shorter with 1.7 TB of the node's 2 TB, and with 1 TB without.
    const std::int64_t by_gpu = kept(1), by_node = kept(8);
    CHECK(by_gpu == kept(0));
    CHECK(by_node > by_gpu);
    owned = true;
    CHECK(kept(1) == by_node);
    owned = false;
    // A provider with too few connected GPUs for them.
    CHECK(kept(1, 4) <= by_gpu);
    // As asked it does not fit, so nothing that fits bills less.
    model = read_model("qwen3-14b");
    asked = batch_of(128);
    asked.sequence = 4096;
    CHECK(!fits_machine(model, machine, asked));
    CHECK(kept(8) > kept(1));
    // No offer holds what fits, which is a plan still.
    CHECK(chosen(1, 1).step);
}

TEST_CASE("plan choice: fits a batch that does not fit as asked, or leaves it", "[simulate]") {
    const MachineSpec machine = h200();
    const ModelSpec model = read_model("qwen2.5-7b");
    const PlanChoice large = choose_plan(model, machine, batch_of(512), {});
    CHECK_FALSE(large.step_as_asked);
    CHECK(fits_machine(model, machine, large.training));
    const PlanChoice never = choose_plan(read_model("llama-3.1-70b"), machine, batch_of(8), {});
    CHECK_FALSE(never.step);
    CHECK_FALSE(never.step_as_asked);
    CHECK(never.settings.empty());
    TrainingSpec wrong = batch_of(8);
    wrong.micro_batch = 3;
    CHECK_THROWS_AS(choose_plan(model, machine, wrong, {}), InputError);
}

TEST_CASE("plan choice: whether there is one is known without its time", "[simulate]") {
    const ModelSpec model = read_model("qwen2.5-14b");
    int plans = 0, none = 0;
    for (const Clipping clipping : {Clipping::automatic, Clipping::exact})
        for (const std::int64_t gigabytes : {16, 64, 96, 160}) {
            CAPTURE(static_cast<int>(clipping), gigabytes);
            MachineSpec machine = h200();
            machine.host.memory_capacity = gigabytes * static_cast<Bytes>(kGiga);
            TrainingSpec asked = batch_of(64);
            asked.clipping = clipping;
            const bool found = choose_plan(model, machine, asked, {}).step.has_value();
            CHECK(may_choose_plan(model, machine, asked, {}) == found);
            ++(found ? plans : none);
        }
    CHECK(plans > 0);
    CHECK(none > 0);
    TrainingSpec wrong = batch_of(8);
    wrong.micro_batch = 3;
    CHECK_THROWS_AS(may_choose_plan(model, h200(), wrong, {}), InputError);
}

TEST_CASE("plan choice: more host memory leaves a plan where less of it has one", "[simulate]") {
    // With more, layers could keep tensors on the host, but for their places on the device.
    const ModelSpec model = read_model("qwen2.5-14b");
    TrainingSpec asked = batch_of(16);
    asked.sequence = 32768;
    asked.compute = Compute::fp8;
    asked.state_bytes = 5;
    for (const char* memory : {"384GB", "512GB"}) {
        CAPTURE(memory);
        const MachineSpec machine = read_machine({"rtx-5090", memory, {}}).spec;
        CHECK(fastest_plan(model, machine, asked, {}).step);
    }
}

TEST_CASE("plan choice: states that host memory does not hold go to the device", "[simulate]") {
    const MachineSpec machine = h200();
    const ModelSpec model = read_model("qwen2.5-14b");
    const PlanChoice choice = choose_plan(model, machine, batch_of(32), {});
    CHECK_FALSE(choice.step_as_asked);
    CHECK(choice.training.resident_layers > 0);
    CHECK(choice.training.batch == 32);
    CHECK(choice.training.state_bytes == 12);
    CHECK(fits_machine(model, machine, choice.training));
    const PlanChoice on_host =
        choose_plan(model, machine, batch_of(32), {"resident_layers", "resident_tables"});
    CHECK(on_host.settings.empty());
}

TEST_CASE("plan choice: the page of a given plan says what the fastest one gains", "[simulate]") {
    const std::set<std::string> free;
    const Prediction given = predict(eight_layers(), h200(), batch_of(8), {.faster_beside = &free});
    REQUIRE(given.faster_plan);
    CHECK(given.step.seconds == Approx(given.faster_plan->step_as_asked.value()));
    CHECK_THAT(report_text(given),
               ContainsSubstring("--plan auto") && ContainsSubstring(setting_flags(changed_settings(
                                                       batch_of(8), given.faster_plan->training))));
    CHECK_THAT(report_json(given), ContainsSubstring("\"plan_auto\""));
    const Prediction fastest =
        predict(eight_layers(), h200(), given.faster_plan->training, {.faster_beside = &free});
    CHECK_FALSE(fastest.faster_plan);
    TrainingSpec theirs = batch_of(8);
    theirs.schedule = Schedule("megatrain");
    CHECK_FALSE(predict(eight_layers(), h200(), theirs, {.faster_beside = &free}).faster_plan);
}

TEST_CASE("plan choice: the page shows it", "[simulate]") {
    const std::set<std::string> fixed = {"micro_batch"};
    const Prediction prediction =
        predict(eight_layers(), h200(), batch_of(8), {.chosen_beside = &fixed});
    REQUIRE(prediction.choice);
    CHECK(prediction.asked.training.resident_layers == prediction.choice->training.resident_layers);
    CHECK_THAT(report_text(prediction),
               ContainsSubstring("chosen") && ContainsSubstring("without these changes"));
    CHECK_THAT(report_json(prediction),
               ContainsSubstring("\"step_without_s\"") && ContainsSubstring("\"step_as_asked_s\""));
}
