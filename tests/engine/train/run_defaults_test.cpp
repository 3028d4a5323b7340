#include "engine/train/run_defaults.h"

#include "tests/catch.h"

using namespace sluice;

namespace {

TrainSettings fine_tuning() {
    TrainSettings settings;
    settings.load = "model";
    return settings;
}

}  // namespace

TEST_CASE("run defaults: loaded weights are tuned as TRL does, random ones pretrained", "[train]") {
    const TrainSettings tuned = with_rates(fine_tuning(), {}), fresh = with_rates({}, {});
    CHECK(tuned.learning_rate == 2e-5);
    CHECK(tuned.weight_decay == 0);
    CHECK(tuned.beta1 == 0.9);
    CHECK(tuned.beta2 == 0.999);
    CHECK(fresh.learning_rate == 3e-4);
    TrainingSpec adapters;
    adapters.adapter_rank = 8;
    CHECK(with_rates(fine_tuning(), {}, adapters).learning_rate == 2e-4);
    CHECK(with_rates({}, {}, adapters).learning_rate == 3e-4);
    CHECK(fresh.weight_decay == 0.1);
    CHECK(fresh.beta2 == 0.95);
    GivenSettings given;
    given.learning_rate = 1e-3;
    given.weight_decay = 0.2;
    given.beta2 = 0.9;
    const TrainSettings asked = with_rates(fine_tuning(), given);
    CHECK(asked.learning_rate == 1e-3);
    CHECK(asked.weight_decay == 0.2);
    CHECK(asked.beta2 == 0.9);
}

TEST_CASE("run defaults: epochs become whole steps, and 3% of them warm up", "[train]") {
    GivenSettings given;
    CHECK(with_steps({}, given, 50, 4).steps == 100);
    CHECK(with_steps({}, given, 50, 4).warmup_steps == 0);
    CHECK(with_steps(fine_tuning(), given, 50, 4).warmup_steps == 3);
    given.epochs = 2;
    CHECK(with_steps({}, given, 50, 4).steps == 25);
    CHECK(with_steps(fine_tuning(), given, 51, 4).steps == 26);
    CHECK(with_steps(fine_tuning(), given, 51, 4).warmup_steps == 1);
    given.epochs = 0.1;  // a little more than a tenth in binary
    CHECK(with_steps({}, given, 30, 1).steps == 3);
    given.epochs = 0.001;
    CHECK(with_steps({}, given, 30, 1).steps == 1);
    given.warmup_steps = 7;
    CHECK(with_steps(fine_tuning(), given, 30, 1).warmup_steps == 7);
    given.epochs = {};
    given.steps = 12;
    CHECK(with_steps({}, given, 30, 1).steps == 12);
}
