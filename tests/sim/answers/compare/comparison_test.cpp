// Is each row the prediction of that system alone, with its own options?
#include "sim/answers/compare/comparison.h"

#include <span>

#include "sim/answers/predict/predict.h"
#include "sim/plan/schedules/cluster.h"
#include "sim/plan/schedules/megatrain_memory.h"
#include "sim/report/answers/answer_reports.h"
#include "sim/report/answers/findings.h"
#include "sim/report/to_svg.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"
#include "tests/sim/specs/model/input_error_of.h"

using namespace sluice;

namespace {

/// With a drive, so that it has what every schedule needs.
MachineSpec machine() {
    MachineProfile profile = read_machine_profile("h200-sxm-pcie5-1.5tb");
    profile.set("storage.read_gb_per_s", 8);
    profile.set("storage.write_gb_per_s", 4);
    return resolve_machine(profile);
}

ModelSpec small_model(int layers = 2) {
    ModelSpec model = read_model("qwen2.5-14b");
    truncate_layers(model, layers);
    return model;
}

TrainingSpec batch_of_4() {
    TrainingSpec training;
    training.batch = 4;
    return training;
}

}  // namespace

TEST_CASE("compare: every declared schedule of one machine is compared, as predicted alone",
          "[compare]") {
    const Comparison c = compare(small_model(), machine(), batch_of_4(), {all_schedules()});
    std::vector<Choice> declared = training_options().front().choices;
    std::erase_if(declared, [](const Choice& one) {
        return schedule_table()[static_cast<std::size_t>(one.value)].several_gpus;
    });
    REQUIRE(c.systems.size() == declared.size());
    for (std::size_t i = 0; i < declared.size(); ++i) {
        INFO(declared[i].name);
        CHECK(c.systems[i].name == declared[i].name);
        TrainingSpec training = batch_of_4();
        training.schedule = Schedule(schedule_table()[static_cast<std::size_t>(declared[i].value)]);
        const Prediction alone = predict(small_model(), machine(), training);
        CHECK(c.systems[i].report.step.seconds == Approx(alone.step.seconds).epsilon(1e-6));
        CHECK(c.systems[i].report.plan.fit.device().peak.bytes ==
              alone.plan.fit.device().peak.bytes);
        REQUIRE(c.systems[i].fits());
        CHECK(c.systems[i].report.band->low < alone.step.seconds);
        CHECK(c.systems[i].report.band->high > alone.step.seconds);
    }
    CHECK(relative_speed(c, c.systems[0]) == 1.0);
}

TEST_CASE("compare: an option goes to the systems that have it", "[compare]") {
    TrainingSpec asked = batch_of_4();
    asked.own.of<MegaTrainOptions>().checkpoint_interval = 2;
    asked.buffer_depth = 3;
    const TrainingSpec ours = training_of(Schedule("streamed"), asked);
    CHECK(ours.buffer_depth == 3);
    CHECK(ours.own.of<MegaTrainOptions>().checkpoint_interval ==
          TrainingSpec{}.own.of<MegaTrainOptions>().checkpoint_interval);
    const TrainingSpec theirs = training_of(Schedule("megatrain"), asked);
    CHECK(theirs.batch == 4);
    CHECK(theirs.buffer_depth == TrainingSpec{}.buffer_depth);
    CHECK(theirs.own.of<MegaTrainOptions>().checkpoint_interval == 2);
    const std::string settings = settings_text(own_settings(theirs));
    CHECK_THAT(settings, ContainsSubstring("checkpoint_interval 2"));
    CHECK_THAT(settings, !ContainsSubstring("buffer_depth"));
}

