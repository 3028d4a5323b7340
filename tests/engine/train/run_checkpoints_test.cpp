#include "engine/train/run_checkpoints.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/catch.h"
#include "tests/engine/data/temp_folder.h"
#include "tests/engine/train_files/tiny_model.h"

using namespace sluice;

namespace {

TrainSettings settings_in(const TempFolder& temp, bool resume) {
    TrainSettings settings;
    settings.out = temp.path();
    settings.resume = resume;
    return settings;
}

void save(TinyStore& tiny, const TempFolder& temp, std::int64_t step) {
    tiny.fill(static_cast<std::uint64_t>(step));
    save_checkpoint(temp.path(), tiny.model, tiny.store, {step, 16 * step, 5, "{}"}, 2);
}

TrainingState worse_since(std::int64_t since, std::int64_t step) {
    TrainingState state{step, 16 * step, 5, "{}"};
    state.divergence.steps = step;
    state.divergence.loss_rise = {since, true};
    return state;
}

}  // namespace

TEST_CASE("run: goes on from the newest checkpoint without damage", "[train]") {
    const TempFolder temp;
    TinyStore tiny(tiny_model());
    save(tiny, temp, 10);
    const std::string older = tiny.bytes();
    save(tiny, temp, 20);
    const TrainSettings settings = settings_in(temp, true);
    {
        RunCheckpoints checkpoints(tiny.model, settings);
        CHECK(checkpoints.load(tiny.store, "{}")->step == 20);
    }
    std::string bytes = temp.read("step-00000020/optimizer/optimizer.safetensors");
    bytes.back() = static_cast<char>(bytes.back() ^ 4);
    temp.write("step-00000020/optimizer/optimizer.safetensors", bytes);
    {
        RunCheckpoints checkpoints(tiny.model, settings);
        CHECK(checkpoints.load(tiny.store, "{}")->step == 10);
        CHECK(tiny.bytes() == older);
    }
    std::filesystem::remove(temp.path("step-00000010/checksums.xxh3"));
    RunCheckpoints checkpoints(tiny.model, settings);
    CHECK_THAT(input_error_of([&] { checkpoints.load(tiny.store, "{}"); }),
               ContainsSubstring("holds no checkpoint without damage"));
}

TEST_CASE("run: the last checkpoint waits for room on a full disk, the others do not", "[train]") {
    const TempFolder temp;
    TinyStore tiny(tiny_model());
    const TrainSettings settings = settings_in(temp, true);
    RunCheckpoints checkpoints(tiny.model, settings);
    int fails = 0, waits = 0;
    checkpoints.wait_for_room_by([&waits] { return ++waits < 3; });
    const auto save = [&](std::int64_t step, bool last, int failures) {
        fails = failures;
        waits = 0;
        checkpoints.save(tiny.store, {step, 16 * step, 5, "{}"}, last,
                         [&](int section, const std::byte* from, std::span<std::byte> to) {
                             if (fails > 0) --fails, throw DiskFull("the disk is full");
                             tiny.store.read(section, from, to);
                         });
    };
    save(10, false, 1);
    CHECK(waits == 0);
    CHECK(checkpoint_steps(temp.path()).empty());
    save(20, true, 2);
    CHECK(waits == 2);
    CHECK(checkpoint_steps(temp.path()) == std::vector<std::int64_t>{20});
    CHECK(input_error_of([&] { save(30, true, 9); }) == "the disk is full");
    CHECK(waits == 3);  // a signal came
    CHECK(checkpoint_steps(temp.path()) == std::vector<std::int64_t>{20});
    CHECK(temp.names() ==
          std::vector<std::string>{".sluice-train.lock", "latest", "step-00000020"});
}

TEST_CASE("run: after a loss that is not finite, only checkpoints from before are advised",
          "[train]") {
    const TempFolder temp;
    TinyStore tiny(tiny_model());
    const TrainSettings settings = settings_in(temp, true);
    RunCheckpoints checkpoints(tiny.model, settings);
    CHECK(checkpoints.advice_after_divergence(30) == "no checkpoint was saved");
    for (const std::int64_t step : {10, 20})
        checkpoints.save(tiny.store, {step, 16 * step, 5, "{}"}, false);
    CHECK(checkpoints.advice_after_divergence(30) ==
          "--resume continues from " + temp.path("step-00000020"));
    // All is worse from step 25 on: two are kept, and the one from before.
    for (const std::int64_t step : {30, 40, 50})
        checkpoints.save(tiny.store, worse_since(25, step), false);
    CHECK(checkpoint_steps(temp.path()) == std::vector<std::int64_t>{50, 40, 20});
    const std::string advice = checkpoints.advice_after_divergence(25);
    CHECK_THAT(advice, ContainsSubstring("do not trust " + temp.path("step-00000050") + ", " +
                                         temp.path("step-00000040") + "; without them, --resume"));
    CHECK_THAT(advice, ContainsSubstring("continues from " + temp.path("step-00000020")));
    // As advised: the suspects go, and the run continues from the one before.
    for (const char* suspect : {"step-00000050", "step-00000040"})
        std::filesystem::remove_all(temp.path(suspect));
    CHECK(checkpoints.load(tiny.store, "{}")->step == 20);
    CHECK_THAT(checkpoints.advice_after_divergence(5), ContainsSubstring("no older checkpoint"));
    // Then all is well: the usual number stays.
    for (const std::int64_t step : {30, 40})
        checkpoints.save(tiny.store, {step, 16 * step, 5, "{}"}, false);
    CHECK(checkpoint_steps(temp.path()) == std::vector<std::int64_t>{40, 30});
}

