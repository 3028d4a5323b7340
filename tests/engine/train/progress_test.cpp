#include "engine/train/progress.h"

#include <nlohmann/json.hpp>

#include "tests/catch.h"
#include "tests/engine/data/temp_folder.h"

using namespace sluice;

namespace {

/// The line that a step of 1000 tokens in 2 s, half of them targets, appends to the log.
nlohmann::json logged(std::optional<double> validation_loss, std::optional<double> plan_share) {
    const TempFolder temp;
    StepRecord record;
    record.step = 7;
    record.outcome.loss = 1.5;
    record.outcome.redone = true;
    if (validation_loss) record.validation = {*validation_loss, {{"code", 2.5}}};
    record.seconds = 2;
    record.tokens = 1000;
    record.targets = 500;
    record.time = 1'000'000'000;
    record.tokens_seen = 7000;
    record.epochs = 0.25;
    record.plan_share = plan_share;
    Progress progress(10, temp.path("log"));
    progress.report(record);
    CHECK(progress.state() == "step 7 of 10, 0:06 left");
    return nlohmann::json::parse(temp.read("log"));
}

}  // namespace

TEST_CASE("progress: the log has the validation loss of the steps that found one", "[train]") {
    CHECK(logged(1.25, {})["validation_loss"] == 1.25);
    CHECK(logged(1.25, {})["validation_losses"]["code"] == 2.5);
    CHECK_FALSE(logged({}, {}).contains("validation_loss"));
}

TEST_CASE("progress: the log has the time, the tokens seen and the epochs", "[train]") {
    const nlohmann::json line = logged({}, {});
    CHECK(line["time_utc"] == "2001-09-09T01:46:40Z");
    CHECK(line["tokens_seen"] == 7000);
    CHECK(line["epochs"] == 0.25);
}

TEST_CASE("progress: a loss before the first step has a line of its own", "[train]") {
    const TempFolder temp;
    Progress(10, temp.path("log")).report_validation(3, {1.5});
    CHECK(temp.read("log") == "{\"step\":3,\"validation_loss\":1.5}\n");
}

TEST_CASE("progress: the log counts all tokens, and the share of a predicted speed", "[train]") {
    const nlohmann::json with_plan = logged({}, 0.75);
    CHECK(with_plan["tokens_per_s"] == 500);
    CHECK(with_plan["targets"] == 500);
    CHECK(with_plan["share_of_predicted_speed"] == 0.75);
    CHECK_FALSE(logged({}, {}).contains("share_of_predicted_speed"));
}