TEST_CASE("compare: an option that no compared system has is refused", "[compare]") {
    TrainingSpec asked = batch_of_4();
    asked.own.of<MegaTrainOptions>().checkpoint_interval = 2;
    const std::string message =
        input_error_of([&] { compare(small_model(), machine(), asked, {{Schedule("streamed")}}); });
    CHECK_THAT(message, ContainsSubstring("--checkpoint-interval is 2"));
    CHECK_THAT(message, ContainsSubstring("none of the compared systems has"));
    TrainingSpec recomputes;
    recomputes.recompute = Recompute::none;
    const auto advice = [&](const TrainingSpec& one) {
        return input_error_of(
            [&] { compare(small_model(), machine(), one, {{Schedule("megatrain")}}); });
    };
    CHECK_THAT(advice(recomputes),
               ContainsSubstring("a system that has it by --schedules streamed,") &&
                   ContainsSubstring(",llmq,") && !ContainsSubstring("--cluster"));
    TrainingSpec sharded;
    sharded.own.of<ClusterOptions>().sharding = Sharding::states;
    CHECK_THAT(advice(sharded), ContainsSubstring("--cluster MACHINE:GPUS, or leave it out"));
}

TEST_CASE("compare: schedules are named once, and spelled right", "[compare]") {
    CHECK(parse_schedules("megatrain,streamed") ==
          std::vector<Schedule>{Schedule("megatrain"), Schedule("streamed")});
    CHECK_THAT(input_error_of([] { parse_schedules("streamed,megatrian"); }),
               ContainsSubstring("--schedules is \"megatrian\"") &&
                   ContainsSubstring("did you mean \"megatrain\""));
    CHECK_THAT(input_error_of([] { parse_schedules("streamed,"); }),
               ContainsSubstring("--schedules is \"\""));
    CHECK_THAT(input_error_of([] { parse_schedules("streamed,streamed"); }),
               ContainsSubstring("names streamed twice"));
    CHECK_THAT(input_error_of([] { parse_schedules("nobody"); }),
               ContainsSubstring("accelerate-offload") && !ContainsSubstring("cluster"));
    CHECK_THAT(input_error_of([] { parse_schedules("cluster"); }),
               ContainsSubstring("--cluster MACHINE:GPUS"));
}