TEST_CASE("run: the newest good checkpoint stays until a later one is known to be good",
          "[train]") {
    using Steps = std::vector<std::int64_t>;
    const TempFolder temp;
    TinyStore tiny(tiny_model());
    TrainSettings settings = settings_in(temp, true);
    settings.keep = 1;
    RunCheckpoints checkpoints(tiny.model, settings);
    // Step 1 may have spoilt the weights; only step 2 shows that it has not.
    for (const std::int64_t step : {1, 2, 3})
        checkpoints.save(tiny.store, {step, 16 * step, 5, "{}"}, false);
    CHECK(checkpoint_steps(temp.path()) == Steps{3, 2});
    // Step 4 was computed with the weights of step 3, so these are in doubt, too.
    for (const std::int64_t step : {4, 5, 6})
        checkpoints.save(tiny.store, worse_since(4, step), false);
    CHECK(checkpoint_steps(temp.path()) == Steps{6, 2});
    CHECK_THAT(
        checkpoints.advice_after_divergence(4),
        ContainsSubstring("do not trust " + temp.path("step-00000006") +
                          "; without it, --resume continues from " + temp.path("step-00000002")));
    CHECK(checkpoints.load(tiny.store, "{}")->divergence == worse_since(4, 6).divergence);
}

TEST_CASE("run: checkpoints are not mixed with those of another run", "[train]") {
    const TempFolder temp;
    TinyStore tiny(tiny_model());
    const TrainSettings fresh = settings_in(temp, false);
    {
        RunCheckpoints checkpoints(tiny.model, fresh);
        CHECK_FALSE(checkpoints.load(tiny.store, "{}"));
        CHECK_THAT(input_error_of([&] { RunCheckpoints(tiny.model, fresh); }),
                   ContainsSubstring("another sluice-train saves here now"));
    }
    save(tiny, temp, 1);
    CHECK_THAT(input_error_of([&] { RunCheckpoints(tiny.model, fresh); }),
               ContainsSubstring("give --resume"));
}

namespace {

constexpr const char* kHeldOut = R"({"validation":"a"})";

TrainingState validated(std::int64_t step, double loss) {
    TrainingState state{step, 16 * step, 5, kHeldOut};
    state.validation_loss = loss;
    state.plan = {{"buffer_depth", "3"}};
    return state;
}

std::string best_of(const TempFolder& temp) {
    return std::filesystem::read_symlink(temp.path("best")).string();
}

}  // namespace

TEST_CASE("run: the checkpoint with the lowest validation loss stays", "[train]") {
    const TempFolder temp;
    TinyStore tiny(tiny_model());
    TrainSettings settings = settings_in(temp, true);
    settings.save_best = true;
    settings.save_every = 100;
    const auto save = [&](RunCheckpoints& checkpoints, std::int64_t step, double loss) {
        checkpoints.save(tiny.store, validated(step, loss), false);
    };
    {
        RunCheckpoints checkpoints(tiny.model, settings);
        CHECK_FALSE(checkpoints.is_due(10, std::nullopt));
        CHECK(checkpoints.is_due(10, 3.0));
        CHECK_FALSE(checkpoints.is_due(10, std::nan("")));
        save(checkpoints, 10, 3.0);
        CHECK_FALSE(checkpoints.is_due(20, 3.0));
        CHECK(checkpoints.is_due(100, 3.0));
        save(checkpoints, 20, 2.0);
        for (const std::int64_t step : {30, 40, 50}) save(checkpoints, step, 2.5);
    }
    CHECK(best_of(temp) == "step-00000020");
    CHECK(checkpoint_steps(temp.path()) == std::vector<std::int64_t>{50, 40, 20});
    RunCheckpoints again(tiny.model, settings);
    CHECK(again.load(tiny.store, kHeldOut)->validation_loss == 2.5);
    CHECK_FALSE(again.is_due(60, 2.1));
    CHECK(again.is_due(60, 1.9));
    save(again, 60, 1.9);
    CHECK(best_of(temp) == "step-00000060");
    CHECK(checkpoint_steps(temp.path()) == std::vector<std::int64_t>{60, 50});
    // Losses of other data cannot be compared.
    CHECK(again.load(tiny.store, R"({"validation":"b"})"));
}

