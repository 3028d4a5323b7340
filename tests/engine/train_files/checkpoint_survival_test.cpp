// Which checkpoints remain when a run is killed at any moment, or the disk is full?
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>

#include "engine/train/training_checkpoint.h"
#include "tests/catch.h"
#include "tests/engine/data/file_size_limit.h"
#include "tests/engine/data/temp_folder.h"
#include "tests/engine/train_files/tiny_model.h"

using namespace sluice;

namespace {

using Names = std::vector<std::string>;

/// Contents that tell their step.
void fill_for(TinyStore& tiny, std::int64_t step) { tiny.fill(static_cast<std::uint64_t>(step)); }

void save(TinyStore& tiny, const std::string& out, std::int64_t step, int keep) {
    fill_for(tiny, step);
    const TrainingState state{step, 16 * step, 5, "{}"};
    save_checkpoint(out, tiny.model, tiny.store, state, keep);
}

/// Loads the newest checkpoint, checks that it holds what its step's has to, and returns its step.
std::int64_t check_newest(const std::string& out) {
    const std::optional<std::string> newest = newest_checkpoint(out);
    REQUIRE(newest);
    TinyStore loaded(tiny_model()), expected(tiny_model());
    const TrainingState state = load_checkpoint(*newest, loaded.model, loaded.store);
    CHECK(*newest == out + "/" + checkpoint_name(state.step));
    CHECK(state.data_position == 16 * state.step);
    fill_for(expected, state.step);
    CHECK(loaded.bytes() == expected.bytes());
    return state.step;
}

/// A process that saves step after step until it is killed.
class Saver {
  public:
    Saver(const std::string& out, std::int64_t step) {
        int ends[2];
        REQUIRE(::pipe(ends) == 0);
        process_ = ::fork();
        if (process_ == 0) run(out, step, ends[1]);
        REQUIRE(process_ > 0);
        ::close(ends[1]);
        reports_ = ends[0];
    }
    ~Saver() {
        ::kill(process_, SIGKILL);
        ::waitpid(process_, nullptr, 0);
        ::close(reports_);
    }
    Saver(const Saver&) = delete;
    Saver& operator=(const Saver&) = delete;

    /// Returns when it has begun and saved `count` times.
    void wait_for(std::size_t count) const {
        for (std::size_t i = 0; i <= count; ++i) {
            char report = 0;
            REQUIRE(::read(reports_, &report, 1) == 1);  // 0: it ended by an error of its own
        }
    }

  private:
    [[noreturn]] static void run(const std::string& out, std::int64_t step, int reports) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that is stopped takes it along
        try {
            TinyStore tiny(tiny_model());
            while (::write(reports, "!", 1) == 1) save(tiny, out, step++, 2);
        } catch (...) {
        }
        ::_exit(1);
    }

    pid_t process_ = -1;
    int reports_ = -1;
};

bool left_unfinished(const TempFolder& temp) {
    const Names names = temp.names();
    return std::any_of(names.begin(), names.end(),
                       [](const std::string& name) { return name.ends_with(".partial"); });
}

}  // namespace

TEST_CASE("checkpoint: a run killed at any of 50 moments or more leaves a whole one",
          "[train_files]") {
    const TempFolder temp;
    const std::string out = temp.path();
    TinyStore tiny(tiny_model());
    const auto start = std::chrono::steady_clock::now();
    save(tiny, out, 1, 2);
    const std::chrono::duration<double> one_save = std::chrono::steady_clock::now() - start;
    std::mt19937 random(20);
    std::int64_t step = 1;
    int unfinished = 0;
    for (int kill = 0; kill < 50 || unfinished <= 10; ++kill) {
        const std::size_t whole_saves = random() % 3;
        {
            const Saver saver(out, step + 1);
            saver.wait_for(whole_saves);
            std::this_thread::sleep_for(1.2 * one_save * (random() % 1000 / 1000.0));
        }
        unfinished += left_unfinished(temp) ? 1 : 0;
        const std::int64_t found = check_newest(out);
        CHECK(found >= step + static_cast<std::int64_t>(whole_saves));
        step = found;
    }
    save(tiny, out, step + 1, 2);
    CHECK(temp.names() == Names{"latest", checkpoint_name(step), checkpoint_name(step + 1)});
}

TEST_CASE("checkpoint: a write that fails leaves the one before and nothing else",
          "[train_files]") {
    const TempFolder temp;
    TinyStore tiny(tiny_model());
    save(tiny, temp.path(), 1, 1);
    const std::string partial = temp.path("step-00000002.partial/");
    struct Case {
        rlim_t bytes;
        const char* file;
    };
    for (const Case& full : {Case{100, "config.json"}, Case{2000, "model.safetensors"},
                             Case{10'000, "optimizer/optimizer.safetensors"}}) {
        std::string message;
        {
            const FileSizeLimit limit(full.bytes);
            message = input_error_of([&] { save(tiny, temp.path(), 2, 1); });
        }
        CHECK(message == partial + full.file +
                             ": writing failed after 0.0 MB of 0.0 MB (File too large); raise "
                             "the limit of `ulimit -f` or choose another folder");
        CHECK(temp.names() == Names{"latest", "step-00000001"});
        CHECK(check_newest(temp.path()) == 1);
    }
}

TEST_CASE("checkpoint: a disk too small is told before anything is written", "[train_files]") {
    const TempFolder temp;
    refuse_full_disk(temp.path(), "the checkpoint of step 3", 1);
    const std::string message = input_error_of([&] {
        refuse_full_disk(temp.path(), "the checkpoint of step 3", 9'000'000'000'000'000'000);
    });
    CHECK_THAT(message,
               ContainsSubstring(temp.path() +
                                 ": the checkpoint of step 3 needs 9000000.00 TB, but only "));
    CHECK_THAT(message, ContainsSubstring(" of the disk are free; free "));
    CHECK_THAT(message, ContainsSubstring(" or choose another --out"));
}

TEST_CASE("checkpoint: an output folder that cannot be is told", "[train_files]") {
    const TempFolder temp;
    TinyStore tiny(tiny_model());
    temp.write("file", "mine");
    CHECK(input_error_of([&] { save(tiny, temp.path("file"), 1, 1); }) ==
          temp.path("file") +
              ": cannot be created (Not a directory); check the permissions or choose another "
              "--out");
    CHECK(temp.read("file") == "mine");
    std::filesystem::create_directory(temp.path("out"));
    temp.write("out/step-00000001", "a file of that name");
    temp.write("out/step-00000002.partial", "");  // removed as a leftover
    save(tiny, temp.path("out"), 2, 2);
    CHECK(check_newest(temp.path("out")) == 2);
}