TEST_CASE("compare: what does not fit comes with a setting that does, and its speed", "[compare]") {
    TrainingSpec asked = batch_of_4();
    asked.batch = 32;
    asked.micro_batch = 32;
    asked.device_budget_bytes = 12e9;
    const Comparison c = compare(small_model(8), machine(), asked, {{Schedule("zero3-offload")}});
    const ComparedSystem& system = c.systems.front();
    REQUIRE_FALSE(system.fits());
    REQUIRE_FALSE(system.report.advice.suggestions.empty());
    const Suggestion& first = system.report.advice.suggestions.front();
    CHECK_THAT(setting_flags(first.settings), ContainsSubstring("--micro-batch "));
    CHECK(first.training.batch == 32);
    CHECK(first.training.micro_batch < 32);
    CHECK(first.device_peak <= 12'000'000'000);
    const Prediction suggested = predict(small_model(8), machine(), first.training);
    CHECK(suggested.plan.fit.fits());
    CHECK(*system.suggested_tokens_per_s == Approx(suggested.tokens_per_s()).epsilon(1e-6));
}

TEST_CASE("compare: a batch that does not fit is cut into the largest micro-batches that do",
          "[compare]") {
    TrainingSpec asked = batch_of_4();
    asked.batch = 48;
    asked.device_budget_bytes = 40e9;
    for (const Schedule schedule : {Schedule("zero3-offload"), Schedule("resident")}) {
        const Comparison c = compare(small_model(), machine(), asked, {{schedule}});
        const ComparedSystem& system = c.systems.front();
        REQUIRE(system.fits());
        CHECK(system.report.band);
        const TrainingSpec& taken = system.report.asked.training;
        CHECK(taken.batch == 48);
        REQUIRE(taken.micro_batch > 0);
        TrainingSpec whole = training_of(schedule, asked);
        CHECK(predict(small_model(), machine(), whole).plan.fit.device().shortfall() ==
              system.short_of_whole_batch);
        for (std::int64_t larger = taken.micro_batch + 1; larger < 48; ++larger) {
            if (48 % larger != 0) continue;
            whole.micro_batch = larger;
            CHECK_FALSE(predict(small_model(), machine(), whole).plan.fit.fits());
        }
        CHECK_THAT(to_svg(bars_picture(comparison_bars(std::span(&c, 1)))),
                   ContainsSubstring("micro-batches"));
        asked.micro_batch = 48;
        CHECK_FALSE(compare(small_model(), machine(), asked, {{schedule}}).systems[0].fits());
        asked.micro_batch = 0;
    }
}

TEST_CASE(
    "comparison: where checkpoints of the batch fit on no device, streamed keeps them on the host",
    "[compare]") {
    const ModelSpec model = read_model("qwen2.5-14b");
    const MachineSpec machine = resolve_machine(read_machine_profile("h200-sxm-pcie5-1.5tb"));
    TrainingSpec asked;
    asked.batch = 1024;
    const Comparison c = compare(model, machine, asked, {{Schedule("streamed")}}, {});
    const ComparedSystem& ours = c.systems[0];
    CHECK(ours.fits());
    CHECK(ours.short_of_whole_batch > 0);
    CHECK(ours.report.asked.training.batch == 1024);
    CHECK(ours.report.asked.training.checkpoints == CheckpointPlacement::host);
    CHECK_THAT(comparison_text(std::span(&c, 1)),
               ContainsSubstring("with checkpoints on the host"));
    CHECK(setting_flags(system_settings(ours)).starts_with("--schedule streamed"));
    CHECK_THAT(setting_flags(system_settings(ours)), ContainsSubstring(" --checkpoints host"));
    CHECK(system_settings(compare(model, machine, {}, {{Schedule("megatrain")}}).systems[0]) ==
          std::vector<Setting>{{"schedule", "megatrain"}});
    asked.checkpoints = CheckpointPlacement::host;
    asked.micro_batch = ours.report.asked.training.micro_batch;
    CHECK(compare(model, machine, asked, {{Schedule("streamed")}}, {})
              .systems[0]
              .report.step.seconds == Approx(ours.report.step.seconds));
}

TEST_CASE("compare: streamed takes the fastest plan beside what is given", "[compare]") {
    const TrainingSpec asked = batch_of_4();
    const std::set<std::string> free = {"batch"}, fixed = {"batch", "resident_layers"};
    const auto with = [&](const std::set<std::string>* chosen_beside) {
        return compare(small_model(8), machine(), asked,
                       {{Schedule("streamed"), Schedule("megatrain")}}, {}, {}, chosen_beside);
    };
    const Comparison given = with(nullptr), chosen = with(&free), kept = with(&fixed);
    const Prediction& ours = chosen.systems[0].report;
    CHECK(ours.asked.training.resident_layers > 0);
    CHECK(ours.step.seconds < given.systems[0].report.step.seconds);
    CHECK(kept.systems[0].report.asked.training.resident_layers == 0);
    CHECK(chosen.systems[1].report.step.seconds == given.systems[1].report.step.seconds);
    CHECK_THAT(comparison_text(std::span(&chosen, 1)), ContainsSubstring("plan auto"));
    CHECK_THAT(comparison_text(std::span(&given, 1)), !ContainsSubstring("plan auto"));
    // The settings after the row is adopted.
    TrainingSpec adopted = asked;
    for (const Setting& one : system_settings(chosen.systems[0]))
        set_option(adopted, training_option(one.field), one.value, one.field);
    CHECK(changed_settings(ours.asked.training, adopted).empty());
}

TEST_CASE("compare: what only more host memory would fit is as fast with it, and has no band",
          "[compare]") {
    TrainingSpec asked = batch_of_4();
    asked.schedule = Schedule("zero3-offload");
    MachineSpec small = machine();
    small.host.memory_capacity = small.host.system_reserve + 2'000'000'000;
    const Comparison c = compare(small_model(8), small, asked, {{Schedule("zero3-offload")}});
    const ComparedSystem& system = c.systems.front();
    REQUIRE_FALSE(system.fits());
    CHECK_FALSE(system.report.band);
    REQUIRE_FALSE(system.report.advice.suggestions.empty());
    CHECK_THAT(setting_flags(system.report.advice.suggestions.front().settings),
               ContainsSubstring("--host-memory"));
    const Prediction with_more = predict(small_model(8), machine(), asked);
    REQUIRE(with_more.plan.fit.fits());
    CHECK(*system.suggested_tokens_per_s == Approx(with_more.tokens_per_s()).epsilon(1e-6));
}

TEST_CASE("comparison: zero-infinity is compared where the machine's storage is known",
          "[compare]") {
    const auto has_it = [](const char* name) {
        const std::vector<Schedule> of_it =
            schedules_of(resolve_machine(read_machine_profile(name)));
        return std::find(of_it.begin(), of_it.end(), Schedule("zero-infinity")) != of_it.end();
    };
    CHECK(has_it("h200-pcie5-16vcpu-128gib"));
    CHECK_FALSE(has_it("h200-sxm-pcie5"));
    const auto left_out = [](const char* name) {
        return compared_schedules(resolve_machine(read_machine_profile(name)), {}).left_out;
    };
    CHECK(left_out("h200-pcie5-16vcpu-128gib").empty());
    const MachineSpec no_storage = resolve_machine(read_machine_profile("h200-sxm-pcie5"));
    CHECK(compared_schedules(no_storage, {}, all_schedules()).left_out.empty());
    TrainingSpec adapters = batch_of_4();
    adapters.adapter_rank = 8;
    const ComparedSchedules of_adapters =
        compared_schedules(no_storage, adapters, std::vector<Schedule>{Schedule("megatrain")});
    CHECK(of_adapters.schedules.empty());
    CHECK_THAT(of_adapters.left_out.at(0), ContainsSubstring("train no adapters alone"));
    const ComparedSchedules one{{Schedule("streamed")}, {"a sentence"}};
    CHECK(compare(small_model(), machine(), batch_of_4(), one).left_out == one.left_out);
    const auto why = left_out("h200-sxm-pcie5");
    REQUIRE(why.size() == 1);
    CHECK_THAT(why.front(), ContainsSubstring("zero-infinity is left out") &&
                                ContainsSubstring("with --set storage.read_gb_per_s=NUMBER"));
}

TEST_CASE(
    "compare: clusters are compared with the machine, with the same batch and their own names",
    "[compare]") {
    const MachineSpec node = resolve_machine(read_machine_profile("h100-sxm-pcie5"));
    TrainingSpec asked;
    asked.batch = 32;
    asked.micro_batch = 8;  // more than the part of one of 8 GPUs, which then takes all of its part
    const Comparison c =
        compare(small_model(), machine(), asked, {{Schedule("streamed")}}, {{node, 2}, {node, 8}});
    REQUIRE(c.systems.size() == 3);
    CHECK(c.systems[1].name == "2 x h100-sxm-pcie5");
    CHECK(c.systems[2].name == "8 x h100-sxm-pcie5");
    for (std::size_t i : {1, 2}) {
        const Prediction& report = c.systems[i].report;
        CHECK(report.asked.training.batch == 32);
        CHECK(report.asked.machine_id == "h100-sxm-pcie5");
        CHECK(report.tokens_per_s() == Approx(32 * 1024 / report.step.seconds));
    }
    CHECK(c.systems[1].report.asked.training.micro_batch == 8);
    CHECK(c.systems[2].report.asked.training.micro_batch_sequences() == 4);
}

TEST_CASE("compare: the GPUs of a cluster come with it", "[compare]") {
    TrainingSpec asked = batch_of_4();
    asked.gpus = 2;
    CHECK(input_error_of(
              [&] { compare(small_model(), machine(), asked, {{Schedule("streamed")}}); }) ==
          "--gpus is 2, but compare takes the GPUs from --cluster MACHINE:GPUS; leave it out");
    CHECK(input_error_of([] { parse_schedules("streamed,cluster"); }) ==
          "--schedules is streamed,cluster, but cluster has machines of its own; give them with "
          "--cluster MACHINE:GPUS");
}
