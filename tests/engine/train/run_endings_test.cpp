#include "engine/train/run_endings.h"

#include "tests/catch.h"

using namespace sluice;

namespace {

TrainSettings with_grace(Seconds grace, std::int64_t save_every) {
    TrainSettings settings;
    settings.grace = grace;
    settings.save_every = save_every;
    return settings;
}

}  // namespace

TEST_CASE("grace: a run says at its start what a signal will cost", "[train]") {
    CHECK(grace_words(with_grace(30, 50), 20, 10, {}) ==
          "a checkpoint takes about 20.00 s after a step of 10.00 s, within --grace 30 s");
    CHECK(grace_words(with_grace(30, 50), 20, 0, {}) ==
          "a checkpoint takes about 20.00 s, within --grace 30 s if the step before it takes less "
          "than 10.00 s");
    CHECK(
        grace_words(with_grace(30, 50), 41, 0, {}) ==
        "a checkpoint takes about 41.00 s, longer than --grace 30 s: after a signal up to 50 steps "
        "are done again, those since the last --save-every");
    CHECK(
        grace_words(with_grace(30, 0), 25, 10, 7) ==
        "a checkpoint takes about 25.00 s after a step of 10.00 s, longer than --grace 30 s: after "
        "a signal all steps after step 7 are done again; give --save-every");
    CHECK(
        grace_words(with_grace(30, 0), 25, 10, {}) ==
        "a checkpoint takes about 25.00 s after a step of 10.00 s, longer than --grace 30 s: after "
        "a signal it is tried, since there is no other, and may be lost; give --save-every");
}

TEST_CASE("grace: what is not saved is said, and how fewer steps would be lost", "[train]") {
    StepRecord record;
    record.step = 27;
    record.seconds = 10;
    CHECK(
        unsaved_words(with_grace(30, 20), record, 20, 41, 18) ==
        "step 27 is not saved: that takes about 41.00 s, and 18.00 s of --grace are left; --resume "
        "goes on from step 20 and does 7 steps again, --save-every 5 would leave fewer");
    record.step = 21;
    CHECK(unsaved_words(with_grace(30, 5), record, 20, 41, -2) ==
          "step 21 is not saved: that takes about 41.00 s, and --grace is over; --resume goes on "
          "from step 20 and does 1 step again");
}
