// Which state remains of a run that ends in the middle of a step, or that gets no memory?
#include <unistd.h>

#include <fstream>

#include "sim/base/mixed_bits.h"
#include "tests/engine/run/order_trial.h"

using namespace sluice;

namespace {

/// The state that a run needs to go on.
struct Saved {
    int steps = 0;
    double clip_factor = 1;
    std::string state;
};

/// Goes on with the seed's plan on this device, and saves after each step. Whether it was killed.
bool run_and_save(std::uint64_t seed, const LateFaults& faults, Saved& saved) {
    TinyStart start = start_on(std::make_shared<LateDevice>(seed, faults));
    start.steps = saved.steps;
    if (saved.steps > 0) {
        start.parameters = [state = saved.state](ParameterStore& store) {
            set_state_of_tensors(store, state);
        };
    }
    const auto save = [&](int steps, double clip_factor, ParameterStore& store) {
        saved = {steps, clip_factor, state_of_tensors(store)};
    };
    try {
        run_subject(trial_subject(seed), start, save, saved.clip_factor);
    } catch (const Killed&) {
        return true;
    }
    return false;
}

}  // namespace

TEST_CASE("orders: a run killed at any copy or kernel goes on by another plan, from what was saved",
          "[run]") {
    int kills = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        if (trial_subject(seed).spoiled) continue;
        Saved saved;
        std::uint64_t plan = seed;
        for (std::uint64_t attempt = 0; attempt < 3; ++attempt) {
            const std::uint64_t bits = mixed_bits(3 * seed + attempt);
            const LateFaults kill{.lane = static_cast<Work>(bits % 3),
                                  .killing_task = static_cast<std::int64_t>(bits / 3 % 60)};
            kills += run_and_save(plan, kill, saved) ? 1 : 0;
            plan = same_numbers(plan);
        }
        run_and_save(plan, {}, saved);
        CAPTURE(seed, trial_subject(seed).text());
        CHECK(saved.steps == kTrialSteps);
        CHECK((saved.state == plain_result(seed).state));
    }
    std::printf("orders: %d kills\n", kills);
    CHECK(kills >= 40);
}

namespace {

/// Mapped bytes of this process, as the system counts them.
Bytes mapped_bytes() {
    std::ifstream file("/proc/self/statm");
    Bytes pages = 0;
    file >> pages;
    return pages * static_cast<Bytes>(sysconf(_SC_PAGESIZE));
}

}  // namespace

TEST_CASE("host region: memory that cannot be page-locked is given back", "[run]") {
    constexpr Bytes kBytes = 16 * kMiB;
    constexpr int kTimes = 20;
    ThreadPool pool(1);
    const Bytes before = mapped_bytes();
    for (int i = 0; i < kTimes; ++i) {
        LateDevice device(1, {.refused_memory = 0});
        CHECK_THROWS_AS(HostRegion(kBytes, "a test", pool, &device), Refused);
    }
    CHECK(mapped_bytes() - before < kTimes * kBytes / 2);
}

TEST_CASE("orders: a run that gets no memory leaves none locked, and the next one is as any other",
          "[run]") {
    int refused = 0;
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        for (std::int64_t which = 0; which < 5; ++which) {
            const auto device =
                std::make_shared<LateDevice>(seed, LateFaults{.refused_memory = which});
            try {
                run_subject(trial_subject(seed), start_on(device));
            } catch (const Refused&) {
                ++refused;
            }
            CHECK(device->locked_ranges() == 0);
        }
        CHECK(run_trial(seed).empty());
    }
    CHECK(refused >= 16);
}
