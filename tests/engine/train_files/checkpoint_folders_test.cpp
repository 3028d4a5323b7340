#include "engine/data/files.h"
#include "engine/train/output_lock.h"
#include "engine/train/training_checkpoint.h"
#include "tests/catch.h"
#include "tests/engine/data/temp_folder.h"
#include "tests/engine/train_files/tiny_model.h"

using namespace sluice;

namespace {

using Names = std::vector<std::string>;

/// Saves contents that depend on the step, and keeps all earlier checkpoints.
void save(TinyStore& tiny, const std::string& out, std::int64_t step) {
    constexpr int kKeep = 100;
    tiny.fill(static_cast<std::uint64_t>(step));
    save_checkpoint(out, tiny.model, tiny.store, {step, 16 * step, 5, "{}"}, kKeep);
}

}  // namespace

TEST_CASE("checkpoint: one that a killed run was replacing gets its name back", "[train_files]") {
    for (const bool saves : {false, true}) {
        const TempFolder temp;
        TinyStore tiny(tiny_model());
        save(tiny, temp.path(), 6);
        save(tiny, temp.path(), 7);
        const std::string bytes = tiny.bytes();
        // Killed between the two renames of a replacement.
        std::filesystem::rename(temp.path("step-00000007"), temp.path("step-00000007.old.partial"));
        std::filesystem::create_directory(temp.path("step-00000007.partial"));
        if (saves) save(tiny, temp.path(), 8);
        const std::optional<std::string> newest = newest_checkpoint(temp.path());
        CHECK(newest == temp.path(saves ? "step-00000008" : "step-00000007"));
        tiny.fill(0);
        load_checkpoint(temp.path("step-00000007"), tiny.model, tiny.store);
        CHECK(tiny.bytes() == bytes);
        CHECK_FALSE(std::filesystem::exists(temp.path("step-00000007.old.partial")));
    }
}

TEST_CASE("checkpoint: a replaced one is not put over the one that replaced it", "[train_files]") {
    const TempFolder temp;
    TinyStore tiny(tiny_model());
    save(tiny, temp.path(), 7);
    std::filesystem::copy(temp.path("step-00000007"), temp.path("step-00000007.old.partial"));
    temp.write("step-00000007/mark", "");
    prepare_output_folder(temp.path());
    CHECK(temp.names() == Names{"latest", "step-00000007"});
    CHECK(std::filesystem::exists(temp.path("step-00000007/mark")));
}

TEST_CASE("checkpoint: a folder under construction is not shared", "[train_files]") {
    const TempFolder temp;
    const PartialFolder first(temp.path(), "step-00000003");
    const std::string message =
        input_error_of([&] { PartialFolder(temp.path(), "step-00000003"); });
    CHECK(message ==
          temp.path("step-00000003.partial") +
              ": is there already, expected no folder of that name; a killed run left it and it "
              "cannot be removed, or another run saves here: remove it or choose another --out");
    CHECK(temp.names() == Names{"step-00000003.partial"});
}

TEST_CASE("checkpoint: an output folder is created with those above it", "[train_files]") {
    const TempFolder temp;
    prepare_output_folder(temp.path("a/b/c/"));
    CHECK(std::filesystem::is_directory(temp.path("a/b/c")));
    prepare_output_folder(temp.path("a/b/c"));
}

TEST_CASE("checkpoint: two runs do not save into one folder", "[train_files]") {
    const TempFolder temp;
    std::optional<OutputLock> first(temp.path("out"));
    CHECK(input_error_of([&] { OutputLock second(temp.path("out")); }) ==
          "--out " + temp.path("out") +
              ": another sluice-train saves here now; wait until it ends, or choose another --out");
    const OutputLock elsewhere(temp.path("other"));
    first.reset();
    const OutputLock next(temp.path("out"));
}

TEST_CASE("checkpoint: a run that saves nothing leaves no folder that it made", "[train_files]") {
    const TempFolder temp;
    std::filesystem::create_directory(temp.path("there"));
    for (const char* out : {"a/b", "there"}) OutputLock(temp.path(out));
    CHECK(temp.names() == Names{"there"});
    {
        const OutputLock lock(temp.path("c"));
        temp.write("c/latest", "step-00000001\n");
    }
    CHECK(temp.names() == Names{"c", "there"});
}

TEST_CASE("checkpoint: the file that names the newest is no model", "[train_files]") {
    const TempFolder temp;
    temp.write("latest", "step-00000001\n");
    refuse_latest("--model", temp.path("latest"));  // of something else
    std::filesystem::create_directory(temp.path("step-00000001"));
    temp.write("step-00000001/training.json", "{}");
    CHECK(input_error_of([&] { refuse_latest("--model", temp.path("latest")); }) ==
          "--model " + temp.path("latest") + ": is a file that names the newest checkpoint; give " +
              temp.path("step-00000001"));
    refuse_latest("--model", temp.path("step-00000001"));
}

