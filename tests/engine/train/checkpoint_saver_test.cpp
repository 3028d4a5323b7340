#include "engine/train/checkpoint_saver.h"

#include "tests/catch.h"
#include "tests/engine/data/file_size_limit.h"
#include "tests/engine/data/temp_folder.h"
#include "tests/engine/train_files/tiny_model.h"

using namespace sluice;

namespace {

TrainingState state_after(std::int64_t step) { return {step, 16 * step, 5, "{}"}; }

TrainSettings saving_settings(const TempFolder& temp) {
    TrainSettings settings;
    settings.out = temp.path();
    settings.resume = true;
    return settings;
}

/// Any other bytes, as a step would do it.
void change_all(TinyStore& tiny, CheckpointSaver& saver, std::uint64_t seed) {
    for (int section = 0; section < tiny.store.sections(); ++section) saver.before_update(section);
    tiny.fill(seed);
}

void check_same_files(const std::string& folder, const std::string& expected) {
    int files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(expected)) {
        if (entry.is_directory()) continue;
        const std::string name = entry.path().lexically_relative(expected).string();
        CAPTURE(name);
        CHECK((read_text_file(folder + "/" + name) == read_text_file(entry.path().string())));
        ++files;
    }
    CHECK(files == 5);
}

}  // namespace

TEST_CASE("saver: files are those of a run that waits, whatever the memory for copies", "[train]") {
    for (const unsigned resident : {0U, 5U, 15U}) {
        for (const Bytes copies : {Bytes{1}, StateSnapshot::kPiece, 100 * StateSnapshot::kPiece}) {
            const TempFolder temp, plain;
            TinyStore tiny(tiny_model(), 6, resident);
            const TrainSettings settings = saving_settings(temp);
            RunCheckpoints checkpoints(tiny.model, settings);
            CheckpointSaver saver(checkpoints, tiny.store, copies, tiny.pool, *tiny.device);
            for (const std::int64_t step : {1, 2, 3}) {
                save_checkpoint(plain.path(), tiny.model, tiny.store, state_after(step), 9);
                saver.save(state_after(step), step == 3, host_seconds());
                change_all(tiny, saver, static_cast<std::uint64_t>(step));
            }
            CHECK_FALSE(saver.writing());
            CHECK(checkpoint_steps(temp.path()) == std::vector<std::int64_t>{3, 2});
            for (const char* name : {"/step-00000002", "/step-00000003"})
                check_same_files(temp.path() + name, plain.path() + name);
        }
    }
}

TEST_CASE("saver: a disk that fills stops neither the step nor the next checkpoint", "[train]") {
    const TempFolder temp;
    TinyStore tiny(tiny_model());
    const TrainSettings settings = saving_settings(temp);
    RunCheckpoints checkpoints(tiny.model, settings);
    CheckpointSaver saver(checkpoints, tiny.store, 1, tiny.pool, *tiny.device);
    {
        const FileSizeLimit limit(2000);
        saver.save(state_after(1), false, host_seconds());
        change_all(tiny, saver, 1);
        saver.wait();
    }
    CHECK(checkpoint_steps(temp.path()).empty());
    saver.save(state_after(2), false, host_seconds());
    change_all(tiny, saver, 2);
    saver.wait();
    CHECK(checkpoint_steps(temp.path()) == std::vector<std::int64_t>{2});
    const FileSizeLimit limit(2000);
    CHECK_THROWS_AS(saver.save(state_after(3), true, host_seconds()), InputError);
}
