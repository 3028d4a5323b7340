#include "engine/train/run_checkpoints.h"

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

}  // namespace

TEST_CASE("run: goes on from the newest checkpoint without damage", "[train]") {
    const TempFolder temp;
    TinyStore tiny(tiny_model());
    save(tiny, temp, 10);
    const std::string older = tiny.bytes();
    save(tiny, temp, 20);
    const TrainSettings settings = settings_in(temp, true);
    {
        const RunCheckpoints checkpoints(tiny.model, settings, 12);
        CHECK(checkpoints.load(tiny.store, "{}")->step == 20);
    }
    std::string bytes = temp.read("step-00000020/optimizer.safetensors");
    bytes.back() = static_cast<char>(bytes.back() ^ 4);
    temp.write("step-00000020/optimizer.safetensors", bytes);
    {
        const RunCheckpoints checkpoints(tiny.model, settings, 12);
        CHECK(checkpoints.load(tiny.store, "{}")->step == 10);
        CHECK(tiny.bytes() == older);
    }
    std::filesystem::remove(temp.path("step-00000010/checksums.xxh3"));
    const RunCheckpoints checkpoints(tiny.model, settings, 12);
    CHECK_THAT(input_error_of([&] { checkpoints.load(tiny.store, "{}"); }),
               ContainsSubstring("holds no checkpoint without damage"));
}

TEST_CASE("run: checkpoints are not mixed with those of another run", "[train]") {
    const TempFolder temp;
    TinyStore tiny(tiny_model());
    const TrainSettings fresh = settings_in(temp, false);
    {
        const RunCheckpoints checkpoints(tiny.model, fresh, 12);
        CHECK_FALSE(checkpoints.load(tiny.store, "{}"));
        CHECK_THAT(input_error_of([&] { RunCheckpoints(tiny.model, fresh, 12); }),
                   ContainsSubstring("another sluice-train saves here now"));
    }
    save(tiny, temp, 1);
    CHECK_THAT(input_error_of([&] { RunCheckpoints(tiny.model, fresh, 12); }),
               ContainsSubstring("give --resume"));
}
