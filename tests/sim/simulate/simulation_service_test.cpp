// A simulation that is stopped must leave nothing behind, and threads and processes that simulate
// at once must not disturb each other.
#include "sim/simulate/simulation_service.h"

#include <unistd.h>

#include <atomic>
#include <stdexcept>
#include <thread>

#include "sim/answers/predict/advice.h"
#include "sim/answers/predict/prediction_band.h"
#include "tests/catch.h"
#include "tests/sim/simulate/dense_case.h"

using namespace sluice;

namespace {

using Case = test::DenseCase;

Seconds lower_end(const Case& c) { return predict_band(c.predicted(), c.machine).low; }

}  // namespace

TEST_CASE("simulation scope: stopped before a simulation, and among plans", "[simulate]") {
    const Case c;
    const Prediction before = c.predicted();
    Case small = c;
    small.machine.host.memory_capacity /= 100;
    const Prediction too_large = small.predicted();
    REQUIRE_FALSE(too_large.plan.fit.fits());
    std::stop_source stop;
    const SimulationScope scope(stop.get_token(), Urgency::later);
    CHECK(c.predicted().step.seconds == before.step.seconds);
    stop.request_stop();
    CHECK_THROWS_AS(c.predicted(), Cancelled);
    CHECK_THROWS_AS(predict_band(before, c.machine), Cancelled);
    CHECK_THROWS_AS(find_suggestions(too_large, small.model, small.machine), Cancelled);
    const SimulationScope inner({}, Urgency::now);
    CHECK(c.predicted().step.seconds == before.step.seconds);
}

TEST_CASE("simulation scope: stopped by another thread while lanes run", "[simulate]") {
    Case c;
    c.training.batch = 16;
    c.training.micro_batch = 1;
    c.model = parse_generic_model("layers=200,hidden=4096");
    const Seconds step = c.predicted().step.seconds;
    int stopped = 0;
    // At several moments: as simulations take some tens of milliseconds, most are in their midst.
    for (int trial = 0; trial < 20 || stopped == 0; ++trial) {
        const std::chrono::milliseconds moment(trial % 20);
        std::stop_source source;
        std::jthread other([&] {
            std::this_thread::sleep_for(moment);
            source.request_stop();
        });
        const SimulationScope scope(source.get_token(), Urgency::now);
        try {
            c.predicted();
        } catch (const Cancelled&) {
            ++stopped;
        }
    }
    CHECK(c.predicted().step.seconds == step);
}

TEST_CASE("simulation service: threads at once get the bits of one alone", "[simulate]") {
    const Case c;
    Case small;
    small.model = parse_generic_model("layers=2,hidden=1024");
    small.machine = resolve_machine(read_machine_profile("gh200-480gb"));
    const Seconds low = lower_end(c), small_low = lower_end(small);
    Seconds low_now = 0, small_low_now = 0;
    {
        const std::jthread one([&] { low_now = lower_end(c); });
        const std::jthread other([&] {
            const SimulationScope scope({}, Urgency::later);
            small_low_now = lower_end(small);
        });
    }
    CHECK(low_now == low);
    CHECK(small_low_now == small_low);
}

TEST_CASE("processes: each piece of work once, with the bits of this process", "[simulate]") {
    const Case c;
    const Seconds step = c.predicted().step.seconds;
    struct Piece {
        int times;
        pid_t process;
        Seconds step;
    };
    constexpr std::size_t kPieces = 40;
    const SharedMemory memory(kPieces * sizeof(Piece));
    auto* const pieces = static_cast<Piece*>(memory.data());
    std::size_t last = 0;
    in_processes(
        3, kPieces,
        [&](std::size_t i) {
            ++pieces[i].times;
            pieces[i].process = getpid();
            pieces[i].step = c.predicted().step.seconds;
        },
        [&](std::size_t done) {
            CHECK(done > last);
            last = done;
        });
    CHECK(last <= kPieces);
    for (std::size_t i = 0; i < kPieces; ++i) {
        CHECK(pieces[i].times == 1);
        CHECK(pieces[i].step == step);
    }
}

TEST_CASE("processes: what one throws, and one that dies", "[simulate]") {
    const auto throws = [](std::size_t i) {
        if (i == 7) throw std::runtime_error("no answer to 7");
        usleep(1000);  // so that copies have their part
    };
    for (const int processes : {1, 3})
        CHECK_THROWS_WITH(in_processes(processes, 20, throws), "no answer to 7");
    const pid_t here = getpid();
    const SharedMemory memory(sizeof(std::atomic<bool>));
    auto* const died = new (memory.data()) std::atomic<bool>(false);
    const auto dies = [here, died](std::size_t) {
        if (getpid() != here) {
            *died = true;
            _exit(9);
        }
        while (!*died) usleep(1000);  // however long it takes until another process has a piece
    };
    CHECK_THROWS_WITH(in_processes(3, 300, dies), ContainsSubstring("ended early"));
    int done = 0;
    in_processes(1, 3, [&](std::size_t) { ++done; });
    CHECK(done == 3);
}

TEST_CASE("threads: each piece of work once, in the scope of the caller", "[simulate]") {
    std::vector<std::atomic<int>> times(20);
    in_threads(times.size(), [&](std::size_t i) { ++times[i]; });
    for (const std::atomic<int>& one : times) CHECK(one == 1);

    std::stop_source stop;
    const SimulationScope scope(stop.get_token(), Urgency::later);
    std::atomic<int> begun = 0;
    CHECK_THROWS_AS(in_threads(1000,
                               [&](std::size_t) {
                                   ++begun;
                                   stop.request_stop();
                                   begin_simulation();
                               }),
                    Cancelled);
    CHECK(begun <= usable_processors());
    CHECK_THROWS_WITH(in_threads(1, [](std::size_t) { throw std::runtime_error("a reason"); }),
                      "a reason");
}
