// Are other systems predicted and compared with the settings of their users?
#include <span>

#include "sim/answers/compare/comparison.h"
#include "sim/answers/predict/predict.h"
#include "sim/plan/schedules/megatrain_memory.h"
#include "sim/report/answers/answer_reports.h"
#include "sim/report/answers/findings.h"
#include "sim/specs/machine/machine_profile.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"

using namespace sluice;

namespace {

MachineSpec h200() { return resolve_machine(read_machine_profile("h200-sxm-pcie5-1.5tb")); }

ModelSpec eight_layers_of_14b() {
    ModelSpec model = read_model("qwen2.5-14b");
    truncate_layers(model, 8);
    return model;
}

TrainingSpec four_sequences() {
    TrainingSpec training;
    training.batch = 4;
    return training;
}

}  // namespace

TEST_CASE("compare: systems are compared as their users run them", "[compare]") {
    const TrainingSpec asked = four_sequences();
    const std::vector<Schedule> schedules = {Schedule("streamed"), Schedule("megatrain"),
                                             Schedule("resident")};
    const std::set<std::string> free = {"batch"};
    const Comparison fastest =
        compare(eight_layers_of_14b(), h200(), asked, {schedules}, {}, {}, &free);
    const Comparison users =
        compare(eight_layers_of_14b(), h200(), asked, {schedules}, {}, {}, &free, true);
    // Ours runs the plan that it chooses; MegaTrain its own interval, not that of the fastest plan.
    CHECK(users.systems[0].report.step.seconds == fastest.systems[0].report.step.seconds);
    CHECK(users.systems[1].report.asked.training.own.of<MegaTrainOptions>().checkpoint_interval ==
          4);
    CHECK(users.systems[2].report.asked.training.recompute == Recompute::full);
    CHECK(fastest.systems[2].report.asked.training.recompute == Recompute::none);
    CHECK(users.systems[2].report.step.seconds > 1.1 * fastest.systems[2].report.step.seconds);
    for (const ComparedSystem& system : users.systems) {
        CHECK(system.report.settings_of == SettingsOf::users);
        // As predict --plan users does, and as adopting the row gives.
        TrainingSpec one = training_of(system.report.asked.training.schedule, asked);
        const Wanted wanted{.chosen_beside = &free, .as_users_run = true};
        CHECK(predict(eight_layers_of_14b(), h200(), one, wanted).step.seconds ==
              Approx(system.report.step.seconds).epsilon(1e-9));
        for (const Setting& setting : system_settings(system))
            set_option(one, training_option(setting.field), setting.value, setting.field);
        CHECK(changed_settings(system.report.asked.training, one).empty());
    }
    CHECK_THAT(comparison_text(std::span(&users, 1)),
               ContainsSubstring("settings as its users run it") &&
                   ContainsSubstring("as its users run it (--plan users)") &&
                   ContainsSubstring("checkpoint_interval 4"));
    CHECK_THAT(comparison_text(std::span(&fastest, 1)), ContainsSubstring("settings fastest plan"));
    CHECK_THAT(comparison_json(std::span(&users, 1)), ContainsSubstring("\"plan\": \"users\""));
    CHECK_THAT(comparison_csv(std::span(&users, 1)), ContainsSubstring(",users,"));
}

TEST_CASE("compare: a given setting stays, and users cut a batch that does not fit", "[compare]") {
    TrainingSpec asked = four_sequences();
    asked.own.of<MegaTrainOptions>().checkpoint_interval = 2;
    const std::set<std::string> given = {"batch", "checkpoint_interval"};
    const auto of_users = [&](const ModelSpec& model, const TrainingSpec& training) {
        return compare(model, h200(), training, {{Schedule("megatrain")}}, {}, {}, &given, true)
            .systems[0];
    };
    CHECK(of_users(eight_layers_of_14b(), asked)
              .report.asked.training.own.of<MegaTrainOptions>()
              .checkpoint_interval == 2);
    asked.batch = 1024;
    const ComparedSystem cut = of_users(read_model("qwen2.5-14b"), asked);
    CHECK(cut.fits());
    CHECK(cut.short_of_whole_batch > 0);
    CHECK(cut.report.asked.training.micro_batch > 0);
}

TEST_CASE("schedules: what users run are settings of the schedule", "[compare]") {
    for (const ScheduleRecord& record : schedule_table()) {
        INFO(record.name);
        for (const auto& [field, value] : record.users_run) {
            INFO(field);
            CHECK(has_option(Schedule(record), field));
        }
        TrainingSpec training;
        training.schedule = Schedule(record);
        CHECK_NOTHROW(as_users_run(training, {}));
        CHECK((record.ours || std::string_view(record.name) == "slideformer") ==
              record.users_run.empty());
    }
}