TEST_CASE("checkpoint: something else named as the file of the newest is refused",
          "[train_files]") {
    const TempFolder temp;
    refuse_other_latest(temp.path());
    temp.write("latest", "step-00000001\n");
    refuse_other_latest(temp.path());
    const auto refusal = [&] { return input_error_of([&] { refuse_other_latest(temp.path()); }); };
    temp.write("latest", "my thesis\n");
    CHECK_THAT(refusal(), ContainsSubstring(temp.path("latest") + ": is there already, expected"));
    std::filesystem::remove(temp.path("latest"));
    std::filesystem::create_symlink(temp.path("gone"), temp.path("latest"));
    CHECK_FALSE(refusal().empty());
    std::filesystem::remove(temp.path("latest"));
    std::filesystem::create_directory(temp.path("latest"));
    CHECK_FALSE(refusal().empty());
}

TEST_CASE("checkpoint: a folder that has lost its record is known", "[train_files]") {
    const TempFolder temp;
    TinyStore tiny(tiny_model());
    save(tiny, temp.path(), 6);
    save(tiny, temp.path(), 7);
    CHECK(checkpoints_without_record(temp.path()).empty());
    std::filesystem::create_directory(temp.path("step-00000008"));  // an empty one loses nothing
    std::filesystem::remove(temp.path("step-00000007/training.json"));
    CHECK(checkpoints_without_record(temp.path()) == Names{temp.path("step-00000007")});
    CHECK(newest_checkpoint(temp.path()) == temp.path("step-00000006"));
}

TEST_CASE("checkpoint: a user's files stay, whatever their names", "[train_files]") {
    const TempFolder temp;
    for (const char* name : {"step-mine.partial/thesis.txt", "step-7.partial/a", "step-.partial/a",
                             "step-mine.old.partial/a", "mine.partial/a"}) {
        std::filesystem::create_directories(std::filesystem::path(temp.path(name)).parent_path());
        temp.write(name, "mine");
    }
    std::filesystem::create_directories(temp.path("step-00000007.partial"));
    std::filesystem::create_directories(temp.path("step-00000006.old.partial"));
    prepare_output_folder(temp.path());
    CHECK(std::filesystem::exists(temp.path("step-mine.partial/thesis.txt")));
    CHECK(temp.names() == Names{"mine.partial", "step-.partial", "step-7.partial",
                                "step-mine.old.partial", "step-mine.partial"});
}

TEST_CASE("checkpoint: a disk without room is refused before the first step", "[train_files]") {
    const TempFolder temp;
    const std::int64_t free = free_disk_bytes(temp.path());
    REQUIRE(free > 0);
    const auto message = [&](std::int64_t bytes, std::int64_t saves, int keep) {
        return input_error_of([&] { refuse_small_disk(temp.path(), bytes, saves, keep); });
    };
    CHECK_THAT(message(2 * free, 1, 2), ContainsSubstring("a checkpoint needs"));
    // Two that stay and one that is being written.
    CHECK_THAT(message(free / 2, 10, 2), ContainsSubstring("3 checkpoints at once, of "));
    refuse_small_disk(temp.path(), free / 4, 10, 2);
    refuse_small_disk(temp.path(), free / 2, 1, 2);
    refuse_small_disk(temp.path(), 2 * free, 0, 2);
    // Those of an earlier run are replaced.
    TinyStore tiny(tiny_model());
    save(tiny, temp.path(), 6);
    save(tiny, temp.path(), 7);
    refuse_small_disk(temp.path(), free / 2, 10, 2);
}

TEST_CASE("checkpoint: one flipped bit of any file is found", "[train_files]") {
    const TempFolder temp;
    TinyStore tiny(tiny_model());
    save(tiny, temp.path(), 1);
    const std::string folder = temp.path("step-00000001");
    int files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        if (entry.is_directory()) continue;
        const std::string name = entry.path().lexically_relative(temp.path()).string();
        const std::string text = temp.read(name);
        for (const std::size_t at : {std::size_t{0}, text.size() / 2, text.size() - 1}) {
            std::string flipped = text;
            flipped[at] = static_cast<char>(flipped[at] ^ 1);
            temp.write(name, flipped);
            const std::string before = tiny.bytes();
            CHECK_THROWS_AS(load_checkpoint(folder, tiny.model, tiny.store), DamagedCheckpoint);
            CHECK(tiny.bytes() == before);
        }
        temp.write(name, text);
        ++files;
    }
    CHECK(files == 5);
    CHECK(load_checkpoint(folder, tiny.model, tiny.store).step == 1);
}
