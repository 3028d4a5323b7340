// Do options that are given keep their whole effect in the plan that is chosen beside them?
#include "sim/answers/predict/plan_choice.h"
#include "sim/base/input_error.h"
#include "sim/plan/nearest_fit.h"
#include "sim/specs/model/read_model.h"
#include "tests/catch.h"
#include "tests/sim/answers/predict/known_questions.h"

using namespace sluice;
using namespace sluice::test;

TEST_CASE("given options: layers that keep tensors are as many as given", "[simulate]") {
    TrainingSpec asked = batch_of(8);
    asked.host_kept_layers = 2;
    TrainingSpec chosen = choose_plan(eight_layers(), h200(), asked, {"host_kept_layers"}).training;
    CHECK(chosen.host_kept_layers == 2);
    CHECK(chosen.keep_last_layers <= 6);
    CHECK(chosen.recompute != Recompute::none);

    asked = batch_of(8);
    asked.keep_attention_layers = 3;
    chosen = choose_plan(eight_layers(), h200(), asked, {"keep_attention_layers"}).training;
    CHECK(chosen.keep_attention_layers == 3);
    CHECK(chosen.keep_last_layers < 3);
    CHECK(chosen.recompute == Recompute::full);
}

TEST_CASE("given options: a recomputation is that of all layers", "[simulate]") {
    for (const Recompute recompute :
         {Recompute::full, Recompute::keep_attention, Recompute::none}) {
        TrainingSpec asked = batch_of(8);
        asked.recompute = recompute;
        const TrainingSpec chosen =
            choose_plan(eight_layers(), h200(), asked, {"recompute"}).training;
        CHECK(chosen.recompute == recompute);
        CHECK(chosen.keep_last_layers == 0);
        CHECK(chosen.host_kept_layers == 0);
        CHECK(chosen.keep_attention_layers == 0);
    }
    TrainingSpec asked = batch_of(8);
    asked.keep_last_layers = 2;
    CHECK(choose_plan(eight_layers(), h200(), asked, {"recompute", "keep_last_layers"})
              .training.keep_last_layers == 2);
}

TEST_CASE("given options: too many layers are refused for that reason alone", "[simulate]") {
    const auto refusal = [](auto set, const char* field) {
        TrainingSpec asked = batch_of(8);
        set(asked);
        try {
            choose_plan(eight_layers(), h200(), asked, {field});
        } catch (const InputError& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    CHECK(refusal([](TrainingSpec& t) { t.visiting_layers = 9; }, "visiting_layers") ==
          "--visiting-layers is 9, expected at most the layers (8)");
    CHECK(refusal([](TrainingSpec& t) { t.late_moment_layers = 9; }, "late_moment_layers") ==
          "--late-moment-layers is 9, expected at most the layers (8)");
}