TEST_CASE("run: a kill before the link to the best is made up for", "[train]") {
    const TempFolder temp;
    TinyStore tiny(tiny_model());
    TrainSettings settings = settings_in(temp, true);
    settings.save_best = true;
    for (const auto& [step, loss] : {std::pair(1, 3.0), {2, 2.0}})
        save_checkpoint(temp.path(), tiny.model, tiny.store, validated(step, loss), 2, {}, {},
                        step == 1);
    CHECK(best_of(temp) == "step-00000001");
    RunCheckpoints checkpoints(tiny.model, settings);
    checkpoints.load(tiny.store, kHeldOut);
    CHECK(best_of(temp) == "step-00000002");
}

TEST_CASE("run: the best is one of those that the run goes on from", "[train]") {
    const TempFolder temp;
    TinyStore tiny(tiny_model());
    TrainSettings settings = settings_in(temp, true);
    settings.save_best = true;
    settings.keep = 5;
    for (const auto& [step, loss] : {std::pair(1, 3.0), {2, 3.5}, {3, 2.0}})
        save_checkpoint(temp.path(), tiny.model, tiny.store, validated(step, loss), 5, {}, {},
                        step != 2);
    CHECK(best_of(temp) == "step-00000003");
    temp.write("step-00000003/model.safetensors", "damaged");
    {
        RunCheckpoints checkpoints(tiny.model, settings);
        CHECK(checkpoints.load(tiny.store, kHeldOut)->step == 2);
        CHECK(best_of(temp) == "step-00000001");
        // The step that is trained again is the best again, and its folder is replaced.
        CHECK(checkpoints.is_due(3, 2.0));
        checkpoints.save(tiny.store, validated(3, 2.0), false);
        CHECK(best_of(temp) == "step-00000003");
        CHECK(checkpoints.load(tiny.store, kHeldOut)->step == 3);
    }
    // Nothing before it has a loss on this data.
    for (const char* step : {"step-00000003", "step-00000002"})
        temp.write(std::string(step) + "/model.safetensors", "damaged");
    RunCheckpoints checkpoints(tiny.model, settings);
    CHECK(checkpoints.load(tiny.store, R"({"validation":"b"})")->step == 1);
    CHECK_FALSE(std::filesystem::exists(std::filesystem::symlink_status(temp.path("best"))));
}

TEST_CASE("run: a user's own `best` is not touched", "[train]") {
    const TempFolder temp;
    TinyStore tiny(tiny_model());
    TrainSettings settings = settings_in(temp, true);
    settings.save_best = true;
    temp.write("best", "mine");
    CHECK_THAT(input_error_of([&] { RunCheckpoints(tiny.model, settings); }),
               ContainsSubstring(temp.path("best") + ": is there already"));
}

TEST_CASE("run: a checkpoint says what made it", "[train]") {
    const TempFolder temp;
    TinyStore tiny(tiny_model());
    save_checkpoint(temp.path(), tiny.model, tiny.store, validated(1, 2.5), 1);
    const auto record = nlohmann::json::parse(temp.read("step-00000001/training.json"));
    CHECK(record["plan"] == nlohmann::json{{"buffer_depth", "3"}});
    CHECK_THAT(record["program"].get<std::string>(), ContainsSubstring("sluice-train "));
    CHECK(record["validation_loss"] == 2.5);
    CHECK(record["data_position"] == 16);
}

TEST_CASE("run: a plan to go on with is that of the newest checkpoint that says it", "[train]") {
    const TempFolder temp;
    TinyStore tiny(tiny_model());
    const TrainSettings settings = settings_in(temp, true);
    RunCheckpoints checkpoints(tiny.model, settings);
    CHECK_FALSE(checkpoints.saved_plan());
    save(tiny, temp, 1);  // says none
    CHECK_FALSE(checkpoints.saved_plan());
    save_checkpoint(temp.path(), tiny.model, tiny.store, validated(2, 2.5), 3);
    save(tiny, temp, 3);
    // As older versions wrote it.
    temp.write("step-00000003/training.json", R"({"plan": "--buffer-depth 4"})");
    CHECK(checkpoints.saved_plan()->folder == temp.path("step-00000002"));
    CHECK(checkpoints.saved_plan()->training.at("buffer_depth") == "3");
}

TEST_CASE("run: the time of a checkpoint is that of the disk, then of the quickest one",
          "[train]") {
    const TempFolder temp;
    TinyStore tiny(tiny_model());
    const TrainSettings settings = settings_in(temp, true);
    RunCheckpoints checkpoints(tiny.model, settings);
    CHECK(checkpoints.save_time() == 0);
    checkpoints.measure_disk(TrainingSpec{});
    const Seconds trial = checkpoints.save_time();
    CHECK(trial > 0);
    CHECK(std::distance(std::filesystem::directory_iterator(temp.path()), {}) == 1);  // the lock
    checkpoints.save(tiny.store, validated(1, 3), false);
    const Seconds first = checkpoints.save_time();
    CHECK(first > 0);
    CHECK(first != trial);
    for (const std::int64_t step : {2, 3, 4}) {
        checkpoints.save(tiny.store, validated(step, 3), false);
        CHECK(checkpoints.save_time() <= first);
    }
}
